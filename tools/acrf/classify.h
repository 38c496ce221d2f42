// SPDX-License-Identifier: GPL-2.0-or-later
// Verdicts on the lines of a log as text: JSON lines, or a table for people.
#pragma once

#include <string>
#include <string_view>

#include "core/classify.h"
#include "core/fault_history.h"
#include "core/incident.h"
#include "core/line_reader.h"

namespace acrf {

// {"line":1,"class":"gpu_lost","action":"reboot_node",...}; what is not known has no key.
std::string verdict_json(const LineVerdict& verdict, std::size_t line);

// One row; `text` is the line itself.
std::string verdict_row(const LineVerdict& verdict, std::size_t line, std::string_view text);
std::string verdict_heading();

// What acrf-healthd would make of the log: incidents. Nobody's jobs are known to a file, so the
// rules that need to know who had the GPU stay silent.
class IncidentReport {
 public:
  explicit IncidentReport(const Catalog& catalog) : reader_(catalog) {}

  void take(std::string_view text, std::size_t line);

  // One line each, the oldest incident first: JSON, or text for people.
  std::string to_json() const;
  std::string to_text() const;

 private:
  LineReader reader_;
  FaultHistory history_;
  IncidentTracker tracker_{"log", 4096};
};

}  // namespace acrf
