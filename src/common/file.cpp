// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/file.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>

#include "common/unique_fd.h"

namespace acrf {
namespace {

bool write_all(int fd, const std::string& text) {
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = ::write(fd, text.data() + written, text.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    written += static_cast<std::size_t>(n);
  }
  return true;
}

std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Status replace(const std::string& path, const std::string& text, unsigned mode, bool sync) {
  const std::string draft = path + ".draft." + std::to_string(::getpid());
  {
    const UniqueFd fd(::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
    if (!fd) return system_error("create " + draft);
    if (!write_all(fd.get(), text) || (sync && ::fsync(fd.get()) != 0)) {
      const Error error = system_error("write " + draft);
      ::unlink(draft.c_str());
      return error;
    }
  }
  if (::rename(draft.c_str(), path.c_str()) != 0) return system_error("rename " + draft);
  return Done{};
}

}  // namespace

Error system_error(const std::string& doing) {
  const int code = errno;
  return {code == ENOENT ? ErrorCode::kNotFound : ErrorCode::kSystem,
          doing + ": " + std::strerror(code)};
}

Result<std::string> read_file(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return system_error("open " + path);
  std::string text;
  char buffer[65536];
  while (true) {
    const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error("read " + path);
    if (n == 0) return text;
    text.append(buffer, static_cast<std::size_t>(n));
  }
}

Status write_file(const std::string& path, const std::string& text, unsigned mode) {
  if (const auto replaced = replace(path, text, mode, true); !replaced) return replaced;
  const UniqueFd directory(::open(directory_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory || ::fsync(directory.get()) != 0)
    return system_error("sync " + directory_of(path));
  return Done{};
}

Status replace_file(const std::string& path, const std::string& text, unsigned mode) {
  return replace(path, text, mode, false);
}

Status append_file(const std::string& path, const std::string& text) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!fd) return system_error("open " + path);
  if (!write_all(fd.get(), text)) return system_error("append to " + path);
  return Done{};
}

}  // namespace acrf
