// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <thread>

#include "common/file.h"

namespace acrf {

Result<DirectoryLock> DirectoryLock::take(const std::string& directory,
                                          std::chrono::milliseconds patience) {
  const std::string path = directory + "/" + kLockName;
  // Writable, because NFS grants an exclusive lock on nothing else.
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0664));
  if (!fd) return system_error("open " + path);
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return system_error("lock " + path);
    if (std::chrono::steady_clock::now() >= deadline)
      return Error{ErrorCode::kUnavailable, path + " is locked by another process"};
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return DirectoryLock(std::move(fd));
}

}  // namespace acrf
