// SPDX-License-Identifier: GPL-2.0-or-later
// A file of lines in /dev/kmsg's format that somebody appends to, truncates and rotates. The place
// is a byte offset and the inode that it counts in, so that an offset never falls into another
// file.
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include "common/file.h"
#include "core/text.h"
#include "sources/kernel_log_reader.h"

namespace acrf {
namespace {

constexpr std::size_t kLongestLine = 8192;
constexpr std::size_t kBytesPerCall = 65536;

std::uint64_t inode_of(int fd) {
  struct stat status;
  return ::fstat(fd, &status) == 0 ? status.st_ino : 0;
}

std::uint64_t size_of(int fd) {
  struct stat status;
  return ::fstat(fd, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

UniqueFd open_log(const std::string& path) {
  return UniqueFd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
}

class KernelLogFile : public KernelLogReader {
 public:
  explicit KernelLogFile(std::string path) : path_(std::move(path)) {}

  Status start(UniqueFd fd, std::uint64_t offset) {
    notify_.reset(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    if (!notify_) return system_error("watch " + path_);
    const auto slash = path_.rfind('/');
    const std::string directory =
        slash == std::string::npos ? "." : path_.substr(0, std::max<std::size_t>(slash, 1));
    if (::inotify_add_watch(notify_.get(), directory.c_str(), IN_CREATE | IN_MOVED_TO) < 0)
      return system_error("watch " + directory);
    return enter(std::move(fd), offset);
  }

  int poll_fd() const override { return notify_.get(); }
  std::string place() const override {
    return std::to_string(offset_) + " " + std::to_string(inode_);
  }

  bool read(const Handle& handle) override {
    char buffer[kBytesPerCall];
    while (::read(notify_.get(), buffer, sizeof buffer) > 0) {
    }
    const ssize_t n = ::read(fd_.get(), buffer, sizeof buffer);
    if (n > 0) take({buffer, static_cast<std::size_t>(n)}, handle);
    return n == static_cast<ssize_t>(sizeof buffer) || moved_on();
  }

 private:
  Status enter(UniqueFd fd, std::uint64_t offset) {
    if (::lseek(fd.get(), static_cast<off_t>(offset), SEEK_SET) < 0)
      return system_error("seek in " + path_);
    const std::string self = "/proc/self/fd/" + std::to_string(fd.get());
    const int watch = ::inotify_add_watch(notify_.get(), self.c_str(), IN_MODIFY);
    if (watch < 0) return system_error("watch " + path_);
    if (watch_ >= 0 && watch != watch_) ::inotify_rm_watch(notify_.get(), watch_);
    watch_ = watch;
    inode_ = inode_of(fd.get());
    offset_ = offset;
    partial_.clear();
    is_overlong_ = false;
    fd_ = std::move(fd);
    return Done{};
  }

  // At the end of what is there: was the file cut, or is there a new one with lines in it already?
  bool moved_on() {
    if (size_of(fd_.get()) < offset_ + partial_.size()) return enter(open_copy(), 0).ok();
    UniqueFd now = open_log(path_);
    if (!now || inode_of(now.get()) == inode_ || size_of(now.get()) == 0) return false;
    return enter(std::move(now), 0).ok();
  }

  UniqueFd open_copy() const { return UniqueFd(::fcntl(fd_.get(), F_DUPFD_CLOEXEC, 0)); }

  void take(std::string_view bytes, const Handle& handle) {
    partial_.append(bytes);
    std::size_t begin = 0;
    for (auto end = partial_.find('\n'); end != std::string::npos;
         end = partial_.find('\n', begin)) {
      const auto line = std::string_view(partial_).substr(begin, end - begin);
      offset_ += end + 1 - begin;
      begin = end + 1;
      const auto record = is_overlong_ ? std::nullopt : parse_kernel_record(line);
      is_overlong_ = false;
      if (record) handle(*record);
    }
    partial_.erase(0, begin);
    if (partial_.size() <= kLongestLine) return;
    offset_ += partial_.size();
    partial_.clear();
    is_overlong_ = true;  // the rest of the line is no record either
  }

  std::string path_;
  UniqueFd fd_;
  UniqueFd notify_;
  int watch_ = -1;  // on the file at hand
  std::uint64_t inode_ = 0;
  std::uint64_t offset_ = 0;  // of the first byte that was not handed over
  std::string partial_;       // a line whose end has not been written yet
  bool is_overlong_ = false;
};

}  // namespace

OpenedKernelLog follow_kernel_log_file(UniqueFd fd, const std::string& path,
                                       const SavedPlace& place) {
  std::uint64_t offset = size_of(fd.get());
  const auto words = split(place.text, ' ');
  if (const auto saved = parse_unsigned(words[0])) {
    const auto inode = words.size() > 1 ? parse_unsigned(words[1]).value_or(0) : inode_of(fd.get());
    // What was printed before a rotation is in the file that logrotate has set aside.
    UniqueFd aside = inode == inode_of(fd.get()) ? UniqueFd() : open_log(path + ".1");
    const bool found_aside = aside && inode_of(aside.get()) == inode;
    if (found_aside) fd = std::move(aside);
    const bool same_file = found_aside || inode == inode_of(fd.get());
    offset = same_file && *saved <= size_of(fd.get()) ? *saved : 0;
  }
  auto file = std::make_unique<KernelLogFile>(path);
  if (const auto started = file->start(std::move(fd), offset); !started) return started.error();
  return std::unique_ptr<KernelLogReader>(std::move(file));
}

}  // namespace acrf
