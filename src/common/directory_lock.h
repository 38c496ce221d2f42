// SPDX-License-Identifier: GPL-2.0-or-later
// An exclusive lock on a directory's ACRF files, held until its owner's end, on a local disk or
// over NFS.
//
// The lock is on a file of its own that nobody ever replaces. A lock on a file that is renamed over
// would belong to the old file, and the next to come would lock the new one.
#pragma once

#include <chrono>
#include <string>

#include "common/unique_fd.h"
#include "core/result.h"

namespace acrf {

inline constexpr const char* kLockName = ".acrf-lock";

class DirectoryLock {
 public:
  // Gives up after `patience`, since the holder may be on a node that is lost.
  static Result<DirectoryLock> take(const std::string& directory,
                                    std::chrono::milliseconds patience);

 private:
  explicit DirectoryLock(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
};

}  // namespace acrf
