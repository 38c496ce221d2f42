// SPDX-License-Identifier: GPL-2.0-or-later
#include "decision_log.h"

#include <nlohmann/json.hpp>

namespace acrf::perf {

std::vector<Decision> DecisionLog::read_new() {
  std::vector<Decision> decisions;
  std::ifstream file(path_);
  file.seekg(offset_);
  // A last line without its end is still being written.
  for (std::string line; std::getline(file, line) && !file.eof();) {
    offset_ += static_cast<std::streamoff>(line.size()) + 1;
    const auto record = nlohmann::json::parse(line, nullptr, false);
    if (!record.is_object()) continue;
    decisions.push_back({record.value("job", std::uint64_t{0}), record.value("mode", ""),
                         record.value("outcome", ""), record.value("ok", true),
                         record.value("total_us", 0.0) / 1000,
                         record.value("delegate_us", 0.0) / 1000,
                         record.value("refused_us", 0.0) / 1000});
  }
  return decisions;
}

}  // namespace acrf::perf
