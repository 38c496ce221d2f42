// SPDX-License-Identifier: GPL-2.0-or-later
// Where a job goes. Tiers come first (health, then the site's node weights), then the cost of the
// job's traffic, then what is left for the next job. The answer is a proposal: cons_tres judges it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/inventory.h"
#include "core/leaf_share.h"
#include "core/ring_pack.h"
#include "core/shape.h"
#include "core/topology.h"

namespace acrf {

struct PlaceRequest {
  int min_nodes = 1, max_nodes = 1;
  int gpus_per_node = 0;  // 0: total_gpus counts
  int total_gpus = 0;
  int gpu_step = 1;        // with total_gpus: a node gives a multiple of this (a task's share)
  std::uint32_t type = 0;  // 0: any model
  int total_cpus = 0;      // of the whole job
  int cpus_per_node = 0;   // at least, on each
  std::uint64_t memory_per_node_mb = 0;
  bool all_memory = false;  // wants all memory of its nodes
  bool whole_nodes = false;
  bool ever = false;  // on an empty cluster?
  Shape shape = Shape::kPack;
  int risk_limit = 101;  // nodes at or above are avoided before cost
};

struct PlannedNode {
  int position = 0;
  GpuMask gpus = 0;  // exactly these; 0 when any will do
};

struct Plan {
  std::vector<PlannedNode> nodes;
  std::int64_t cost = 0;  // of a ring
  std::int64_t runner_up = -1;
  bool certified = false;
  int leaves = 0, pods = 0;
  int avoidable = 0;    // nodes that a better tier would have left out, had it had room
  bool joined = false;  // below one switch of the site
  std::vector<LeafShare> shares;

  // As new, but for the nodes, which are written over.
  void clear_all_but_nodes() {
    shares.clear();
    cost = 0;
    runner_up = -1;
    certified = joined = false;
    leaves = pods = avoidable = 0;
  }
};

// Keeps its work space: one caller at a time. Topology and inventory must outlive it.
class Placement {
 public:
  Placement(const Topology& topology, const Inventory& inventory);

  // `candidates` is consumed. `required` (may be null) are nodes the job must have; `avoid` (may be
  // null) nodes it shall only get when nothing else fits. False: no proposal.
  bool place(const PlaceRequest& request, NodeSet& candidates, const NodeSet* required,
             const NodeSet* avoid, Plan& plan);

 private:
  bool place_equal(int gpus, NodeSet& eligible);
  bool place_total(NodeSet& eligible);
  bool place_scattered(const NodeSet& eligible);
  void keep_fitting(NodeSet& eligible, int gpus, int cpus) const;
  void keep_with_room(NodeSet& eligible, std::uint32_t cpus, std::uint64_t memory_mb) const;
  bool has_one_tier() const;
  void split_into_tiers(const NodeSet& eligible);
  void split_by_weight();
  bool choose(const NodeSet& eligible, int wanted, int gpus);
  bool fill_from(const NodeSet& tier, int wanted, int gpus);
  void join_base(const NodeSet& tier, int wanted);
  bool share_out(const NodeSet& tier, int wanted);
  void spread(int at, int wanted);
  void fill_small_leaves(int wanted);
  void split_into_levels(const NodeSet& tier, int gpus);
  int best_single(int gpus) const;
  void take(int position);
  void take_from_leaf(const Switch& leaf, int wanted);
  GpuMask pick_gpus(int position, int gpus) const;
  void give_gpus(int gpus);
  GpuMask aligned_gpus(int gpus) const;
  std::span<PlannedNode> taken() const {
    return {nodes_->data(), static_cast<std::size_t>(taken_)};
  }
  bool share_by_leaf(Plan& plan) const;
  void describe(Plan& plan) const;

  const Topology& topology_;
  const Inventory& inventory_;
  RingPack pack_, block_;
  PlaceRequest request_;
  const NodeSet* required_ = nullptr;
  const NodeSet* avoid_ = nullptr;
  std::vector<NodeSet> tiers_, parts_;
  std::vector<const NodeSet*> levels_;  // a tier, or parts_ of it
  std::vector<NodeRange> leaf_ranges_;  // by leaf
  std::vector<int> free_;               // by leaf
  std::vector<LeafShare> shares_;
  PackAnswer answer_;
  std::vector<PlannedNode>* nodes_ = nullptr;  // the plan's: the first taken_ count
  int taken_ = 0;
  GpuMask all_gpus_ = 0;      // what taken nodes give when they give all; 0: nodes differ
  bool shares_hold_ = false;  // shares_ say how many of the taken nodes every leaf gives
  NodeSet work_;
  std::int64_t cost_ = 0, runner_up_ = -1;
  bool certified_ = false;
  int avoidable_ = 0;
  bool many_nodes_ = false;  // the job spans nodes
};

}  // namespace acrf
