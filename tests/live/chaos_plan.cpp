// SPDX-License-Identifier: GPL-2.0-or-later
#include "chaos_plan.h"

#include <algorithm>

#include "unit/random.h"

namespace acrf::minicluster {
namespace {

struct Row {
  Disturbance kind;
  std::string_view name;
  int share;              // of a deck
  int least_ms, most_ms;  // how long it lasts
};

// As in a deck of cards, every kind has its turn within half a minute.
constexpr Row kRows[] = {
    {Disturbance::kControllerKilled, "slurmctld killed", 1, 100, 3000},
    {Disturbance::kControllerFrozen, "slurmctld frozen", 1, 500, 5000},
    {Disturbance::kControllerLost, "slurmctld lost", 1, 18000, 22000},
    {Disturbance::kBackupKilled, "backup slurmctld killed", 1, 100, 8000},
    {Disturbance::kBackupFrozen, "backup slurmctld frozen", 1, 500, 5000},
    {Disturbance::kSlurmdKilled, "slurmd killed", 2, 100, 8000},
    {Disturbance::kSlurmdFrozen, "slurmd frozen", 1, 500, 20000},
    {Disturbance::kHealthdKilled, "healthd killed", 2, 100, 6000},
    {Disturbance::kHealthdFrozen, "healthd frozen", 1, 500, 10000},
    {Disturbance::kHubKilled, "hub killed", 1, 100, 8000},
    {Disturbance::kHubFrozen, "hub frozen", 1, 500, 8000},
    {Disturbance::kProcessKilled, "job process killed", 1, 0, 0},
    {Disturbance::kProcessFrozen, "job process frozen", 1, 500, 8000},
    {Disturbance::kNodeCutOff, "node cut off", 1, 1000, 25000},
    // Long enough to be noticed, by Slurm's SlurmdTimeout at the latest, whatever else is broken.
    {Disturbance::kNodeKilled, "node killed", 1, 46000, 54000},
    {Disturbance::kDiskFull, "disk full", 1, 3000, 12000},
    {Disturbance::kGpuLost, "GPU lost", 2, 0, 0},
    {Disturbance::kGpuToReset, "GPU wants a reset", 2, 0, 0},
    {Disturbance::kProgramFault, "program's Xid", 1, 0, 0},
};

constexpr int kLeastGap_ms = 700, kMostGap_ms = 1900;
constexpr int kCalm_ms = 5000;      // between two disturbances of slurmctld
constexpr int kBacklog_ms = 45000;  // of those; more are left out
constexpr int kNodeCalm_ms = 1000;

const Row& row_of(Disturbance kind) {
  return *std::find_if(std::begin(kRows), std::end(kRows),
                       [&](const Row& row) { return row.kind == kind; });
}

int between(Random& random, int least, int most) {
  return least == most ? least : least + random.below(most - least + 1);
}

template <typename T>
void shuffle(std::vector<T>& cards, Random& random) {
  for (std::size_t left = cards.size(); left > 1; --left)
    std::swap(cards[left - 1], cards[static_cast<std::size_t>(random.below(int(left)))]);
}

// One by one: of two controllers, one that was frozen must not wake up to find that the other has
// taken over, which Slurm does not survive. A backup that is killed can't.
bool hits_controllers(Disturbance kind) {
  return kind == Disturbance::kControllerKilled || kind == Disturbance::kControllerFrozen ||
         kind == Disturbance::kControllerLost || kind == Disturbance::kBackupFrozen;
}

// Takes a daemon, the cable or the disk of one node: not while another does.
bool occupies_node(Disturbance kind) {
  switch (kind) {
    case Disturbance::kSlurmdKilled:
    case Disturbance::kSlurmdFrozen:
    case Disturbance::kHealthdKilled:
    case Disturbance::kHealthdFrozen:
    case Disturbance::kNodeCutOff:
    case Disturbance::kNodeKilled:
    case Disturbance::kDiskFull: return true;
    default: return false;
  }
}

class Planner {
 public:
  Planner(std::uint64_t seed, int seconds, int nodes)
      : random_(seed), end_ms_(std::int64_t{1000} * seconds), free_ms_(std::size_t(nodes), 0) {}

  ChaosPlan plan() {
    plan_jobs();
    while (now_ms_ < end_ms_) plan_deck();
    std::stable_sort(plan_.disturbances.begin(), plan_.disturbances.end(),
                     [](const auto& a, const auto& b) { return a.at_ms < b.at_ms; });
    return std::move(plan_);
  }

 private:
  void plan_jobs() {
    for (std::int64_t at = 0; at < end_ms_; at += between(random_, 1500, 4000)) {
      PlannedJob job;
      job.at_ms = at;
      job.failover = random_.one_in(5);
      job.nodes = job.failover ? 3 : 1 + random_.below(2);
      job.gpus_per_node = 1 << random_.below(4);
      job.steps = between(random_, 12, 40);
      plan_.jobs.push_back(job);
    }
  }

  void plan_deck() {
    std::vector<Disturbance> deck;
    for (const auto& row : kRows) deck.insert(deck.end(), std::size_t(row.share), row.kind);
    shuffle(deck, random_);
    for (const auto kind : deck) {
      now_ms_ += between(random_, kLeastGap_ms, kMostGap_ms);
      if (now_ms_ >= end_ms_) return;
      add(kind);
    }
  }

  void add(Disturbance kind) {
    const auto& row = row_of(kind);
    PlannedDisturbance next;
    next.at_ms = now_ms_;
    next.kind = kind;
    next.lasts_ms = between(random_, row.least_ms, row.most_ms);
    next.node = random_.below(int(free_ms_.size()));
    next.pick = static_cast<unsigned>(random_.below(1 << 20));
    for (const auto* free_ms : free_times(kind)) next.at_ms = std::max(next.at_ms, *free_ms);
    if (next.at_ms >= std::min(end_ms_, now_ms_ + kBacklog_ms)) return;
    for (auto* free_ms : free_times(kind))
      *free_ms = next.at_ms + next.lasts_ms + (free_ms == &controllers_free_ms_ ? kCalm_ms : 0);
    if (occupies_node(kind) && !find_free_node(next)) return;
    plan_.disturbances.push_back(next);
  }

  // When what it hits, beside nodes, is left alone again: it waits until then.
  std::vector<std::int64_t*> free_times(Disturbance kind) {
    std::vector<std::int64_t*> times;
    if (hits_controllers(kind)) times.push_back(&controllers_free_ms_);
    if (kind == Disturbance::kBackupKilled || kind == Disturbance::kBackupFrozen)
      times.push_back(&backup_free_ms_);
    if (kind == Disturbance::kHubKilled || kind == Disturbance::kHubFrozen)
      times.push_back(&hub_free_ms_);
    return times;
  }

  bool take(std::int64_t& free_ms, std::int64_t for_ms) {
    if (free_ms > now_ms_) return false;
    free_ms = now_ms_ + for_ms;
    return true;
  }

  bool find_free_node(PlannedDisturbance& next) {
    for (std::size_t tried = 0; tried < free_ms_.size(); ++tried) {
      if (take(free_ms_[std::size_t(next.node)], next.lasts_ms + kNodeCalm_ms)) return true;
      next.node = (next.node + 1) % int(free_ms_.size());
    }
    return false;
  }

  Random random_;
  std::int64_t end_ms_, now_ms_ = 1000;
  std::int64_t controllers_free_ms_ = 0, backup_free_ms_ = 0, hub_free_ms_ = 0;
  std::vector<std::int64_t> free_ms_;  // by node, when it is left alone again
  ChaosPlan plan_;
};

}  // namespace

std::string_view name_of(Disturbance kind) { return row_of(kind).name; }

const std::vector<Disturbance>& all_disturbances() {
  static const std::vector<Disturbance> kinds = [] {
    std::vector<Disturbance> all;
    for (const auto& row : kRows) all.push_back(row.kind);
    return all;
  }();
  return kinds;
}

ChaosPlan chaos_plan(std::uint64_t seed, int seconds, int nodes) {
  return Planner(seed, seconds, nodes).plan();
}

}  // namespace acrf::minicluster
