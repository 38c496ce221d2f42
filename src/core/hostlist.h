// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's host list expressions: "n[1-4,7],gpu-r[01-02]c[1-2]".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace acrf {

// A typing error must not eat the memory.
inline constexpr std::size_t kMostHosts = 1'000'000;

// Every name, in the order written. An Error says what is wrong and where; more names than `most`
// are one.
Result<std::vector<std::string>> expand_hostlist(std::string_view text,
                                                 std::size_t most = kMostHosts);

// The shortest plain form: runs of numbers with the same prefix and width become ranges.
std::string compress_hostlist(const std::vector<std::string>& names);

}  // namespace acrf
