// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/line_reader.h"

namespace acrf {

void LineReader::follow_clock(const LogLine& line) {
  if (!line.time_us) return;
  if (line.time_is_step) {
    clock_us_ += *line.time_us;
  } else {
    clock_us_ = *line.time_us;
  }
}

// "NVRM: The NVIDIA GPU 0000:18:00.0", "... installed in this system has", "... fallen off the
// bus": only the last one is the fault, and only the first one names the GPU.
void LineReader::complete(LineVerdict& verdict) {
  if (verdict.verdict.fault_class != "gpu_lost") return;
  if (verdict.rank == 0 && verdict.gpu) named_gpu_ = verdict.gpu;
  if (verdict.rank == 0 || verdict.gpu) return;
  verdict.gpu = named_gpu_;
  named_gpu_.reset();
}

// An indented line belongs to the record above it: what a program wrote in several lines is no
// more the kernel's in the second than it was in the first.
void LineReader::follow_writer(LogLine& line) {
  if (!line.is_indented) {
    writer_ = line.writer;
  } else if (line.writer == Writer::kKernel) {
    line.writer = writer_;
  }
}

LineReader::Reading LineReader::read(LogLine line) {
  follow_clock(line);
  follow_writer(line);
  Reading reading{classify_line(line, catalog_), {}, line.repeats};
  if (line.repeats_last) {
    reading.event = last_event_;
  } else {
    complete(reading.verdict);
    reading.event = event_of(reading.verdict);
    last_event_ = reading.event;
  }
  if (reading.event) reading.event->unix_s = clock_us_ / 1'000'000;
  return reading;
}

}  // namespace acrf
