// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/inventory.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace acrf {

namespace {

int counted(const NodeState& state, GpuMask gpus) {
  return state.plannable ? std::min(std::popcount(gpus), Inventory::kMostGpus) : 0;
}

int free_count(const NodeState& state) { return counted(state, state.healthy_free()); }

int able_count(const NodeState& state) {
  return counted(state, state.gpus & ~state.health.quarantined);
}

// `sets` hold the nodes with at least so many GPUs: only those between the two counts change.
void recount(std::vector<NodeSet>& sets, int position, int before, int after) {
  for (int gpus = std::min(before, after) + 1; gpus <= std::max(before, after); ++gpus)
    sets[static_cast<std::size_t>(gpus)].put(position, after > before);
}

}  // namespace

Inventory::Inventory(int nodes)
    : nodes_(static_cast<std::size_t>(nodes)),
      healthy_free_(static_cast<std::size_t>(nodes)),
      free_(kMostGpus + 1, NodeSet(nodes)),
      able_(kMostGpus + 1, NodeSet(nodes)),
      untouched_(nodes),
      quarantined_(nodes),
      suspect_(nodes),
      risky_(nodes),
      on_probation_(nodes) {
  kinds_.emplace_back(kMostGpus);
}

int Inventory::add_kind(GpuGroups groups) {
  const auto same = std::find(kinds_.begin(), kinds_.end(), groups);
  if (same != kinds_.end()) return static_cast<int>(same - kinds_.begin());
  kinds_.push_back(std::move(groups));
  return static_cast<int>(kinds_.size()) - 1;
}

const NodeSet* Inventory::of_type(std::uint32_t type) const {
  const auto found = types_.find(type);
  return found == types_.end() ? nullptr : &found->second;
}

void Inventory::set(int position, const NodeState& state) {
  NodeState& kept = nodes_[static_cast<std::size_t>(position)];
  const bool plans = state.plannable;
  recount(free_, position, free_count(kept), free_count(state));
  recount(able_, position, able_count(kept), able_count(state));
  if (kept.type != state.type || !types_.contains(state.type)) {
    if (const auto old = types_.find(kept.type); old != types_.end()) old->second.clear(position);
    types_.try_emplace(state.type, NodeSet(size())).first->second.set(position);
  }
  untouched_.put(position, state.free == state.gpus && state.free_cpus == state.cpus &&
                               state.free_memory_mb == state.memory_mb);
  unsound_ += (state.health != NodeHealth{}) - (kept.health != NodeHealth{});
  quarantined_.put(position, (state.health.quarantined & state.gpus) != 0);
  suspect_.put(position, state.health.suspect);
  risky_.put(position, state.health.risk > 0);
  on_probation_.put(position, state.health.probation);
  if (first_ && (state.gpus || first_ == &kept)) one_mask_ &= state.gpus == first_->gpus;
  if (plans && state.gpus) {
    most_gpus_ = std::max(most_gpus_, std::min(std::popcount(state.gpus), kMostGpus));
    least_cpus_ = std::min(least_cpus_, state.cpus);
    least_memory_mb_ = std::min(least_memory_mb_, state.memory_mb);
    uniform_ &= groups(state.kind).is_uniform();
    if (!first_) first_ = &kept;
    if (first_ != &kept) {
      has_weights_ |= state.weight != first_->weight;
      one_kind_ &= state.kind == first_->kind;
    }
  }
  kept = state;
  healthy_free_[static_cast<std::size_t>(position)] = state.healthy_free();
}

}  // namespace acrf
