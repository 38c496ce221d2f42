// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/failover.h"

#include <algorithm>

#include "core/comment_word.h"
#include "core/hostlist.h"
#include "core/placement.h"
#include "core/rank_order.h"
#include "core/reallocate.h"
#include "core/text.h"

namespace acrf {
namespace {

constexpr std::string_view kLauncherPrefix = "acrf-run:";
constexpr std::string_view kLostPrefix = "acrf-lost:";

std::string to_word(const LauncherWord& word) {
  std::string text = std::string(kLauncherPrefix) + "can-lose=" + std::to_string(word.can_lose);
  if (!word.without.empty()) text += ",without=" + compress_hostlist(word.without);
  return text;
}

std::optional<LauncherWord> parse_launcher(std::string_view text) {
  LauncherWord word;
  if (!take_prefix(text, "can-lose=")) return std::nullopt;
  const auto can_lose = take_unsigned(text);
  if (!can_lose || *can_lose > 1'000'000) return std::nullopt;
  word.can_lose = static_cast<int>(*can_lose);
  if (text.empty()) return word;
  if (!take_prefix(text, ",without=")) return std::nullopt;
  auto nodes = expand_hostlist(text);
  if (!nodes) return std::nullopt;
  word.without = std::move(*nodes);
  return word;
}

NodeSet set_of(int size, const std::vector<int>& positions) {
  NodeSet set(size);
  for (const int position : positions) set.set(position);
  return set;
}

// Nodes that are not lost.
NodeSet usable(int size, const FailoverState& state) {
  NodeSet set(size);
  for (int position = 0; position < size; ++position) set.set(position);
  return set.subtract(set_of(size, state.lost));
}

std::vector<int> members(const NodeSet& set) {
  std::vector<int> positions;
  set.each([&](int position) {
    positions.push_back(position);
    return true;
  });
  return positions;
}

// The first step's nodes: the placement engine's choice, as if each had one GPU and were free.
std::optional<std::vector<int>> best_nodes(const Topology& topology, NodeSet candidates,
                                           int wanted) {
  Inventory inventory(topology.node_count());
  NodeState node;
  node.gpus = node.free = 1;
  node.kind = inventory.add_kind(GpuGroups(1));
  for (int position = 0; position < topology.node_count(); ++position)
    inventory.set(position, node);
  PlaceRequest request;
  request.min_nodes = request.max_nodes = wanted;
  request.gpus_per_node = 1;
  Plan plan;
  if (!Placement(topology, inventory).place(request, candidates, nullptr, nullptr, plan))
    return std::nullopt;
  std::vector<int> positions;
  for (const auto& planned : plan.nodes) positions.push_back(planned.position);
  return order_for_ring(std::move(positions));
}

}  // namespace

std::optional<LauncherWord> find_launcher(std::string_view comment) {
  for (auto word : split(comment, ' '))
    if (take_prefix(word, kLauncherPrefix)) return parse_launcher(word);
  return std::nullopt;
}

std::string with_launcher(std::string_view comment, const std::optional<LauncherWord>& word) {
  return with_word(comment, kLauncherPrefix, word ? to_word(*word) : "");
}

std::vector<std::string> find_lost_nodes(std::string_view admin_comment) {
  for (auto word : split(admin_comment, ' ')) {
    if (!take_prefix(word, kLostPrefix)) continue;
    auto nodes = expand_hostlist(word);
    return nodes ? std::move(*nodes) : std::vector<std::string>();
  }
  return {};
}

std::optional<std::vector<int>> plan_step(const Topology& topology, const FailoverState& state) {
  const int size = topology.node_count();
  const NodeSet left = usable(size, state);
  const int count = left.count();
  const int nodes = std::min(state.wanted, count);
  if (count == 0 || nodes < std::min(state.least, state.wanted)) return std::nullopt;
  if (nodes < state.wanted) return order_for_ring(members(left));
  if (state.running.empty()) return best_nodes(topology, left, nodes);
  Loss loss;
  loss.positions = state.running;
  loss.lost = set_of(size, state.running);
  loss.lost.subtract(left);
  if (loss.lost.empty()) return state.running;
  loss.free = left;
  loss.avoid = NodeSet(size);
  loss.keep_ranks = false;
  const auto found = reallocate(topology, loss);
  if (!found) return std::nullopt;
  return found->positions;
}

int losses_left(int nodes, const FailoverState& state) {
  const int left = usable(nodes, state).count();
  return std::max(0, left - std::min(state.least, state.wanted));
}

}  // namespace acrf
