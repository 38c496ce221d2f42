// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/act_tally.h"

namespace acrf {
namespace {

// A class or a program of a site's own makes no new series without end.
constexpr std::size_t kMostSeries = 100;

bool is_act(AuditKind kind) {
  return kind == AuditKind::kAct || kind == AuditKind::kReturn || kind == AuditKind::kProgram;
}

}  // namespace

void ActTally::take(AuditKind kind, const std::string& what, AuditResult::State result,
                    const std::string& fault_class) {
  if (!is_act(kind)) return;
  std::pair<std::string, std::string> act{what, name_of(result)};
  if (acts_.size() >= kMostSeries && !acts_.contains(act)) act.first = "other";
  ++acts_[act];
  if (result != AuditResult::State::kDone || what != "drain") return;
  const bool has_room = drains_.size() < kMostSeries || drains_.contains(fault_class);
  ++drains_[has_room ? fault_class : "other"];
}

void ActTally::add_to(MetricText& text, const std::string& actions,
                      const std::string& drains) const {
  text.begin(actions, "What acrf-healthd did, by action and result", MetricText::Kind::kCounter);
  for (const auto& [act, count] : acts_)
    text.add({{"action", act.first}, {"result", act.second}}, static_cast<double>(count));
  text.begin(drains, "Drains by class of the fault", MetricText::Kind::kCounter);
  for (const auto& [fault, count] : drains_)
    text.add({{"class", fault}}, static_cast<double>(count));
}

}  // namespace acrf
