// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/classify.h"

#include "core/kernel_message.h"
#include "core/sxid.h"
#include "core/text.h"
#include "core/xid_verdict.h"

namespace acrf {
namespace {

constexpr int kLostGpuXid = 79;

Verdict note(std::string_view fault_class) {
  return {std::string(fault_class), Severity::kInfo, Scope::kNode, Action::kIgnore};
}

// "GPU 0000:91:00.0: ...", "GPU at PCI:0000:9b:00 ...": the GPU that a message of NVRM names.
std::optional<PciAddress> named_gpu(std::string_view body) {
  for (const std::string_view mark : {"PCI:", "GPU "}) {
    for (auto at = body.find(mark); at != std::string_view::npos; at = body.find(mark, at + 1)) {
      auto rest = body.substr(at + mark.size());
      if (const auto gpu = take_pci_address(rest)) return gpu;
    }
  }
  return std::nullopt;
}

LineVerdict judge_row(const MessageRow& row) {
  LineVerdict line;
  line.known = true;
  line.verdict = row.verdict;
  line.rank = row.rank;
  return line;
}

LineVerdict judge_nvrm(std::string_view message, const KernelMessage& split,
                       const Catalog& catalog) {
  if (starts_with(split.body, "Xid")) {
    if (const auto xid = parse_xid(message)) return judge_xid(*xid, catalog);
    LineVerdict line;
    line.known = true;
    line.verdict = {"malformed", Severity::kInfo, Scope::kGpu, Action::kIgnore};
    return line;
  }
  const auto* row = catalog.find_message(split.subject, split.body);
  if (!row) return {};
  auto line = judge_row(*row);
  line.gpu = named_gpu(split.body);
  if (line.verdict.fault_class == "gpu_lost") line.xid = kLostGpuXid;
  return line;
}

LineVerdict judge_nvswitch(const KernelMessage& split, const Catalog& catalog) {
  if (const auto sxid = parse_sxid(split.body)) return judge_sxid(*sxid, catalog);
  LineVerdict line;
  if (starts_with(split.body, "SXid")) line.verdict = note("malformed");
  return line;
}

LineVerdict judge_kernel(std::string_view message, const Catalog& catalog) {
  const auto split = split_kernel_message(message);
  if (split.subject == "nvrm") return judge_nvrm(message, split, catalog);
  if (split.subject == "nvswitch") return judge_nvswitch(split, catalog);
  const auto* row = catalog.find_message(split.subject, split.body);
  if (!row) return {};
  auto line = judge_row(*row);
  if (split.device_is_gpu) {
    line.gpu = split.device;
  } else {
    line.device = split.device;
  }
  return line;
}

// What a program wrote: shown with its number, but no evidence.
LineVerdict disbelieve(LineVerdict line, std::string_view fault_class) {
  if (line.verdict.action == Action::kIgnore && !line.xid) return {};
  line.verdict = note(fault_class);
  line.rank = 0;
  line.known = true;
  return line;
}

LineVerdict judge(const LogLine& line, const Catalog& catalog) {
  if (line.is_field || line.repeats_last) {
    LineVerdict field;
    field.verdict = note("continuation");
    field.known = true;
    return field;
  }
  switch (line.writer) {
    case Writer::kKernel: return judge_kernel(line.message, catalog);
    case Writer::kUser: return disbelieve(judge_kernel(line.message, catalog), "spoof");
    case Writer::kDaemon: break;
  }
  if (line.daemon == "systemd-networkd")
    if (const auto* row = catalog.find_message("networkd", line.message)) return judge_row(*row);
  return disbelieve(judge_kernel(line.message, catalog), "hearsay");
}

}  // namespace

LineVerdict classify_line(const LogLine& line, const Catalog& catalog) {
  auto verdict = judge(line, catalog);
  if (line.writer == Writer::kKernel && (verdict.known || verdict.xid || verdict.sxid))
    if (const auto* rule =
            catalog.find_rule(verdict.xid, verdict.sxid, verdict.verdict.fault_class)) {
      verdict.shadowed = apply_rule(*rule, verdict.verdict);
      verdict.ruled_by_site = true;
    }
  return verdict;
}

LineVerdict classify_line(std::string_view text, const Catalog& catalog) {
  return classify_line(parse_log_line(text), catalog);
}

std::optional<Event> event_of(const LineVerdict& line) {
  const bool is_companion = line.xid && line.verdict.fault_class == "teardown";
  const bool is_recovery = line.verdict.fault_class == "recovered" && line.gpu;
  if (line.rank == 0 && !is_companion && !is_recovery) return std::nullopt;
  Event event;
  event.verdict = line.verdict;
  event.rank = line.rank;
  event.xid = line.xid;
  event.sxid = line.sxid;
  event.caused_by = line.caused_by;
  event.pid = line.pid;
  event.location = line.location;
  event.shadowed = line.shadowed;
  event.ruled_by_site = line.ruled_by_site;
  event.blames_peer = line.suspect == "peer";
  if (line.gpu) {
    event.gpu = *line.gpu;
  } else if (line.sxid) {
    event.part = "fabric";
  } else {
    event.part = line.device ? to_string(*line.device) : "node";
  }
  return event;
}

}  // namespace acrf
