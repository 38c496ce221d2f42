// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/reallocate.h"

#include <algorithm>

#include "core/chain_share.h"
#include "core/joint_fill.h"
#include "core/rank_order.h"
#include "core/tree_fill.h"

namespace acrf {

namespace {

constexpr std::int64_t kScale = 64;         // prices between runs are fractions of a link's cost
constexpr std::int64_t kUnit = 2 * kScale;  // a ring crosses every link an even number of times
constexpr int kRounds = 60;
constexpr std::int64_t kMostJointSteps = 20'000'000;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

// A run of lost ranks, and the nodes of the ranks before and after it; -1: all ranks are lost.
struct Run {
  int first = 0, length = 0;
  int from = -1, to = -1;
};

class Reallocator {
 public:
  Reallocator(const Topology& topology, const Loss& loss);
  std::optional<Reallocation> solve();

 private:
  int rank_count() const { return static_cast<int>(loss_.positions.size()); }
  int position(int rank) const { return loss_.positions[at(rank % rank_count())]; }
  bool is_lost(int rank) const { return loss_.lost.test(position(rank)); }
  std::vector<Run> runs() const;
  std::vector<LeafRoom> room_of_all_leaves() const;
  void choose_leaves();
  std::vector<int> count_by_slot(const std::vector<int>& positions) const;
  std::optional<ChainShares> share(TreeFill& fill, const std::vector<Chain>& chains) const;
  void solve_ring();
  void solve_together();
  std::vector<int> living() const;
  std::vector<int> take(const std::vector<int>& counts);
  void put(const Run& run, std::vector<int> positions);
  std::int64_t cost(const std::vector<int>& positions) const;

  const Topology& topology_;
  const Loss& loss_;
  NodeSet good_, spare_;  // candidates that are left: without those to avoid, and those
  int wanted_ = 0;
  std::vector<int> leaves_;  // by slot: index of the leaf
  std::vector<LeafRoom> rooms_;
  Reallocation answer_;
};

Reallocator::Reallocator(const Topology& topology, const Loss& loss)
    : topology_(topology), loss_(loss), good_(loss.free) {
  for (const int position : loss_.positions) {
    good_.clear(position);
    wanted_ += loss_.lost.test(position);
  }
  good_.subtract(loss_.lost);
  spare_ = good_;
  spare_ &= loss_.avoid;
  good_.subtract(loss_.avoid);
  answer_.positions = loss_.positions;
}

std::vector<Run> Reallocator::runs() const {
  int start = 0;
  while (start < rank_count() && is_lost(start)) ++start;
  if (start == rank_count()) return {{0, rank_count(), -1, -1}};
  std::vector<Run> found;
  for (int rank = start + 1; rank < start + rank_count(); ++rank) {
    if (!is_lost(rank)) continue;
    Run run{rank, 0, position(rank - 1), -1};
    for (; is_lost(rank); ++rank) ++run.length;
    run.to = position(rank);
    found.push_back(run);
  }
  return found;
}

// Nodes to avoid only count when the others do not suffice; then the others must all be used.
std::vector<LeafRoom> Reallocator::room_of_all_leaves() const {
  const bool all_good = good_.count() < wanted_;
  std::vector<LeafRoom> rooms;
  for (int i = 0; i < static_cast<int>(topology_.leaves().size()); ++i) {
    const auto& leaf = topology_.leaf(i);
    const int good = good_.count(leaf.first, leaf.end);
    LeafRoom room{0, good, 0};
    if (all_good) room = {good, good + spare_.count(leaf.first, leaf.end), 0};
    room.high = std::min(room.high, wanted_);
    rooms.push_back(room);
  }
  return rooms;
}

// The leaves that can matter: those of the job's nodes, those that must be used, and of the others
// below one switch, as far as only their room differs, as many of the roomiest as nodes are wanted.
// An answer that skips a roomy one can move there from a smaller one at no cost.
void Reallocator::choose_leaves() {
  const auto rooms = room_of_all_leaves();
  std::vector<bool> keep(rooms.size());
  for (const int position : loss_.positions) keep[at(topology_.leaf_of(position))] = true;
  std::vector<int> others;
  for (std::size_t i = 0; i < rooms.size(); ++i) {
    if (rooms[i].low > 0) keep[i] = true;
    if (!keep[i] && rooms[i].high > 0) others.push_back(static_cast<int>(i));
  }
  const auto kind = [&](int i) {
    return std::pair(topology_.leaf(i).parent, topology_.leaf(i).weight);
  };
  std::stable_sort(others.begin(), others.end(), [&](int a, int b) {
    return kind(a) != kind(b) ? kind(a) < kind(b) : rooms[at(a)].high > rooms[at(b)].high;
  });
  int alike = 0;
  for (std::size_t i = 0; i < others.size(); ++i) {
    alike = i && kind(others[i]) == kind(others[i - 1]) ? alike + 1 : 1;
    if (alike <= wanted_) keep[at(others[i])] = true;
  }
  for (std::size_t i = 0; i < rooms.size(); ++i) {
    if (!keep[i]) continue;
    leaves_.push_back(static_cast<int>(i));
    rooms_.push_back(rooms[i]);
  }
}

std::vector<int> Reallocator::count_by_slot(const std::vector<int>& positions) const {
  std::vector<int> counts(leaves_.size());
  for (const int position : positions) {
    const auto slot = std::lower_bound(leaves_.begin(), leaves_.end(), topology_.leaf_of(position));
    ++counts[static_cast<std::size_t>(slot - leaves_.begin())];
  }
  return counts;
}

// Takes so many nodes of each leaf out of the candidates.
std::vector<int> Reallocator::take(const std::vector<int>& counts) {
  std::vector<int> taken;
  for (std::size_t slot = 0; slot < counts.size(); ++slot) {
    const auto& leaf = topology_.leaf(leaves_[slot]);
    int left = counts[slot];
    for (auto* set : {&good_, &spare_}) {
      set->each(leaf.first, leaf.end, [&](int position) {
        if (left == 0) return false;
        --left;
        set->clear(position);
        answer_.avoidable += set == &spare_;
        taken.push_back(position);
        return true;
      });
    }
  }
  return taken;
}

void Reallocator::put(const Run& run, std::vector<int> positions) {
  positions = run.from < 0 ? order_for_ring(std::move(positions))
                           : order_between(topology_, run.from, run.to, std::move(positions));
  for (int i = 0; i < run.length; ++i)
    answer_.positions[at((run.first + i) % rank_count())] = positions[at(i)];
}

// From quick to thorough, until the answer is proven or the effort is used up.
std::optional<ChainShares> Reallocator::share(TreeFill& fill,
                                              const std::vector<Chain>& chains) const {
  if (chains.size() == 1) {
    const auto found = fill.solve(chains[0].ends, chains[0].length, rooms_);
    if (!found) return std::nullopt;
    return ChainShares{{found->counts}, found->cost, found->cost};
  }
  const bool few = joint_steps(fill, chains) <= kMostJointSteps;
  auto shares = share_leaves(fill, chains, rooms_, kUnit, few ? 0 : kRounds);
  if (few && shares && shares->cost > shares->lower_bound)
    return fill_jointly(fill, chains, rooms_);
  return shares;
}

void Reallocator::solve_ring() {
  TreeFill fill(topology_, leaves_, kScale);
  const auto lost = runs();
  std::vector<Chain> chains;
  for (const auto& run : lost) {
    std::vector<int> ends;
    if (run.from >= 0) ends = {run.from, run.to};
    chains.push_back({run.length, fill.placed(Traffic::kRing, count_by_slot(ends))});
  }
  const auto shares = share(fill, chains);
  if (!shares) return;
  for (std::size_t i = 0; i < lost.size(); ++i) put(lost[i], take(shares->counts[i]));
  answer_.cost = cost(answer_.positions);
  answer_.lower_bound = answer_.cost - (shares->cost - shares->lower_bound) / kScale;
}

std::vector<int> Reallocator::living() const {
  std::vector<int> positions;
  for (const int position : loss_.positions)
    if (!loss_.lost.test(position)) positions.push_back(position);
  return positions;
}

// Where ranks need not stay, or all-to-all does not mind them, only the number of nodes from each
// leaf counts.
void Reallocator::solve_together() {
  TreeFill fill(topology_, leaves_);
  const auto placed = fill.placed(loss_.traffic, count_by_slot(living()));
  const auto found = fill.solve(placed, wanted_, rooms_);
  if (!found) return;
  const auto taken = take(found->counts);
  auto next = taken.begin();
  for (int rank = 0; rank < rank_count(); ++rank)
    if (is_lost(rank)) answer_.positions[at(rank)] = *next++;
  if (!loss_.keep_ranks) answer_.positions = order_for_ring(std::move(answer_.positions));
  answer_.cost = answer_.lower_bound = cost(answer_.positions);
}

std::int64_t Reallocator::cost(const std::vector<int>& positions) const {
  return loss_.traffic == Traffic::kRing ? ring_cost(topology_, positions)
                                         : all_to_all_cost(topology_, positions);
}

std::optional<Reallocation> Reallocator::solve() {
  answer_.cost_before = cost(loss_.positions);
  answer_.cost = answer_.lower_bound = answer_.cost_before;
  if (wanted_ == 0) return answer_;
  if (good_.count() + spare_.count() < wanted_) return std::nullopt;
  choose_leaves();
  if (loss_.keep_ranks && loss_.traffic == Traffic::kRing)
    solve_ring();
  else
    solve_together();
  return answer_;
}

}  // namespace

std::optional<Reallocation> reallocate(const Topology& topology, const Loss& loss) {
  return Reallocator(topology, loss).solve();
}

}  // namespace acrf
