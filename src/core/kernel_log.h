// SPDX-License-Identifier: GPL-2.0-or-later
// Records of the kernel log as /dev/kmsg gives them:
// "priority,sequence,microseconds,flags;message". The priority's upper bits are the facility.
// Anyone who may write to /dev/kmsg can print a line that looks like a driver's, but the kernel
// then marks it with a facility above zero.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace acrf {

struct KernelRecord {
  std::uint64_t sequence = 0;
  std::uint64_t uptime_us = 0;
  bool from_kernel = false;  // facility 0
  std::string_view message;  // first line, points into the parsed text
};

std::optional<KernelRecord> parse_kernel_record(std::string_view text);

}  // namespace acrf
