// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/xid_verdict.h"

#include <algorithm>

#include "core/nvlink_decode.h"
#include "core/text.h"

namespace acrf {
namespace {

constexpr int kRecoveryXid = 154;
constexpr int kTeardownXid = 45;

bool has(std::string_view text, std::string_view wanted) {
  return text.find(wanted) != std::string_view::npos;
}

// Words that belong to certain codes and to no other.
struct Signature {
  std::string_view words;
  int codes[3];
};

constexpr Signature kSignatures[] = {
    {"GPU has fallen off the bus", {79, 0, 0}},
    {"CTX SWITCH TIMEOUT", {109, 0, 0}},
    {"double bit error (DBE)", {48, 0, 0}},
    {"Row Remapper:", {63, 64, 0}},
    {"Dynamic Page Retirement:", {63, 64, 0}},
    {"waiting for RPC response from", {119, 120, 0}},
    {"GPU recovery action changed", {kRecoveryXid, 0, 0}},
    {"MMU Fault: ENGINE", {31, 0, 0}},
    {"Graphics SM Warp Exception", {13, 0, 0}},
    {"Graphics Exception:", {13, 0, 0}},
    {"NVLink: fatal error detected", {74, 0, 0}},
    {", Contained: ", {94, 0, 0}},
    {"Uncontained: ", {95, 0, 0}},
    {"NETIR_LINK_", {149, 0, 0}},
};

bool contradicts(int code, std::string_view text) {
  return std::any_of(std::begin(kSignatures), std::end(kSignatures), [&](const Signature& one) {
    return has(text, one.words) && std::find(one.codes, one.codes + 3, code) == one.codes + 3;
  });
}

// Number and text name different faults. The number holds, but a person has to look.
void mark_inconsistent(LineVerdict& line) {
  auto& verdict = line.verdict;
  verdict.fault_class = "inconsistent";
  verdict.action = evacuates(verdict) ? Action::kDrain : Action::kWatch;
}

// "RST: Yes" or "D-RST: Yes" in the last such words of the text; names come before them.
std::optional<bool> flag(std::string_view text, std::string_view name, bool is_plain) {
  for (auto at = text.rfind(name); at != std::string_view::npos && at + 1 > 0;
       at = at == 0 ? std::string_view::npos : text.rfind(name, at - 1)) {
    if (is_plain && at > 0 && text[at - 1] == '-') continue;
    const auto value = trim(text.substr(at + name.size()));
    if (starts_with(value, "Yes")) return true;
    if (starts_with(value, "No")) return false;
    return std::nullopt;
  }
  return std::nullopt;
}

// The driver says itself whether a memory error needs a reset, after the word that opens its text:
// what stands before that may be the name of a process.
void obey_reset_words(LineVerdict& line, std::string_view text) {
  auto& verdict = line.verdict;
  const auto own = text.find("ontained: ");
  if (own == std::string_view::npos) return;
  text.remove_prefix(own);
  if (flag(text, "D-RST:", false).value_or(false)) {
    verdict.action = Action::kDrain;
  } else if (flag(text, "RST:", true).value_or(false)) {
    verdict.action = Action::kResetGpu;
  } else {
    return;
  }
  verdict.scope = Scope::kGpu;
}

struct NewRecovery {
  std::optional<int> value;
  std::string_view text;  // between the brackets
  bool is_whole = false;  // the bracket closes
};

bool has_words(const RecoveryRow& row, const NewRecovery& change) {
  return change.is_whole ? equals_ignoring_case(row.text, change.text)
                         : starts_with(row.text, change.text);
}

// The row of the words; without one, a row of the value.
const RecoveryRow* find_recovery(const Catalog& catalog, const NewRecovery& change) {
  const RecoveryRow* of_value = nullptr;
  for (const auto& row : catalog.recoveries()) {
    if (change.value && row.value != *change.value) continue;
    if (has_words(row, change)) return &row;
    if (change.value && !of_value) of_value = &row;
  }
  return of_value;
}

// "... changed from 0x0 (None) to 0x4 (Drain and Reset)": what follows " to ".
std::optional<NewRecovery> read_recovery(std::string_view detail) {
  if (!has(detail, "recovery action changed")) return std::nullopt;
  const auto to = detail.rfind(" to ");
  if (to == std::string_view::npos) return std::nullopt;
  auto rest = trim(detail.substr(to + 4));
  NewRecovery change;
  if (take_prefix(rest, "0x") || (!rest.empty() && rest[0] >= '0' && rest[0] <= '9')) {
    const auto value = take_unsigned(rest, 16);
    if (!value) return std::nullopt;
    change.value = static_cast<int>(std::min<std::uint64_t>(*value, 0xffff));
    rest = trim(rest);
    if (!take_prefix(rest, "(")) return rest.empty() ? std::optional(change) : std::nullopt;
    const auto close = rest.find(')');
    change.is_whole = close != std::string_view::npos;
    change.text = rest.substr(0, close);
    return change;
  }
  while (!rest.empty() && rest.back() == '.') rest.remove_suffix(1);
  if (rest.empty()) return std::nullopt;
  change.text = rest;
  change.is_whole = true;
  return change;
}

void judge_recovery(LineVerdict& line, std::string_view detail, const Catalog& catalog) {
  auto& verdict = line.verdict;
  verdict.action = Action::kWatch;
  verdict.severity = Severity::kWarning;
  const auto change = read_recovery(detail);
  if (!change) {
    verdict = {"malformed", Severity::kInfo, Scope::kGpu, Action::kIgnore};
    line.rank = 0;
    return;
  }
  const auto* row = find_recovery(catalog, *change);
  if (!row) return;
  if (!has_words(*row, *change)) {
    verdict.fault_class = "inconsistent";
    return;
  }
  // A number at the end of the line may be cut off.
  if (change->text.empty()) return;
  verdict.action = row->action;
  verdict.severity = row->severity;
  if (row->action == Action::kRebootNode) verdict.scope = Scope::kNode;
  if (row->action == Action::kCheckFabric) verdict.scope = Scope::kFabric;
  if (row->action == Action::kIgnore) {
    verdict.fault_class = "recovered";
    line.rank = 0;
  }
}

void apply_link(LineVerdict& line, const std::optional<LinkVerdict>& link) {
  if (!link) return;
  line.verdict.action = link->action;
  line.verdict.severity = link->severity;
  if (evacuates_node(link->action)) line.verdict.scope = Scope::kGpu;
  line.suspect = link->suspect;
  if (link->action == Action::kIgnore) line.rank = 0;
  if (link->action == Action::kWatch) line.rank = 20;
}

// An MMU fault of the host engine itself, at the GPU's door to PCIe, is no program's doing.
bool is_bus_fault(std::string_view detail) {
  return has(detail, "ENGINE GR_HOST") && has(detail, "HUBCLIENT_ESC");
}

// "(GPC 1, TPC 3, SM 0)" as "GPC1/TPC3"; "link 14" as it is.
std::string location_of(std::string_view detail) {
  const auto number_after = [&](std::string_view word) -> std::optional<std::uint64_t> {
    const auto at = detail.find(word);
    if (at == std::string_view::npos) return std::nullopt;
    auto rest = trim(detail.substr(at + word.size()));
    return take_unsigned(rest);
  };
  const auto gpc = number_after("(GPC ");
  const auto tpc = number_after(", TPC ");
  if (gpc && tpc) return "GPC" + std::to_string(*gpc) + "/TPC" + std::to_string(*tpc);
  auto link = number_after("on link ");
  if (!link) link = number_after(" Link ");
  return link ? "link " + std::to_string(*link) : "";
}

std::optional<int> cause_of(std::string_view detail) {
  constexpr std::string_view kWords = "caused by previous Xid ";
  const auto at = detail.find(kWords);
  if (at == std::string_view::npos) return std::nullopt;
  auto rest = detail.substr(at + kWords.size());
  const auto code = take_unsigned(rest);
  return code && *code < 100'000 ? std::optional(static_cast<int>(*code)) : std::nullopt;
}

void judge_detail(LineVerdict& line, int code, std::string_view detail, const Catalog& catalog) {
  if (code == kRecoveryXid) return judge_recovery(line, detail, catalog);
  if (contradicts(code, ", " + std::string(detail))) return mark_inconsistent(line);
  if (code == 94 || code == 95) obey_reset_words(line, detail);
  if (code == 74) apply_link(line, decode_nvlink(catalog, detail));
  if (code >= 144 && code <= 150) apply_link(line, decode_nvlink5(catalog, code, detail));
  if (code == 31 && is_bus_fault(detail)) {
    line.verdict = {"pcie_secondary", Severity::kCritical, Scope::kGpu, Action::kDrain};
    line.rank = 60;
  }
}

}  // namespace

LineVerdict judge_xid(const Xid& xid, const Catalog& catalog) {
  LineVerdict line;
  line.xid = xid.code;
  line.gpu = xid.gpu;
  line.mig = std::string(xid.mig);
  line.pid = process_in(xid.detail);
  const auto* row = catalog.find_xid(xid.code);
  if (!row) {
    line.verdict = {"unknown_xid", Severity::kWarning, Scope::kGpu, Action::kWatch};
    line.rank = 20;
    return line;
  }
  line.known = true;
  line.verdict = row->verdict;
  line.rank = row->rank;
  const auto detail = without_process(xid.detail);
  line.location = location_of(detail);
  if (xid.code == kTeardownXid) line.caused_by = cause_of(detail);
  judge_detail(line, xid.code, detail, catalog);
  return line;
}

LineVerdict judge_sxid(const Sxid& sxid, const Catalog& catalog) {
  LineVerdict line;
  line.sxid = sxid.code;
  line.device = sxid.device;
  line.location = location_of(sxid.text);
  if (line.location.empty()) line.location = location_of(" " + std::string(sxid.text));
  auto& verdict = line.verdict;
  if (sxid.is_detail) {
    verdict = {"continuation", Severity::kInfo, Scope::kFabric, Action::kIgnore};
    line.known = true;
    return line;
  }
  const auto* row = catalog.find_sxid(sxid_by_text(sxid));
  if (!row) {
    verdict = {"unknown_sxid", Severity::kWarning, Scope::kFabric, Action::kWatch};
    line.rank = 20;
    return line;
  }
  line.known = true;
  verdict = row->verdict;
  line.rank = row->rank;
  // The driver calls the same error fatal or not, depending on its settings: its word holds.
  if (sxid.word == SxidWord::kNonFatal && verdict.severity == Severity::kFatal) {
    verdict = {"nvswitch_nonfatal", Severity::kWarning, Scope::kFabric, Action::kWatch};
    line.rank = 20;
  } else if (sxid.word == SxidWord::kFatal && verdict.severity < Severity::kFatal) {
    verdict = {"nvswitch_fatal", Severity::kFatal, Scope::kFabric, Action::kCheckFabric};
    line.rank = 65;
  }
  return line;
}

}  // namespace acrf
