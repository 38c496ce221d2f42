// SPDX-License-Identifier: GPL-2.0-or-later
// Since when the node has had its GPU driver: when several nodes fail in the same way within a day
// of a change, the driver is the suspect and not the nodes. Kept in a file through reboots, which
// is when drivers change.
#pragma once

#include <cstdint>
#include <string>

namespace acrf {

class DriverAge {
 public:
  // `path`: where it is kept. A driver that is met there for the first time is not taken for new:
  // since when it has been there is not known.
  explicit DriverAge(std::string path);

  // What a look at the GPUs says; empty: nothing.
  void note(const std::string& version, std::int64_t unix_s);

  // "driver-570.86.10" when that was not yet here a day before; else empty.
  std::string if_new(std::int64_t unix_s) const;

 private:
  std::string path_;
  std::string version_;
  std::int64_t since_unix_s_ = 0;  // 0: longer than ACRF
};

}  // namespace acrf
