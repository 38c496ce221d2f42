// SPDX-License-Identifier: GPL-2.0-or-later
// How often a job may be requeued, for each cause by itself: a program that fails does not use up
// what is meant for failing hardware. The count travels with the job as a word of its admin
// comment, "acrf-requeues:seen=3,hardware=1,application=2,failed=1@n3+1@n7", and so outlives
// slurmctld.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace acrf {

enum class RequeueCause {
  kHardware,     // ACRF took a node of the job out of service
  kNode,         // a node went down, and nobody knows why
  kPreemption,   // another job needed the place
  kApplication,  // the program failed, and ACRF requeued the job for it
  kOther,        // a person or RequeueExit asked for it: never counted against the job
};
inline constexpr int kCountedCauses = 4;

// A program that failed, and the first of the nodes it failed on.
struct ProgramFailure {
  int status = 0;  // exit code, or 128 + signal
  std::string node;
  bool operator==(const ProgramFailure&) const = default;
};

struct RequeueCount {
  int seen = 0;  // Slurm's count of restarts up to which they are counted here
  std::array<int, kCountedCauses> by_cause{};
  std::vector<ProgramFailure> failures;  // the last few
  bool operator==(const RequeueCount&) const = default;

  int of(RequeueCause cause) const;
};

struct RequeueBudget {
  std::array<int, kCountedCauses> most{};
  int backoff_s = 30;
};

enum class RequeueStep { kRelease, kHold };

struct RequeueVerdict {
  RequeueStep step = RequeueStep::kRelease;
  int wait_s = 0;      // before it may start
  std::string reason;  // why it is held, for the job's reason
};

// A program says by this exit code that another run would fail too.
inline constexpr int kDoNotRequeue = 93;

// Counts one more requeue, Slurm's `restart`th, and says what becomes of the job. `failure` is of
// use for programs only: the same failure on three different nodes is the program's, not the
// nodes'.
RequeueVerdict count_requeue(RequeueCount& count, int restart, RequeueCause cause,
                             const RequeueBudget& budget,
                             const std::optional<ProgramFailure>& failure);

// Whether a program that failed is to be requeued at all.
bool may_retry(const RequeueCount& count, const RequeueBudget& budget, int status);

std::string_view name_of(RequeueCause cause);

// The comment with the count's word in it, in place of an older one; other words stay.
std::string with_requeue_count(std::string_view comment, const RequeueCount& count);
// What the comment says; all 0 without the word or with a damaged one.
RequeueCount find_requeue_count(std::string_view comment);

}  // namespace acrf
