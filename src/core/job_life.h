// SPDX-License-Identifier: GPL-2.0-or-later
// The life of a job as a timeline, and what its faults have cost: what slurmctld, the checkpoint
// directory and the logs of decisions each know of it, put in order. A run that ended before its
// time is useful up to the checkpoint from which the next one began; the rest was done again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/resume.h"
#include "core/run_history.h"

namespace acrf {

// What slurmctld says of the job now.
struct LifeFacts {
  std::uint32_t id = 0;
  std::string state, reason;
  std::int64_t submit_unix_s = 0;  // of a requeued job: of its requeue
  std::int64_t start_unix_s = 0;   // of this run; 0: it waits
  std::int64_t end_unix_s = 0;     // 0: it has not ended
  unsigned restarts = 0;
  std::string nodes;  // host list
  std::string admin_comment;
};

struct CheckpointFact {
  std::string name;
  std::int64_t published_unix_s = 0;
  std::optional<std::int64_t> step;  // as its name says
};

// How far a run came, where that is known.
struct ReachedStep {
  unsigned restart = 0;
  std::int64_t step = 0;
};

struct LifeEvent {
  std::int64_t unix_ms = 0;
  std::string what;  // submitted, started, requeued, ended, checkpoint, resumed; others have theirs
  std::string text;
};

struct LifeSources {
  LifeFacts job;
  std::int64_t now_unix_s = 0;
  std::vector<CheckpointFact> checkpoints;  // complete ones
  std::vector<ResumeRecord> resumed;
  std::vector<ReachedStep> reached;
  std::vector<LifeEvent> others;  // placements, incidents, acts
};

struct JobLife {
  std::vector<LifeEvent> events;  // by time
  unsigned restarts = 0;
  double wall_s = 0;                       // from the first start to the end, or now
  double waiting_s = 0;                    // of it without nodes
  double redone_s = 0;                     // of it work that was lost
  double useful_s = 0;                     // the rest
  std::optional<double> ettr;              // useful over wall; none before it has run
  std::optional<std::int64_t> steps_lost;  // none: not known of all runs
  bool complete = true;  // false: the first runs are forgotten, and the sums are of the others
};

JobLife tell_life(const LifeSources& sources);

}  // namespace acrf
