// SPDX-License-Identifier: GPL-2.0-or-later
// What readings and checks find, as events beside those of the kernel log, and what of it the
// node's verdict names.
#include <algorithm>
#include <ctime>

#include "common/file.h"
#include "core/node_rules.h"
#include "core/text.h"
#include "sources/pci_tree.h"
#include "watcher.h"

namespace acrf {
namespace {

// A reading beside the lines of a burst: as a line of the same weight would be.
constexpr int kLostGpuRank = 100;  // of Xid 79, the same fault from the other side
constexpr int kActingRank = 60;
constexpr int kWatchedRank = 20;
constexpr char kNodeChecks[] = "node checks";
constexpr std::int64_t kWarningLasts_s = 3 * 3600;

}  // namespace

// The GPU of an event, or of a port's report that names the GPU as the source.
bool Watcher::names_gpu(const Event& event) const {
  if (event.part.empty()) return true;
  std::string_view part = event.part;
  const auto address = take_pci_address(part);
  return address && !gpus_.uuid_at(*address).empty();
}

// What a root port tells of a device that is neither a GPU nor a bridge to some: a PCIe error that
// it gets over, or a fatal one, about which its own driver will speak if the node needs it. Of a
// device that is gone nobody knows what it was.
bool Watcher::is_of_other_device(const Event& event) const {
  const auto& fault = event.verdict.fault_class;
  if ((fault != "pcie_nonfatal" && fault != "pcie_fatal") || names_gpu(event)) return false;
  if (fault == "pcie_nonfatal") return true;
  constexpr std::string_view kBridge = "0x06";
  const auto kind =
      read_file(config_.node_root + "/sys/bus/pci/devices/" + event.part + ".0/class");
  return kind && !kind->empty() && !starts_with(*kind, kBridge);
}

// What a check says of a device is said of the GPU that it is, beside what the kernel says of it.
void Watcher::name_gpu(Event& event) const {
  std::string_view part = event.part;
  const auto address = take_pci_address(part);
  if (!address || !names_gpu(event)) return;
  event.gpu = *address;
  event.part.clear();
}

// An error that a port tells of itself is one of its link. Where a GPU is all that is on that link,
// it is said of the GPU, so that what follows there is known to follow it. Unknown stays the
// port's.
void Watcher::name_gpu_below(Event& event) const {
  const auto& fault = event.verdict.fault_class;
  if (!starts_with(fault, "pcie_") || fault == "pcie_ce" || names_gpu(event)) return;
  std::string_view part = event.part;
  const auto port = take_pci_address(part);
  const auto below = port ? only_device_below(config_.node_root, *port) : std::nullopt;
  if (!below || gpus_.uuid_at(*below).empty()) return;
  event.gpu = *below;
  event.part.clear();
}

// "link 14" of a GPU has another end, whose lines of the same burst tell which of the two is bad.
void Watcher::name_far_end(Event& event) const {
  std::string_view location = event.location;
  if (!event.part.empty() || !take_prefix(location, "link ")) return;
  if (const auto link = parse_unsigned(location)) event.peer = gpus_.far_end(event.gpu, *link);
}

// What readings say goes by the site's Fault lines for its class.
void Watcher::observe_finding(Event event) {
  auto& verdict = event.verdict;
  const auto* rule = catalog_.find_rule(event.xid, {}, verdict.fault_class);
  if (rule) event.shadowed = apply_rule(*rule, verdict);
  event.ruled_by_site = rule != nullptr;
  if (!rule && event.source == kNodeChecks && needs_consent(verdict.fault_class) &&
      evacuates(verdict)) {
    event.shadowed = verdict.action;
    verdict.action = Action::kWatch;
  }
  if (verdict.action == Action::kIgnore && verdict.fault_class != "recovered") return;
  event.rank = evacuates(verdict) ? kActingRank : kWatchedRank;
  if (verdict.fault_class == classify_lost_gpu().fault_class) {
    event.rank = kLostGpuRank;
    if (event.source == "nvml") event.xid = 79;
  }
  observe(std::move(event));
}

// What an incident says about the node, for as long as it is not over. Checks tell that themselves.
void Watcher::note(const Incident& incident) {
  const auto& root = incident.root;
  if (root.source == kNodeChecks) return;
  const bool lasts = evacuates_node(root.verdict.action);
  findings_.note({root.verdict, place_of(root), root.evidence, root.xid},
                 lasts ? CurrentFindings::kForThisBoot : root.unix_s + kWarningLasts_s);
}

// What the site's Fault lines make harmless is not held against a GPU that is to be returned.
void Watcher::take_gpu_looks() {
  auto looks = gpus_.take_looks();
  if (looks.empty()) return;
  const auto* heat_rule = catalog_.find_rule({}, {}, "temperature_limit");
  for (auto& look : looks) {
    look.hot = look.hot && (!heat_rule || heat_rule->mode == RuleMode::kOn);
    std::erase_if(look.held, [this](Verdict& verdict) {
      if (const auto* rule = catalog_.find_rule({}, {}, verdict.fault_class))
        apply_rule(*rule, verdict);
      return !evacuates(verdict);
    });
  }
  if (signs_.note_gpus(looks, std::time(nullptr))) responder_->look_at_heat();
}

void Watcher::take_node_findings() {
  auto findings = node_watch_.findings();
  for (auto& finding : findings) {
    if (finding.where.empty()) finding.where = "node";
    const bool is_known =
        std::any_of(node_findings_.begin(), node_findings_.end(), [&](const Finding& other) {
          return other.verdict.fault_class == finding.verdict.fault_class &&
                 other.where == finding.where;
        });
    if (is_known) continue;
    Event event;
    event.verdict = finding.verdict;
    event.part = finding.where;
    name_gpu(event);
    event.source = kNodeChecks;
    event.evidence = finding.evidence;
    event.unix_s = std::time(nullptr);
    if (starts_with(finding.verdict.fault_class, "fs_")) event.shared = finding.where;
    event.discriminator = finding.verdict.fault_class + "/" + std::to_string(event.unix_s);
    observe_finding(std::move(event));
  }
  node_findings_ = findings;
  const bool is_sick = std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return evacuates(finding.verdict);
  });
  if (is_sick)
    signs_.note_fault("", std::time(nullptr));
  else if (node_watch_.silent().empty())
    signs_.note_node_look(std::time(nullptr));
  const std::lock_guard lock(tracker_mutex_);
  findings_.replace(kNodeChecks, std::move(findings));
}

}  // namespace acrf
