// SPDX-License-Identifier: GPL-2.0-or-later
// How many tasks "--array=0-15:4,20%2" has.
#pragma once

#include <cstdint>
#include <string_view>

namespace acrf {

// 1 for an empty text. What is no range counts as one task: refusing it is for Slurm.
std::int64_t tasks_in_array(std::string_view indices);

}  // namespace acrf
