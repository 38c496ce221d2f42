// SPDX-License-Identifier: GPL-2.0-or-later
// Hangs and stragglers of a job whose ranks say which step they have done. The ranks of a training
// job wait for each other, so a job that hangs does so as a whole, and a slow rank slows down all
// of them: what tells the one from the others is who fell behind first, and who comes last to each
// step. Jobs that report nothing are never judged.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace acrf {

struct ProgressRules {
  double hang_factor = 10;        // times the usual time of a step without any step done
  double hang_floor_s = 60;       // but never less than this
  double straggler_factor = 1.5;  // comes this much later than its peers, in usual steps, plus one
  double straggler_s = 300;       // for this long
  int steps_to_know = 5;          // before anything is usual
};

struct ProgressVerdict {
  bool hangs = false;
  double silent_s = 0;        // since the last step of any rank
  std::vector<int> suspects;  // of the hang: who stopped first; empty: all at the same step
  std::vector<int> stragglers;
};

class ProgressWatch {
 public:
  explicit ProgressWatch(const ProgressRules& rules) : rules_(rules) {}

  // The rank has done this step, by a clock that all ranks share. Out of order, or twice: ignored.
  void note(int rank, std::int64_t step, double at_s);
  // The usual time of a step: the median of the last ones; nothing before there are some.
  std::optional<double> usual_step_s() const;
  ProgressVerdict judge(double now_s) const;

 private:
  struct Rank {
    std::int64_t step = -1;
    double at_s = 0;
    double behind_since_s = -1;  // below 0: it keeps up
  };

  void note_lateness(Rank& rank, std::int64_t step, double at_s);
  bool is_forgotten(std::int64_t step) const;

  ProgressRules rules_;
  std::map<int, Rank> ranks_;
  std::map<std::int64_t, std::vector<double>> arrivals_;  // by step, the last few
  std::vector<double> step_times_;                        // of the first rank there, the last ones
};

}  // namespace acrf
