// SPDX-License-Identifier: GPL-2.0-or-later
// What every node has and what is free, kept so that "nodes with at least g healthy free GPUs" is
// a set that exists already. Positions are the topology's. About 200 bytes a node.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "core/gpu_group.h"
#include "core/node_health.h"
#include "core/node_set.h"

namespace acrf {

struct NodeState {
  GpuMask gpus = 0;  // all of them
  GpuMask free = 0;  // not allocated to a job
  NodeHealth health;
  std::uint32_t type = 0;  // model, 0: unknown
  int kind = 0;            // how its GPUs are linked: from Inventory::add_kind
  bool plannable = true;   // false: not understood; left to cons_tres
  std::uint32_t cpus = 0, free_cpus = 0;
  std::uint64_t memory_mb = 0, free_memory_mb = 0;
  std::uint64_t weight = 0;  // the scheduling weight: lighter nodes first

  GpuMask healthy_free() const { return free & ~health.quarantined; }
};

class Inventory {
 public:
  static constexpr int kMostGpus = 16;  // counted exactly; nodes with more count as this many

  explicit Inventory(int nodes);

  int size() const { return static_cast<int>(nodes_.size()); }
  const NodeState& node(int position) const { return nodes_[static_cast<std::size_t>(position)]; }
  void set(int position, const NodeState& state);
  // node(position).healthy_free(), where those of neighbours lie side by side.
  GpuMask healthy_free(int position) const {
    return healthy_free_[static_cast<std::size_t>(position)];
  }

  // Nodes whose GPUs are linked alike share a kind.
  int add_kind(GpuGroups groups);
  const GpuGroups& groups(int kind) const { return kinds_[static_cast<std::size_t>(kind)]; }

  // All nodes with GPUs are of one kind; any group of GPUs is as good as another, everywhere.
  bool has_one_kind() const { return one_kind_; }
  // The GPUs of every node that has any; 0: nodes differ.
  GpuMask gpus_of_all() const { return one_mask_ && first_ ? first_->gpus : 0; }
  bool is_uniform() const { return uniform_; }

  // Nodes with at least this many healthy free GPUs, or that many healthy ones in all (1 to
  // kMostGpus).
  const NodeSet& with_free(int gpus) const { return free_[static_cast<std::size_t>(gpus)]; }
  const NodeSet& with_gpus(int gpus) const { return able_[static_cast<std::size_t>(gpus)]; }
  const NodeSet* of_type(std::uint32_t type) const;
  const NodeSet& untouched() const { return untouched_; }  // no job has CPUs, memory or GPUs there
  bool all_sound() const { return unsound_ == 0; }         // the next four are empty
  const NodeSet& quarantined() const { return quarantined_; }  // with a GPU in quarantine
  const NodeSet& suspect() const { return suspect_; }
  const NodeSet& risky() const { return risky_; }  // risk above 0
  const NodeSet& on_probation() const { return on_probation_; }
  int most_gpus() const { return most_gpus_; }  // on any node
  // No node has less than this: smaller requests fit every untouched node.
  std::uint32_t least_cpus() const { return least_cpus_; }
  std::uint64_t least_memory_mb() const { return least_memory_mb_; }
  bool has_weights() const { return has_weights_; }  // nodes differ in weight

 private:
  std::vector<NodeState> nodes_;
  std::vector<GpuMask> healthy_free_;
  std::deque<GpuGroups> kinds_;
  std::vector<NodeSet> free_, able_;
  std::map<std::uint32_t, NodeSet> types_;
  NodeSet untouched_, quarantined_, suspect_, risky_, on_probation_;
  int most_gpus_ = 0, unsound_ = 0;
  std::uint32_t least_cpus_ = ~0u;
  std::uint64_t least_memory_mb_ = ~0ull;
  bool has_weights_ = false, one_kind_ = true, uniform_ = true, one_mask_ = true;
  const NodeState* first_ = nullptr;  // the first node with GPUs that was set
};

}  // namespace acrf
