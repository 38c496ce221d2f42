// SPDX-License-Identifier: GPL-2.0-or-later
#include "chaos_books.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/incident.h"
#include "core/text.h"

namespace acrf::minicluster {
namespace {

// slurmctld writes a change to disk within five seconds; on a busy machine it is later.
constexpr double kMayBeUnsaved_s = 15;
// A fault that is injected while its node is tested or returned is found after the return.
constexpr double kBeforeReturn_s = 30;
// What has happened is seen so much later.
constexpr double kLook_s = 2;
// GPUs are looked at every second: of a fault as young as this nobody can know.
constexpr double kUnnoticed_s = 3;

bool is_drained(const NodeRecord& node) { return node.state.find("DRAIN") != std::string::npos; }

}  // namespace

void ChaosBooks::note_fault(const std::string& name, double at_s, bool must_drain) {
  auto& node = nodes_[name];
  (must_drain ? node.fault_s : node.silence_s) = at_s;
}

double ChaosBooks::cause_of(const Node& node) { return std::max(node.fault_s, node.silence_s); }

bool ChaosBooks::may_be_lost(double done_s) const {
  return controller_killed_s_ > done_s - kMayBeUnsaved_s &&
         controller_killed_s_ < done_s + kMayBeUnsaved_s;
}

std::string ChaosBooks::see_drain(const std::string& name, Node& node, const std::string& reason,
                                  double at_s) {
  const bool return_is_lost = is_acrf_reason(reason) && may_be_lost(node.returned_s) &&
                              cause_of(node) < node.returned_s &&
                              controller_killed_s_ > node.returned_s - kLook_s;
  node.drained = true;
  node.owes_drain = false;
  if (return_is_lost) return fmt::format("{}'s return was lost with slurmctld", name);
  node.drained_s = at_s;
  ++drains_;
  const double cause_s = cause_of(node);
  if (!is_acrf_reason(reason))
    wrongs_.push_back(fmt::format("{} is drained, and not by ACRF: {}", name, reason));
  else if (cause_s < node.returned_s - kBeforeReturn_s || cause_s == kNever)
    wrongs_.push_back(fmt::format("{} is drained without a fault: {}", name, reason));
  return fmt::format("{} is drained: {}", name, reason);
}

std::string ChaosBooks::see_return(const std::string& name, Node& node, double at_s) {
  node.drained = false;
  const bool proven = node.proof_s > node.fault_s || at_s - node.fault_s < kUnnoticed_s;
  if (node.proof_s >= node.drained_s - kMayBeUnsaved_s && proven) {
    node.returned_s = at_s;
    ++returns_;
    return fmt::format("{} is back in service after a passed test", name);
  }
  if (may_be_lost(node.drained_s)) {
    node.owes_drain = node.fault_s > node.proof_s;  // a drain for silence need not come again
    return fmt::format("{}'s drain was lost with slurmctld", name);
  }
  wrongs_.push_back(fmt::format("{} is back in service without a passed test", name));
  return wrongs_.back();
}

std::vector<std::string> ChaosBooks::see(const std::vector<NodeRecord>& nodes, double at_s) {
  std::vector<std::string> news;
  for (const auto& record : nodes) {
    auto& node = nodes_[record.name];
    if (is_drained(record) && !node.drained)
      news.push_back(see_drain(record.name, node, record.reason, at_s));
    else if (!is_drained(record) && node.drained)
      news.push_back(see_return(record.name, node, at_s));
  }
  return news;
}

std::vector<std::string> ChaosBooks::judge_end(const std::vector<std::string>& sick) const {
  auto wrongs = wrongs_;
  for (const auto& [name, node] : nodes_) {
    if (node.owes_drain)
      wrongs.push_back(
          fmt::format("{}: its drain was lost with slurmctld and never done again", name));
    const bool is_sick = std::find(sick.begin(), sick.end(), name) != sick.end();
    if (is_sick && !node.drained)
      wrongs.push_back(fmt::format("{} has a broken GPU and is in service", name));
  }
  return wrongs;
}

}  // namespace acrf::minicluster
