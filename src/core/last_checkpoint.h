// SPDX-License-Identifier: GPL-2.0-or-later
// The last checkpoint of a job before its requeue. Some faults take the node out of service and yet
// leave its GPUs at work: then the job is asked to save itself, and gets some time for it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/fault.h"
#include "core/policy.h"

namespace acrf {

inline constexpr int kLongestLastCheckpoint_s = 3600;
inline constexpr std::string_view kCheckpointSignals = "USR1, USR2, TERM, INT, HUP or CONT";

bool is_checkpoint_signal(std::string_view name);

// Whether the GPUs still compute, and right. Of a class that is not known to be so: no.
bool allows_last_checkpoint(const Verdict& verdict);

// Seconds that a job of this policy gets; 0: none. `site_s` is the site's word for jobs that train
// and have a directory to save to; others have to ask for it.
int last_checkpoint_s(const JobPolicy& policy, int site_s);

// A job that was asked for one.
struct LastCheckpointOrder {
  std::uint32_t job = 0;
  std::uint32_t restarts = 0;     // which run of it
  std::int64_t asked_unix_s = 0;  // when
  std::string newest;             // complete checkpoint before that; empty: none
  bool is_over = false;           // it has saved, or its time is up
  bool operator==(const LastCheckpointOrder&) const = default;
};

}  // namespace acrf
