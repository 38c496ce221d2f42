// SPDX-License-Identifier: GPL-2.0-or-later
// Kernel records out of the journal. journald copies what users wrote to /dev/kmsg too, and marks
// it with their facility: only facility 0 is the kernel's own word.
#include "acrf_config.h"
#include "core/text.h"
#include "sources/kernel_log_reader.h"

#ifdef HAVE_LIBSYSTEMD
#include <systemd/sd-journal.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#endif

namespace acrf {

#ifndef HAVE_LIBSYSTEMD

OpenedKernelLog read_kernel_journal(const std::string&, const std::string&, const SavedPlace&) {
  return Error{ErrorCode::kUnavailable,
               "KernelLog=journal: this acrf-healthd was built without libsystemd"};
}

#else

namespace {

constexpr int kRecordsPerCall = 200;
constexpr std::size_t kLongestField = 8192;

Error journal_error(const std::string& doing, int code) {
  return {ErrorCode::kSystem, doing + ": " + std::strerror(-code)};
}

class KernelJournal : public KernelLogReader {
 public:
  explicit KernelJournal(sd_journal* journal) : journal_(journal) {}
  ~KernelJournal() override { ::sd_journal_close(journal_); }
  KernelJournal(const KernelJournal&) = delete;
  KernelJournal& operator=(const KernelJournal&) = delete;

  Status start(const std::string& boot_id, const SavedPlace& place) {
    std::string boot = "_BOOT_ID=";
    for (const char c : boot_id)
      if (c != '-') boot += c;
    int code = ::sd_journal_add_match(journal_, "_TRANSPORT=kernel", 0);
    if (code >= 0) code = ::sd_journal_add_match(journal_, boot.c_str(), 0);
    if (code < 0) return journal_error("select kernel records of the journal", code);
    poll_fd_ = ::sd_journal_get_fd(journal_);
    if (poll_fd_ < 0) return journal_error("watch the journal", poll_fd_);
    return seek(place);
  }

  int poll_fd() const override { return poll_fd_; }
  std::string place() const override { return cursor_; }

  bool read(const Handle& handle) override {
    ::sd_journal_process(journal_);
    for (int i = 0; i < kRecordsPerCall; ++i) {
      if (!waiting_ && ::sd_journal_next(journal_) <= 0) return false;
      waiting_ = false;
      take(handle);
    }
    return true;
  }

 private:
  Status seek(const SavedPlace& place) {
    int code = 0;
    if (!place.text.empty()) {
      cursor_ = place.text;
      code = ::sd_journal_seek_cursor(journal_, cursor_.c_str());
      // The entry of the cursor was handled; if it is gone, the next one was not.
      if (code >= 0 && (code = ::sd_journal_next(journal_)) > 0)
        waiting_ = ::sd_journal_test_cursor(journal_, cursor_.c_str()) <= 0;
    } else if (place.of_other_boot) {
      code = ::sd_journal_seek_head(journal_);
    } else {
      code = ::sd_journal_seek_tail(journal_);
      if (code >= 0 && (code = ::sd_journal_previous(journal_)) > 0) remember();
    }
    if (code < 0) return journal_error("seek in the journal", code);
    return Done{};
  }

  void remember() {
    char* cursor = nullptr;
    if (::sd_journal_get_cursor(journal_, &cursor) < 0) return;
    cursor_ = cursor;
    std::free(cursor);
  }

  std::string_view field(const char* name) {
    const void* data = nullptr;
    std::size_t size = 0;
    if (::sd_journal_get_data(journal_, name, &data, &size) < 0) return {};
    std::string_view text(static_cast<const char*>(data), size);
    text.remove_prefix(std::min(text.find('=') + 1, text.size()));
    return text.substr(0, kLongestField);
  }

  void take(const Handle& handle) {
    remember();
    KernelRecord record;
    record.from_kernel = field("SYSLOG_FACILITY") == "0";
    record.uptime_us = parse_unsigned(field("_SOURCE_MONOTONIC_TIMESTAMP")).value_or(0);
    record.sequence = parse_unsigned(fingerprint(cursor_), 16).value_or(0);
    // In one line, as /dev/kmsg has it: the fault may stand in the last one.
    message_ = field("MESSAGE");
    std::replace(message_.begin(), message_.end(), '\n', ' ');
    record.message = message_;
    if (!message_.empty()) handle(record);
  }

  sd_journal* journal_;
  int poll_fd_ = -1;
  std::string cursor_;    // of the last record that was handed over
  std::string message_;   // of the record that is being handed over
  bool waiting_ = false;  // the journal stands on a record that was not
};

}  // namespace

OpenedKernelLog read_kernel_journal(const std::string& directory, const std::string& boot_id,
                                    const SavedPlace& place) {
  sd_journal* journal = nullptr;
  const int code = directory.empty()
                       ? ::sd_journal_open(&journal, SD_JOURNAL_LOCAL_ONLY | SD_JOURNAL_SYSTEM)
                       : ::sd_journal_open_directory(&journal, directory.c_str(), 0);
  if (code < 0) return journal_error("open the journal", code);
  auto reader = std::make_unique<KernelJournal>(journal);
  if (const auto started = reader->start(boot_id, place); !started) return started.error();
  return std::unique_ptr<KernelLogReader>(std::move(reader));
}

#endif

}  // namespace acrf
