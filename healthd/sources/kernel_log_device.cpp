// SPDX-License-Identifier: GPL-2.0-or-later
// /dev/kmsg: one record per read, numbered by the kernel. A reader that is too slow gets EPIPE and
// goes on with the oldest record that is left; the numbers tell how many are missing.
#include <cerrno>
#include <ctime>
#include <optional>

#include "common/file.h"
#include "core/text.h"
#include "sources/kernel_log_reader.h"

namespace acrf {
namespace {

constexpr int kRecordsPerCall = 200;
constexpr std::size_t kLongestRecord = 8192;  // the kernel never gives more

class KernelLogDevice : public KernelLogReader {
 public:
  KernelLogDevice(UniqueFd fd, std::optional<std::uint64_t> next)
      : fd_(std::move(fd)), next_(next) {}

  int poll_fd() const override { return fd_.get(); }
  std::uint64_t lost() const override { return lost_; }
  std::string place() const override { return next_ ? std::to_string(*next_) : ""; }

  bool read(const Handle& handle) override {
    for (int i = 0; i < kRecordsPerCall; ++i)
      if (!read_one(handle)) return false;
    return true;
  }

  // Everything that was printed before now is history. True when something newer was met, which is
  // to be read again.
  bool skip_history(std::uint64_t now_us) {
    std::optional<std::uint64_t> news;
    const auto look = [&](const KernelRecord& record) {
      if (record.uptime_us >= now_us) news = record.sequence;
    };
    while (!news && read_one(look)) {
    }
    if (news) next_ = news;
    return news.has_value();
  }

 private:
  // False when no record is waiting.
  bool read_one(const Handle& handle) {
    char buffer[kLongestRecord];
    const ssize_t n = ::read(fd_.get(), buffer, sizeof buffer);
    if (n < 0) return errno == EPIPE || errno == EINTR || errno == EINVAL;
    if (n == 0) return false;
    const auto record = parse_kernel_record({buffer, static_cast<std::size_t>(n)});
    if (!record || (next_ && record->sequence < *next_)) return true;
    if (next_) lost_ += record->sequence - *next_;
    next_ = record->sequence + 1;
    handle(*record);
    return true;
  }

  UniqueFd fd_;
  std::optional<std::uint64_t> next_;  // number of the next record; unknown before the first
  std::uint64_t lost_ = 0;
};

std::uint64_t uptime_us() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec) / 1000;
}

}  // namespace

OpenedKernelLog read_kernel_log_device(UniqueFd fd, const std::string& path,
                                       const SavedPlace& place) {
  const int raw = fd.get();
  const auto rewind = [raw] { return ::lseek(raw, 0, SEEK_SET) >= 0 || errno == ESPIPE; };
  if (!rewind()) return system_error("seek in " + path);
  auto device = std::make_unique<KernelLogDevice>(std::move(fd), parse_unsigned(place.text));
  if (device->place().empty() && !place.of_other_boot && device->skip_history(uptime_us()))
    if (!rewind()) return system_error("seek in " + path);
  return std::unique_ptr<KernelLogReader>(std::move(device));
}

}  // namespace acrf
