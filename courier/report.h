// SPDX-License-Identifier: GPL-2.0-or-later
// Takes a node's reports to one hub, for as long as acrf-healthd wants.
#pragma once

#include <string>

namespace acrf {

struct ReportSettings {
  std::string url;
  std::string node;
  std::string munge_socket;  // empty: munge's own
};

// Reads reports from standard input, one line each; POSTs each with a munge credential that covers
// it, and prints the hub's answer, or {"error":...}, as one line. Returns at the end of the input.
int run_report_worker(const ReportSettings& settings);

}  // namespace acrf
