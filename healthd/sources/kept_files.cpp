// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/kept_files.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include "core/text.h"

namespace acrf {
namespace {

constexpr std::size_t kMostOpen = 512;  // of the 1024 that a process may have

std::optional<std::string> read_from_start(int fd) {
  char buffer[4096];
  const auto n = ::pread(fd, buffer, sizeof buffer, 0);
  if (n < 0) return std::nullopt;
  return std::string(trim(std::string_view(buffer, static_cast<std::size_t>(n))));
}

bool is_in_sysfs(int fd) {
  struct statfs status {};
  return ::fstatfs(fd, &status) == 0 && status.f_type == SYSFS_MAGIC;
}

}  // namespace

std::string KeptFiles::text(const std::string& path) {
  if (const auto kept = open_.find(path); kept != open_.end()) {
    if (auto text = read_from_start(kept->second.get())) return *text;
    open_.erase(kept);
  }
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return "";
  auto text = read_from_start(fd.get());
  if (text && open_.size() < kMostOpen && is_in_sysfs(fd.get())) open_.emplace(path, std::move(fd));
  return text.value_or("");
}

std::optional<std::uint64_t> KeptFiles::number(const std::string& path) {
  return parse_unsigned(text(path));
}

}  // namespace acrf
