// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/job_array.h"

#include <algorithm>

#include "core/text.h"

namespace acrf {
namespace {

constexpr std::uint64_t kMostTasks = 10'000'000;

// "N", "N-M" or "N-M:STEP"
std::uint64_t tasks_in_range(std::string_view range) {
  const auto first = take_unsigned(range);
  const auto last = take_prefix(range, "-") ? take_unsigned(range) : first;
  const auto step = take_prefix(range, ":") ? take_unsigned(range) : 1;
  if (!first || !last || !step || *step == 0 || *last < *first) return 1;
  return std::min((*last - *first) / *step, kMostTasks) + 1;
}

}  // namespace

std::int64_t tasks_in_array(std::string_view indices) {
  std::uint64_t tasks = 0;
  for (const auto range : split(indices.substr(0, indices.find('%')), ','))
    tasks = std::min(tasks + tasks_in_range(trim(range)), kMostTasks);
  return static_cast<std::int64_t>(std::max<std::uint64_t>(tasks, 1));
}

}  // namespace acrf
