// SPDX-License-Identifier: GPL-2.0-or-later
// Kernel records as they arrive, from /dev/kmsg or from a file of lines in the same format, each
// once across restarts of the daemon: the place of the last record that needs no second look is
// kept on disk together with the boot it belongs to.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "common/unique_fd.h"
#include "core/kernel_log.h"
#include "core/result.h"

namespace acrf {

class KernelLogSource {
 public:
  // Starts after the recorded place. Without one, at the end: what was printed before ACRF ever ran
  // on this node is history. With one of an earlier boot, a device is read from its beginning,
  // which is this boot's.
  static Result<KernelLogSource> open(const std::string& path, const std::string& cursor_path,
                                      const std::string& boot_id);

  // Readable when records may be waiting.
  int poll_fd() const { return notify_ ? notify_.get() : fd_.get(); }

  // Hands over what is there, at most a bounded number of records, and says whether there was more.
  bool read_records(const std::function<void(const KernelRecord&)>& handle);

  // Records that everything handed over so far needs no second look.
  Status save_place();

 private:
  KernelLogSource(std::string path, std::string cursor_path, std::string boot_id)
      : path_(std::move(path)),
        cursor_path_(std::move(cursor_path)),
        boot_id_(std::move(boot_id)) {}

  Status open_device();
  void skip_device_history();
  Status open_file();
  bool read_device(const std::function<void(const KernelRecord&)>& handle);
  bool read_file_lines(const std::function<void(const KernelRecord&)>& handle);
  void restore_place();

  std::string path_;
  std::string cursor_path_;
  std::string boot_id_;
  UniqueFd fd_;
  UniqueFd notify_;  // inotify on a plain file; a device is polled itself
  bool has_place_ = false;
  bool has_place_of_other_boot_ = false;
  std::uint64_t place_ = 0;  // device: sequence number after the last record; file: byte offset
  std::uint64_t saved_place_ = 0;
  std::string partial_;  // a line whose end has not been written yet
};

// The kernel's name for this boot.
Result<std::string> read_boot_id();

}  // namespace acrf
