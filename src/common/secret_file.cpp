// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/secret_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "common/file.h"
#include "common/unique_fd.h"
#include "core/text.h"

namespace acrf {

Result<std::string> read_secret(const std::string& path) {
  constexpr std::size_t kLongest = 4096;
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status;
  if (!fd || ::fstat(fd.get(), &status) != 0) return system_error("open " + path);
  if (!S_ISREG(status.st_mode) || status.st_uid != 0 || (status.st_mode & 077) != 0)
    return Error{ErrorCode::kDenied, path + " must be a file of root's that nobody else may read"};
  char buffer[kLongest];
  const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
  if (n < 0) return system_error("read " + path);
  const std::string secret(trim({buffer, static_cast<std::size_t>(n)}));
  for (const char c : secret)
    if (c < ' ' || c >= 0x7f) return Error{ErrorCode::kInvalid, path + " does not hold one key"};
  if (secret.empty()) return Error{ErrorCode::kInvalid, path + " is empty"};
  return secret;
}

}  // namespace acrf
