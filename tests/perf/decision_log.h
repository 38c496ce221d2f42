// SPDX-License-Identifier: GPL-2.0-or-later
// The log that select/acrf keeps of its decisions: one line of JSON per select_p_job_test.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace acrf::perf {

struct Decision {
  std::uint64_t job = 0;  // 0: a submission that was only a test
  std::string mode;       // run_now, test_only or will_run
  std::string outcome;
  bool ok = true;  // cons_tres found room
  double total_ms = 0;
  double delegate_ms = 0;  // of it inside cons_tres
  double refused_ms = 0;   // of that on plans that it refused
};

class DecisionLog {
 public:
  explicit DecisionLog(std::string path) : path_(std::move(path)) {}

  // The complete lines that were written since the last call.
  std::vector<Decision> read_new();

 private:
  std::string path_;
  std::streamoff offset_ = 0;
};

}  // namespace acrf::perf
