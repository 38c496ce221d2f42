// SPDX-License-Identifier: GPL-2.0-or-later
// The fence of a checkpoint directory: for each job the highest restart that has been there, and
// within it the highest step that a launcher started anew. A writer of a lower one lost its node
// and must not publish over the restarted job.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace acrf {

inline constexpr std::string_view kFenceName = ".acrf-fence";

struct Fence {
  std::uint64_t job_id = 0;
  unsigned restart = 0;
  unsigned failover = 0;  // how often the step was started anew within the restart

  bool operator==(const Fence&) const = default;
};

// "JOBID.RESTART" or "JOBID.RESTART.FAILOVER", as in ACRF_FENCE.
Result<Fence> parse_fence(std::string_view text);
std::string to_text(const Fence& fence);

// One fence a line, the one raised last at the end. Lines that make no sense are left out.
std::vector<Fence> parse_fences(std::string_view text);
std::string format_fences(const std::vector<Fence>& fences);

// Error when a later restart or failover of the job holds the fence.
Status check_fence(const std::vector<Fence>& fences, const Fence& mine);

// Puts the fence up for its job; a higher one stays. Keeps the last 32 jobs. False when nothing
// changes.
bool raise_fence(std::vector<Fence>& fences, const Fence& mine);

}  // namespace acrf
