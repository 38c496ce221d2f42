// SPDX-License-Identifier: GPL-2.0-or-later
// The report of a run: a page that needs nothing but itself, and the same figures as JSON.
#pragma once

#include <cstdint>
#include <string>

#include "books.h"

namespace acrf::sim {

struct ReportFacts {
  int nodes = 0;
  int gpus = 0;  // per node
  std::uint64_t seed = 0;
  double rate_per_min = 0;
  Range failures;
  std::int64_t length_ms = 0;
};

std::string html_report(const Books& books, const ReportFacts& facts);
std::string json_report(const Books& books, const ReportFacts& facts);

// "run.html" -> "run.json"
std::string json_path_beside(const std::string& html_path);

}  // namespace acrf::sim
