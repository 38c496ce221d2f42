// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/brakes.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/hostlist.h"
#include "core/power_cap.h"

namespace acrf {
namespace {

using Test = std::function<bool(const FleetNode&)>;

// A brake with a limit: what belongs to it, what it counts, and whose claims would use it up.
struct Budget {
  Brake brake;
  std::string group;
  Share share;
  bool of_the_rest = false;  // the share is what must stay
  Test in_group, counts, claims;
};

// Two nodes, or half of a group of one to three: less would keep ACRF from ever acting there.
int least_allowance(int total) { return std::min(2, (total + 1) / 2); }

int limit_of(const Budget& budget, int total) {
  const Share& share = budget.share;
  if (!budget.of_the_rest)
    return share.percent ? std::max(nodes_in(share, total), least_allowance(total)) : share.value;
  if (!share.percent) return std::max(0, total - share.value);
  return std::max(nodes_in({100 - share.value, true}, total), least_allowance(total));
}

bool is_in(const std::vector<std::string>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

const PartitionRule* rule_of(const Config& config, const std::string& partition) {
  for (const auto& rule : config.partitions)
    if (rule.name == partition) return &rule;
  return nullptr;
}

Test always() {
  return [](const FleetNode&) { return true; };
}

void add_partition(const Config& config, std::int64_t now, const std::string& name,
                   std::vector<Budget>& budgets) {
  const auto* rule = rule_of(config, name);
  const Test in_group = [name](const FleetNode& node) { return is_in(node.partitions, name); };
  budgets.push_back(
      {Brake::kPartitionHour, name,
       rule && rule->drains_per_hour ? *rule->drains_per_hour : config.max_drains_per_hour, false,
       in_group, [now](const FleetNode& node) { return act_of_last_hour(node, now).has_value(); },
       always()});
  budgets.push_back({Brake::kPartitionDrained, name,
                     rule && rule->drained ? *rule->drained : config.max_drained, false, in_group,
                     is_held_drained, always()});
}

void add_cluster(const Config& config, std::vector<Budget>& budgets) {
  if (config.max_drained_nodes > 0)
    budgets.push_back({Brake::kClusterDrained,
                       "",
                       {config.max_drained_nodes, false},
                       false,
                       always(),
                       is_held_drained,
                       always()});
  budgets.push_back({Brake::kFloor, "", config.min_healthy, true, always(),
                     [](const FleetNode& node) { return node.draining || node.down; }, always()});
}

void add_switch(const Config& config, std::int64_t now, const std::string& leaf,
                std::vector<Budget>& budgets) {
  if (leaf.empty()) return;
  budgets.push_back(
      {Brake::kSwitchHour,
       leaf,
       {config.max_drains_per_switch, false},
       false,
       [leaf](const FleetNode& node) { return node.leaf == leaf; },
       [now](const FleetNode& node) {
         const auto act = act_of_last_hour(node, now);
         return act && has_shared_cause(act->fault_class);
       },
       [](const FleetNode& node) { return has_shared_cause(node.token.claim->fault_class); }});
}

// --- Common causes -----------------------------------------------------------------------------

// The most nodes with a mark within any window of this length, in fleet order.
std::vector<std::string> busiest_window(const Fleet& fleet,
                                        std::vector<std::pair<std::int64_t, std::size_t>> marks,
                                        std::int64_t window_s) {
  std::sort(marks.begin(), marks.end());
  std::map<std::size_t, int> within;  // node -> its marks in the window that ends here
  std::size_t first = 0, best_first = 0, best_end = 0, most = 0;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    ++within[marks[i].second];
    for (; marks[i].first - marks[first].first >= window_s; ++first)
      if (--within[marks[first].second] == 0) within.erase(marks[first].second);
    if (within.size() <= most) continue;
    most = within.size();
    best_first = first;
    best_end = i + 1;
  }
  std::set<std::size_t> best;
  for (std::size_t i = best_first; i < best_end; ++i) best.insert(marks[i].second);
  std::vector<std::string> names;
  for (const auto node : best) names.push_back(fleet.nodes[node].name);
  return names;
}

constexpr int kNewDriver_s = 24 * 3600;

bool belongs(const HealthMark& sign, Brake brake, std::string_view group) {
  if (brake == Brake::kCommonClass) return class_in_cause(sign.fault_class) == group;
  if (brake == Brake::kCommonOrigin) return origin_in_cause(sign.fault_class) == group;
  return true;
}

// Faults of this class or of this origin anywhere, or any faults on nodes of this switch. `wish`,
// which may be null, is one more sign.
BrakeState common_cause(const Config& config, const Fleet& fleet, Brake brake,
                        const std::string& group, const Wish* wish) {
  const bool is_driver = brake == Brake::kCommonOrigin && is_of_new_driver(group);
  const int window_s = is_driver ? kNewDriver_s : config.common_cause_time_s;
  BrakeState state{brake, group, {}, config.common_cause_nodes - 1, window_s, 0};
  std::vector<std::pair<std::int64_t, std::size_t>> marks;
  for (std::size_t i = 0; i < fleet.nodes.size(); ++i) {
    const auto& node = fleet.nodes[i];
    const bool wishes = wish && node.name == wish->node;
    if ((!node.has_gpus && !wishes) || (brake == Brake::kCommonSwitch && node.leaf != group))
      continue;
    ++state.total;
    for (const auto& sign : signs_of_fault(node, fleet.now_unix_s))
      if (belongs(sign, brake, group)) marks.emplace_back(sign.unix_s, i);
    if (wishes && !shows_fault(node, wish->fault_class, fleet.now_unix_s))
      marks.emplace_back(fleet.now_unix_s, i);
  }
  state.nodes = busiest_window(fleet, std::move(marks), window_s);
  return state;
}

// --- Heat --------------------------------------------------------------------------------------

// `more`, which may be null, counts as hot.
BrakeState heat_of(const Config& config, const Fleet& fleet, const std::string& leaf,
                   const FleetNode* more) {
  BrakeState state{Brake::kSwitchHeat, leaf, {}, 0, 0, 0};
  for (const auto& node : fleet.nodes) {
    if ((!node.has_gpus && &node != more) || node.leaf != leaf) continue;
    ++state.total;
    if (&node == more || is_hot(node, fleet.now_unix_s)) state.nodes.push_back(node.name);
  }
  const auto& share = config.shared_heat;
  const int shared = share.percent ? (state.total * share.value + 99) / 100 : share.value;
  state.limit = std::max(2, shared) - 1;  // one node is hot by itself
  return state;
}

// --- Deciding ----------------------------------------------------------------------------------

bool is_ahead(const FleetNode& other, const HealthMark& claim, const std::string& name) {
  const auto& theirs = *other.token.claim;
  return std::tie(theirs.unix_s, other.name) < std::tie(claim.unix_s, name);
}

BrakeState state_of(const Budget& budget, const Fleet& fleet, const std::string& wisher) {
  BrakeState state{budget.brake, budget.group, {}, 0, 0, 0};
  for (const auto& node : fleet.nodes) {
    if ((!node.has_gpus && node.name != wisher) || !budget.in_group(node)) continue;
    ++state.total;
    if (budget.counts(node)) state.nodes.push_back(node.name);
  }
  state.limit = limit_of(budget, state.total);
  return state;
}

BrakeDecision ask(const Budget& budget, const Fleet& fleet, const Wish& wish,
                  const HealthMark& claim) {
  auto state = state_of(budget, fleet, wish.node);
  if (is_in(state.nodes, wish.node)) return {Permission::kAct, {}, {}};
  int ahead = 0, behind = 0;
  for (const auto& node : fleet.nodes) {
    if (!node.has_gpus || node.name == wish.node || !is_live_claim(node, fleet.now_unix_s) ||
        !budget.in_group(node) || budget.counts(node) || !budget.claims(node))
      continue;
    ++(is_ahead(node, claim, wish.node) ? ahead : behind);
  }
  const int room = state.limit - state.counted();
  Permission permission = Permission::kAct;
  if (room < 1)
    permission = Permission::kHeld;
  else if (ahead >= room)
    permission = Permission::kYield;
  else if (ahead + behind >= room)
    permission = Permission::kWait;
  if (permission == Permission::kAct) return {permission, {}, {}};
  auto sentence = sentence_of(state);
  if (permission != Permission::kHeld)
    sentence += ", and " + std::to_string(ahead + behind) + " other nodes ask at the same time";
  return {permission, std::move(state), std::move(sentence)};
}

std::vector<Budget> budgets_of(const Config& config, const Fleet& fleet, const FleetNode& node,
                               const std::string& fault_class) {
  std::vector<Budget> budgets;
  for (const auto& partition : node.partitions)
    add_partition(config, fleet.now_unix_s, partition, budgets);
  add_cluster(config, budgets);
  if (has_shared_cause(fault_class)) add_switch(config, fleet.now_unix_s, node.leaf, budgets);
  return budgets;
}

std::optional<BrakeState> frozen(const Config& config, const Fleet& fleet, const FleetNode& node,
                                 const Wish& wish) {
  if (is_heat(class_in_cause(wish.fault_class)))
    if (auto heat = shared_heat(config, fleet, node)) return heat;
  if (config.common_cause_nodes <= 0) return std::nullopt;
  auto state = common_cause(config, fleet, Brake::kCommonClass,
                            std::string(class_in_cause(wish.fault_class)), &wish);
  if (state.counted() > state.limit) return state;
  if (const std::string origin(origin_in_cause(wish.fault_class)); !origin.empty()) {
    state = common_cause(config, fleet, Brake::kCommonOrigin, origin, &wish);
    if (state.counted() > state.limit) return state;
  }
  if (node.leaf.empty()) return std::nullopt;
  state = common_cause(config, fleet, Brake::kCommonSwitch, node.leaf, &wish);
  if (state.counted() > state.limit) return state;
  return std::nullopt;
}

void add_common_causes(const Config& config, const Fleet& fleet, std::vector<BrakeState>& states) {
  if (config.common_cause_nodes <= 0) return;
  std::set<std::pair<Brake, std::string>> groups;
  for (const auto& node : fleet.nodes)
    for (const auto& sign : signs_of_fault(node, fleet.now_unix_s)) {
      groups.emplace(Brake::kCommonClass, class_in_cause(sign.fault_class));
      if (const auto origin = origin_in_cause(sign.fault_class); !origin.empty())
        groups.emplace(Brake::kCommonOrigin, origin);
      if (!node.leaf.empty()) groups.emplace(Brake::kCommonSwitch, node.leaf);
    }
  for (const auto& [brake, group] : groups)
    states.push_back(common_cause(config, fleet, brake, group, nullptr));
}

}  // namespace

std::optional<BrakeState> shared_heat(const Config& config, const Fleet& fleet,
                                      const FleetNode& node) {
  if (node.leaf.empty() || config.shared_heat.value <= 0) return std::nullopt;
  auto state = heat_of(config, fleet, node.leaf, &node);
  if (state.counted() <= state.limit) return std::nullopt;
  return state;
}

BrakeDecision ask_brakes(const Config& config, const Fleet& fleet, const Wish& wish) {
  const auto* node = fleet.find(wish.node);
  if (!node) return {Permission::kHeld, {}, "slurmctld knows no node " + wish.node};
  if (auto state = frozen(config, fleet, *node, wish)) {
    auto sentence = sentence_of(*state);
    return {Permission::kHeld, std::move(state), std::move(sentence)};
  }
  // Of two who ask for the same node one is enough.
  const bool is_live = is_live_claim(*node, fleet.now_unix_s);
  const bool claims = is_live && is_claimed_by(node->token, wish.speaker);
  if (is_live && !claims)
    return {Permission::kYield, {}, "another daemon asks for node " + wish.node};
  // Without a claim of its own yet, it would be the last to come.
  const HealthMark claim =
      claims ? *node->token.claim : HealthMark{fleet.now_unix_s + kClaimLives_s, wish.fault_class};
  BrakeDecision worst{Permission::kAct, {}, {}};
  for (const auto& budget : budgets_of(config, fleet, *node, wish.fault_class))
    if (auto decision = ask(budget, fleet, wish, claim); decision.permission > worst.permission)
      worst = std::move(decision);
  return worst;
}

std::vector<BrakeState> brake_states(const Config& config, const Fleet& fleet) {
  std::set<std::string> partitions, leaves, hot_leaves;
  for (const auto& node : fleet.nodes) {
    if (!node.has_gpus) continue;
    partitions.insert(node.partitions.begin(), node.partitions.end());
    if (is_hot(node, fleet.now_unix_s) && !node.leaf.empty()) hot_leaves.insert(node.leaf);
    const auto act = act_of_last_hour(node, fleet.now_unix_s);
    if (act && has_shared_cause(act->fault_class)) leaves.insert(node.leaf);
  }
  std::vector<Budget> budgets;
  for (const auto& name : partitions) add_partition(config, fleet.now_unix_s, name, budgets);
  add_cluster(config, budgets);
  for (const auto& leaf : leaves) add_switch(config, fleet.now_unix_s, leaf, budgets);
  std::vector<BrakeState> states;
  for (const auto& budget : budgets) states.push_back(state_of(budget, fleet, ""));
  add_common_causes(config, fleet, states);
  for (const auto& leaf : hot_leaves) states.push_back(heat_of(config, fleet, leaf, nullptr));
  return states;
}

std::string_view name_of(Brake brake) {
  switch (brake) {
    case Brake::kPartitionHour: return "partition-hour";
    case Brake::kPartitionDrained: return "partition-drained";
    case Brake::kClusterDrained: return "cluster-drained";
    case Brake::kFloor: return "floor";
    case Brake::kSwitchHour: return "switch-hour";
    case Brake::kCommonClass: return "common-class";
    case Brake::kCommonSwitch: return "common-switch";
    case Brake::kSwitchHeat: return "switch-heat";
    case Brake::kCommonOrigin: return "common-origin";
  }
  return "unknown";
}

std::string sentence_of(const BrakeState& state) {
  const auto part = std::to_string(state.counted()) + " of " + std::to_string(state.total) + " ";
  const auto limit = ", limit " + std::to_string(state.limit);
  const auto window = " within " + std::to_string(state.window_s) + " s (" +
                      compress_hostlist(state.nodes) + "): one cause that is not theirs";
  switch (state.brake) {
    case Brake::kPartitionHour:
      return part + "nodes of partition " + state.group + " acted on in the last hour" + limit;
    case Brake::kPartitionDrained:
      return part + "nodes of partition " + state.group + " drained by ACRF" + limit;
    case Brake::kClusterDrained: return part + "nodes of the cluster drained by ACRF" + limit;
    case Brake::kFloor: return part + "GPU nodes of the cluster out of service" + limit;
    case Brake::kSwitchHour:
      return part + "nodes of switch " + state.group +
             " acted on for the fabric, power or a file system in the last hour" + limit;
    case Brake::kCommonClass:
      return std::to_string(state.counted()) + " nodes with " + state.group + window;
    case Brake::kCommonSwitch:
      return part + "nodes of switch " + state.group + " with faults" + window;
    case Brake::kSwitchHeat:
      return part + "nodes of switch " + state.group + " too hot at once (" +
             compress_hostlist(state.nodes) + "): cooling or power, not theirs";
    case Brake::kCommonOrigin:
      return std::to_string(state.counted()) + " nodes with " +
             (is_of_new_driver(state.group) ? "" : "faults of ") + state.group + window;
  }
  return part;
}

}  // namespace acrf
