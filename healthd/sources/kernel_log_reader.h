// SPDX-License-Identifier: GPL-2.0-or-later
// The three places that kernel records come from: the device, a file of lines in its format, the
// journal. Each knows its place as one text that finds the next record again after a restart.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "common/unique_fd.h"
#include "core/kernel_log.h"
#include "core/result.h"

namespace acrf {

// Where an earlier run of the daemon had come to.
struct SavedPlace {
  std::string text;            // empty: nothing is known for this boot
  bool of_other_boot = false;  // there was a place, in an earlier boot
};

class KernelLogReader {
 public:
  using Handle = std::function<void(const KernelRecord&)>;
  virtual ~KernelLogReader() = default;

  // Readable when records may be waiting.
  virtual int poll_fd() const = 0;
  // Hands over a bounded number of records and says whether more are waiting.
  virtual bool read(const Handle& handle) = 0;
  // Of the first record that was not handed over yet; empty while that is not known.
  virtual std::string place() const = 0;
  // Records that were overwritten before they were read.
  virtual std::uint64_t lost() const { return 0; }
};

using OpenedKernelLog = Result<std::unique_ptr<KernelLogReader>>;

// `fd` gives one record per read(2) and does not block.
OpenedKernelLog read_kernel_log_device(UniqueFd fd, const std::string& path,
                                       const SavedPlace& place);
// Follows the path through rotation and truncation.
OpenedKernelLog follow_kernel_log_file(UniqueFd fd, const std::string& path,
                                       const SavedPlace& place);
// The system's journal, or that of a directory.
OpenedKernelLog read_kernel_journal(const std::string& directory, const std::string& boot_id,
                                    const SavedPlace& place);

}  // namespace acrf
