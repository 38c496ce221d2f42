// SPDX-License-Identifier: GPL-2.0-or-later
// Kernel records as they arrive, from /dev/kmsg, from a file of lines in the same format or from
// the journal, each once across restarts of the daemon: the place of the last record that needs no
// second look is kept on disk together with the boot it belongs to.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/kernel_log.h"
#include "core/result.h"
#include "sources/kernel_log_reader.h"

namespace acrf {

class KernelLogSource {
 public:
  // `path` is a device, a file, or "journal". Starts after the recorded place. Without one, at the
  // end: what was printed before ACRF ever ran on this node is history. With one of an earlier
  // boot, device and journal are read from the beginning of this boot.
  static Result<KernelLogSource> open(const std::string& path, const std::string& cursor_path,
                                      const std::string& boot_id);

  int poll_fd() const { return reader_->poll_fd(); }

  // Hands over what is there, at most a bounded number of records, and says whether there was more.
  bool read_records(const std::function<void(const KernelRecord&)>& handle) {
    return has_more_ = reader_->read(handle);
  }

  // The last read left records behind that poll_fd() does not tell of.
  bool has_more() const { return has_more_; }

  std::uint64_t lost() const { return reader_->lost(); }

  // Records that everything handed over so far needs no second look.
  Status save_place();

 private:
  KernelLogSource(std::string cursor_path, std::string boot_id)
      : cursor_path_(std::move(cursor_path)), boot_id_(std::move(boot_id)) {}

  std::string cursor_path_;
  std::string boot_id_;
  std::unique_ptr<KernelLogReader> reader_;
  std::string saved_place_;
  bool has_more_ = true;
};

// The kernel's name for this boot.
// `root` stands before /proc where a test cluster has one there.
Result<std::string> read_boot_id(const std::string& root = "");

}  // namespace acrf
