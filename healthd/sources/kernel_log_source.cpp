// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/kernel_log_source.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include <cerrno>

#include "common/file.h"
#include "core/text.h"

namespace acrf {
namespace {

constexpr int kRecordsPerCall = 1000;
constexpr std::size_t kLongestLine = 8192;  // /dev/kmsg itself never gives more

}  // namespace

Result<std::string> read_boot_id() {
  const auto text = read_file("/proc/sys/kernel/random/boot_id");
  if (!text) return text.error();
  return std::string(trim(*text));
}

Result<KernelLogSource> KernelLogSource::open(const std::string& path,
                                              const std::string& cursor_path,
                                              const std::string& boot_id) {
  KernelLogSource source(path, cursor_path, boot_id);
  source.restore_place();
  source.fd_.reset(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!source.fd_) return system_error("open " + path);
  struct stat status;
  if (::fstat(source.fd_.get(), &status) != 0) return system_error("stat " + path);
  const auto opened = S_ISCHR(status.st_mode) ? source.open_device() : source.open_file();
  if (!opened) return opened.error();
  return source;
}

// "BOOT-ID PLACE"
void KernelLogSource::restore_place() {
  const auto text = read_file(cursor_path_);
  if (!text) return;
  const auto words = split(trim(*text), ' ');
  if (words.size() != 2) return;
  has_place_of_other_boot_ = words[0] != boot_id_;
  if (has_place_of_other_boot_) return;
  if (const auto place = parse_unsigned(words[1])) {
    has_place_ = true;
    place_ = saved_place_ = *place;
  }
}

Status KernelLogSource::save_place() {
  if (place_ == saved_place_) return Done{};
  const auto saved = write_file(cursor_path_, boot_id_ + " " + std::to_string(place_) + "\n");
  if (saved) saved_place_ = place_;
  return saved;
}

// Reading begins at the oldest record and skips up to the place.
Status KernelLogSource::open_device() {
  if (::lseek(fd_.get(), 0, SEEK_SET) < 0) return system_error("seek in " + path_);
  if (has_place_ || has_place_of_other_boot_) return Done{};
  skip_device_history();
  return save_place();
}

void KernelLogSource::skip_device_history() {
  while (read_device([](const KernelRecord&) {})) {
  }
}

Status KernelLogSource::open_file() {
  const off_t end = ::lseek(fd_.get(), 0, SEEK_END);
  if (end < 0) return system_error("seek in " + path_);
  if (!has_place_ || place_ > static_cast<std::uint64_t>(end))
    place_ = static_cast<std::uint64_t>(end);
  if (::lseek(fd_.get(), static_cast<off_t>(place_), SEEK_SET) < 0)
    return system_error("seek in " + path_);
  notify_.reset(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!notify_ || ::inotify_add_watch(notify_.get(), path_.c_str(), IN_MODIFY) < 0)
    return system_error("watch " + path_);
  saved_place_ = place_ + 1;  // so that it is written now
  return save_place();
}

bool KernelLogSource::read_records(const std::function<void(const KernelRecord&)>& handle) {
  return notify_ ? read_file_lines(handle) : read_device(handle);
}

bool KernelLogSource::read_device(const std::function<void(const KernelRecord&)>& handle) {
  char buffer[kLongestLine];
  for (int i = 0; i < kRecordsPerCall; ++i) {
    const ssize_t n = ::read(fd_.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EPIPE) continue;  // records were overwritten before they were read
    if (n <= 0) return false;
    const auto record = parse_kernel_record({buffer, static_cast<std::size_t>(n)});
    if (!record) continue;
    if (has_place_ && record->sequence < place_) continue;
    place_ = record->sequence + 1;
    handle(*record);
  }
  return true;
}

bool KernelLogSource::read_file_lines(const std::function<void(const KernelRecord&)>& handle) {
  char buffer[65536];
  while (::read(notify_.get(), buffer, sizeof buffer) > 0) {
  }
  const ssize_t n = ::read(fd_.get(), buffer, sizeof buffer);
  if (n <= 0) return false;
  partial_.append(buffer, static_cast<std::size_t>(n));
  std::size_t begin = 0;
  for (auto end = partial_.find('\n'); end != std::string::npos; end = partial_.find('\n', begin)) {
    const auto record = parse_kernel_record(std::string_view(partial_).substr(begin, end - begin));
    place_ += end + 1 - begin;
    begin = end + 1;
    if (record) handle(*record);
  }
  partial_.erase(0, begin);
  if (partial_.size() > kLongestLine) {
    place_ += partial_.size();
    partial_.clear();
  }
  return n == static_cast<ssize_t>(sizeof buffer);
}

}  // namespace acrf
