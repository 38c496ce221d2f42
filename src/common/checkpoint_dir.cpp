// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/checkpoint_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "core/text.h"

namespace acrf {
namespace {

struct CloseDir {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

bool is_plain_name(std::string_view part) {
  return !part.empty() && part != "." && part != ".." && part.find('\0') == std::string_view::npos;
}

std::int64_t modified_ns(const struct stat& status) {
  return static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
}

bool read_at(int fd, std::uint64_t offset, std::string& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n =
        ::pread(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  bytes.resize(done);
  return true;
}

}  // namespace

CheckpointDir::CheckpointDir(const std::string& path)
    : root_(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}

// One part after another, since the kernel's own walk would follow links on the way.
UniqueFd CheckpointDir::open_parent(const std::string& path, std::string& last) const {
  const auto parts = split(path, '/');
  for (const auto part : parts)
    if (!is_plain_name(part)) return UniqueFd();
  last = std::string(parts.back());
  UniqueFd at(::openat(root_.get(), ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (std::size_t i = 0; at && i + 1 < parts.size(); ++i) {
    at = UniqueFd(::openat(at.get(), std::string(parts[i]).c_str(),
                           O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
  return at;
}

int CheckpointDir::open_directory(const std::string& path) const {
  constexpr int kHow = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  if (path.empty()) return ::openat(root_.get(), ".", kHow);
  std::string last;
  const auto parent = open_parent(path, last);
  return parent ? ::openat(parent.get(), last.c_str(), kHow) : -1;
}

std::vector<CheckpointEntry> CheckpointDir::list(const std::string& path) const {
  std::vector<CheckpointEntry> entries;
  const int fd = open_directory(path);
  if (fd < 0) return entries;
  const std::unique_ptr<DIR, CloseDir> directory(::fdopendir(fd));
  if (!directory) {
    ::close(fd);
    return entries;
  }
  while (const dirent* entry = ::readdir(directory.get())) {
    struct stat status;
    if (!is_plain_name(entry->d_name) ||
        ::fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    if (!S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode)) continue;
    entries.push_back({entry->d_name, modified_ns(status), S_ISDIR(status.st_mode),
                       static_cast<std::uint64_t>(status.st_size)});
  }
  return entries;
}

std::optional<std::uint64_t> CheckpointDir::size_of(const std::string& path) const {
  std::string last;
  const auto parent = open_parent(path, last);
  struct stat status;
  if (::fstatat(parent.get(), last.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
      !S_ISREG(status.st_mode))
    return std::nullopt;
  return static_cast<std::uint64_t>(status.st_size);
}

std::optional<std::string> CheckpointDir::read(const std::string& path, std::uint64_t offset,
                                               std::size_t length) const {
  std::string last;
  const auto parent = open_parent(path, last);
  // Without O_NONBLOCK a pipe of that name would hold the job up.
  const UniqueFd fd(::openat(parent.get(), last.c_str(),
                             O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status;
  if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  std::string bytes(offset >= size ? 0 : std::min<std::uint64_t>(length, size - offset), '\0');
  if (!read_at(fd.get(), offset, bytes)) return std::nullopt;
  return bytes;
}

std::optional<std::string> newest_checkpoint(const std::string& directory,
                                             CheckpointFormat format) {
  const auto name = newest_complete(CheckpointDir(directory), format);
  return name ? std::optional(directory + "/" + *name) : std::nullopt;
}

}  // namespace acrf
