// SPDX-License-Identifier: GPL-2.0-or-later
// The lines of one log, in their order: what a line leaves out, the ones before it may have said.
// acrf-healthd and `acrf classify --incidents` both read through here.
#pragma once

#include <optional>

#include "core/classify.h"

namespace acrf {

class LineReader {
 public:
  // `catalog` must outlive the reader.
  explicit LineReader(const Catalog& catalog) : catalog_(catalog) {}

  struct Reading {
    LineVerdict verdict;
    std::optional<Event> event;  // without attribution, boot and source; unix_s by the log's clock
    int repeats = 1;
  };

  Reading read(LogLine line);

 private:
  void follow_clock(const LogLine& line);
  void follow_writer(LogLine& line);
  void complete(LineVerdict& verdict);

  const Catalog& catalog_;
  std::int64_t clock_us_ = 0;
  std::optional<PciAddress> named_gpu_;  // by the first of three lines on a lost GPU
  std::optional<Event> last_event_;      // of the line before, for "last message repeated"
  Writer writer_ = Writer::kKernel;      // of the last line that was not indented
};

}  // namespace acrf
