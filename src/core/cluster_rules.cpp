// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/cluster_rules.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace acrf {
namespace {

constexpr std::int64_t kDay_s = 86400;
constexpr std::int64_t kDriverWindow_s = 7 * kDay_s;
// One sign alone is weak: users' programs fail too. Two of them, and three faults, make a lemon.
constexpr int kLemonSigns = 2;
constexpr int kLemonFaults = 3;
constexpr double kFarAboveMean = 5;
constexpr int kDriverNodes = 3;
constexpr double kDriverFactor = 4;

using Group = std::map<std::string, std::set<std::string>>;  // what is shared -> nodes

void add_group(const Group& groups, std::size_t least, const std::string& before,
               const std::string& after, std::map<std::string, std::string>& text_of) {
  for (const auto& [shared, nodes] : groups) {
    if (nodes.size() < least) continue;
    const auto text = std::to_string(nodes.size()) + before + shared + after;
    for (const auto& node : nodes) text_of.emplace(node, text);
  }
}

void find_common_causes(const std::vector<FleetFault>& faults,
                        const std::map<std::string, const FleetMember*>& member_of,
                        const ClusterRuleSettings& settings, std::int64_t now_unix_s,
                        std::vector<ClusterAdvice>& all) {
  if (settings.common_cause_nodes <= 0) return;
  Group by_class, by_leaf;
  for (const auto& fault : faults) {
    if (!fault.acting || fault.unix_s < now_unix_s - settings.common_cause_time_s) continue;
    by_class[fault.fault_class].insert(fault.node);
    const auto member = member_of.find(fault.node);
    if (member != member_of.end() && !member->second->leaf.empty())
      by_leaf[member->second->leaf].insert(fault.node);
  }
  const auto least = static_cast<std::size_t>(settings.common_cause_nodes);
  const auto within = " within " + std::to_string(settings.common_cause_time_s) + " s";
  std::map<std::string, std::string> text_of;
  add_group(by_leaf, least, " nodes of ", " have faults" + within + ": look at the switch",
            text_of);
  add_group(by_class, least, " nodes have ", within + ": look for what they share", text_of);
  for (auto& [node, text] : text_of) all.push_back({AdviceKind::kCommonCause, node, text, 0});
}

struct Record {
  int faults = 0;
  std::set<std::int64_t> days;
  std::set<std::uint64_t> jobs;
  std::map<std::string, int> classes;
};

struct Lemon {
  std::string node;
  int signs = 0;
  int faults = 0;
  std::string text;
};

Lemon judge(const std::string& node, const Record& record, double mean) {
  Lemon lemon{node, 0, record.faults, ""};
  const auto sign = [&](bool holds, const std::string& text) {
    if (!holds) return;
    ++lemon.signs;
    lemon.text += (lemon.text.empty() ? "" : ", ") + text;
  };
  const auto most = std::max_element(
      record.classes.begin(), record.classes.end(),
      [](const auto& a, const auto& b) { return a.second < b.second; });
  sign(record.days.size() >= 2, "on " + std::to_string(record.days.size()) + " days");
  sign(most->second >= 2, std::to_string(most->second) + " times " + most->first);
  sign(record.jobs.size() >= 2, std::to_string(record.jobs.size()) + " jobs hit");
  sign(record.faults >= kFarAboveMean * mean, "far more than other nodes");
  return lemon;
}

// The worst, one in a hundred nodes at most: a rule that calls many nodes lemons has seen something
// else.
void find_lemons(const std::vector<FleetFault>& faults, std::size_t nodes, std::int64_t now_unix_s,
                 std::vector<ClusterAdvice>& all) {
  std::map<std::string, Record> records;
  int total = 0;
  for (const auto& fault : faults) {
    if (!fault.acting || fault.unix_s < now_unix_s - kLemonWindow_s) continue;
    auto& record = records[fault.node];
    ++record.faults;
    ++total;
    record.days.insert(fault.unix_s / kDay_s);
    ++record.classes[fault.fault_class];
    if (fault.job) record.jobs.insert(*fault.job);
  }
  const double mean = nodes == 0 ? 0 : static_cast<double>(total) / static_cast<double>(nodes);
  std::vector<Lemon> lemons;
  for (const auto& [node, record] : records) {
    auto lemon = judge(node, record, mean);
    if (lemon.signs >= kLemonSigns && lemon.faults >= kLemonFaults)
      lemons.push_back(std::move(lemon));
  }
  std::sort(lemons.begin(), lemons.end(), [](const Lemon& a, const Lemon& b) {
    return std::tie(b.signs, b.faults, a.node) < std::tie(a.signs, a.faults, b.node);
  });
  lemons.resize(std::min(lemons.size(), (nodes + 99) / 100));
  for (const auto& lemon : lemons)
    all.push_back({AdviceKind::kLemon, lemon.node,
                   std::to_string(lemon.faults) + " faults in 28 days: " + lemon.text,
                   std::min(100, 20 + 20 * lemon.signs)});
}

// Faults of one class on nodes of one driver against those on all other nodes, by node.
void find_driver_regressions(const std::vector<FleetFault>& faults,
                             const std::vector<FleetMember>& members, std::int64_t now_unix_s,
                             std::vector<ClusterAdvice>& all) {
  std::map<std::string, std::size_t> nodes_with;
  std::size_t known = 0;
  for (const auto& member : members) {
    known += !member.driver.empty();
    if (!member.driver.empty()) ++nodes_with[member.driver];
  }
  std::map<std::string, Group> hit;  // class -> driver -> nodes
  for (const auto& fault : faults)
    if (fault.acting && !fault.driver.empty() && fault.unix_s >= now_unix_s - kDriverWindow_s)
      hit[fault.fault_class][fault.driver].insert(fault.node);
  std::map<std::string, std::string> text_of;
  for (const auto& [fault_class, drivers] : hit) {
    for (const auto& [driver, nodes] : drivers) {
      const auto with = std::max(nodes_with[driver], nodes.size());
      if (nodes.size() < kDriverNodes || known <= with) continue;  // nobody to compare with
      std::size_t others = 0;
      for (const auto& [other, theirs] : drivers) others += other == driver ? 0 : theirs.size();
      // Half a fault where others have none: a few nodes without one prove nothing.
      const double rate = std::max(0.5, static_cast<double>(others)) /
                          static_cast<double>(known - with);
      if (static_cast<double>(nodes.size()) < kDriverFactor * rate * static_cast<double>(with))
        continue;
      const auto text = std::to_string(nodes.size()) + " of " + std::to_string(with) +
                        " nodes with driver " + driver + " had " + fault_class +
                        " in 7 days, of " + std::to_string(known - with) + " others " +
                        std::to_string(others);
      for (const auto& node : nodes) text_of.emplace(node, text);
    }
  }
  for (auto& [node, text] : text_of) all.push_back({AdviceKind::kDriver, node, text, 0});
}

}  // namespace

std::string_view name_of(AdviceKind kind) {
  switch (kind) {
    case AdviceKind::kCommonCause: return "common-cause";
    case AdviceKind::kLemon: return "lemon";
    case AdviceKind::kDriver: return "driver-regression";
  }
  return "";
}

std::vector<ClusterAdvice> advise_cluster(const std::vector<FleetFault>& faults,
                                          const std::vector<FleetMember>& members,
                                          const ClusterRuleSettings& settings,
                                          std::int64_t now_unix_s) {
  std::map<std::string, const FleetMember*> member_of;
  for (const auto& member : members) member_of[member.name] = &member;
  std::vector<ClusterAdvice> all;
  find_common_causes(faults, member_of, settings, now_unix_s, all);
  find_lemons(faults, members.size(), now_unix_s, all);
  find_driver_regressions(faults, members, now_unix_s, all);
  return all;
}

}  // namespace acrf
