// SPDX-License-Identifier: GPL-2.0-or-later
#include "decision_log.h"

#include "common/file.h"
#include "common/slurm_client.h"
#include "core/text.h"

namespace acrf {
namespace {

using nlohmann::json;

// Oldest first. A line that is no JSON (the log was cut short) is passed over.
std::vector<json> decisions_of(std::uint64_t job, const std::string& text) {
  std::vector<json> found;
  const std::string mark = "\"job\":" + std::to_string(job) + ",";
  for (const auto line : split(text, '\n')) {
    if (line.find(mark) == std::string_view::npos) continue;
    auto decision = json::parse(line, nullptr, false);
    if (decision.is_object()) found.push_back(std::move(decision));
  }
  return found;
}

}  // namespace

Result<std::string> decision_log_path(const std::string& file) {
  if (!file.empty()) return file;
  SlurmClient slurm;
  const auto directory = slurm.state_directory();
  if (!directory) return directory.error();
  return *directory + "/acrf-decisions";
}

Result<std::vector<json>> read_decisions(const std::string& path, std::uint64_t job) {
  const auto newer = read_file(path);
  if (!newer) return newer.error();
  const auto older = read_file(path + ".old");
  return decisions_of(job, (older ? *older : "") + *newer);
}

std::string meaning_of_outcome(const std::string& outcome) {
  if (outcome == "placed") return "placed as planned";
  if (outcome == "placed-other-gpus") return "placed on the planned nodes, GPUs by cons_tres";
  if (outcome == "refused") return "cons_tres refused the plan and looked at all nodes";
  if (outcome == "not-tried") return "refused lately, so not tried again: cons_tres looked at all nodes";
  if (outcome == "no-plan") return "no plan fits now: cons_tres looked at all nodes";
  if (outcome == "passed") return "not a request for select/acrf: left to cons_tres";
  if (outcome == "observed") return "observed only (Mode=observe): cons_tres placed it";
  if (outcome == "off") return "Placement=off: left to cons_tres";
  return "no placement engine (see slurmctld's log): left to cons_tres";
}

}  // namespace acrf
