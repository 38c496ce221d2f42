// SPDX-License-Identifier: GPL-2.0-or-later
// acrf explain JOBID: why select/acrf put a job where it is, from its log of decisions.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "commands.h"
#include "common/file.h"
#include "common/slurm_client.h"
#include "core/text.h"

namespace acrf {
namespace {

using nlohmann::json;

struct Explain {
  std::uint64_t job = 0;
  std::string file;
  bool all = false;
};

Result<std::string> log_path(const Explain& explain) {
  if (!explain.file.empty()) return explain.file;
  SlurmClient slurm;
  const auto directory = slurm.state_directory();
  if (!directory) return directory.error();
  return *directory + "/acrf-decisions";
}

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

// The last attempt to start the job; a test or forecast only when there was none.
json last_word(const std::vector<json>& decisions) {
  for (auto decision = decisions.rbegin(); decision != decisions.rend(); ++decision)
    if (decision->value("mode", "") == "run_now") return *decision;
  return decisions.back();
}

std::string meaning(const std::string& outcome) {
  if (outcome == "placed") return "placed as planned";
  if (outcome == "placed-other-gpus") return "placed on the planned nodes, GPUs by cons_tres";
  if (outcome == "refused") return "cons_tres refused the plan and looked at all nodes";
  if (outcome == "not-tried") return "planned, but refused lately: cons_tres looked at all nodes";
  if (outcome == "no-plan") return "no plan fits now: cons_tres looked at all nodes";
  if (outcome == "passed") return "not a request for select/acrf: left to cons_tres";
  if (outcome == "observed") return "observed only (Mode=observe): cons_tres placed it";
  if (outcome == "off") return "Placement=off: left to cons_tres";
  return "no placement engine (see slurmctld's log): left to cons_tres";
}

void print_plan(const json& decision) {
  fmt::print("  plan    {} nodes, {} GPUs, shape {}: {}\n", decision.value("nodes", 0),
             decision.value("gpus", 0), decision.value("shape", ""), decision.value("placed", ""));
  const auto runner_up = decision.value("runner_up", -1);
  fmt::print("  cost    {} on {} leaves in {} pods{}; runner-up {}\n", decision.value("cost", 0),
             decision.value("leaves", 0), decision.value("pods", 0),
             decision.value("certified", false) ? ", proven to be the least" : "",
             runner_up < 0 ? "none" : std::to_string(runner_up));
  if (const int worse = decision.value("avoidable", 0))
    fmt::print("  health  {} of the nodes are to be avoided, but nothing better had room\n", worse);
  else
    fmt::print("  health  all nodes are of the best tier that had candidates\n");
}

void print_text(const json& decision) {
  const auto when = static_cast<std::time_t>(decision.value("time", 0.0));
  fmt::print("{:%Y-%m-%d %H:%M:%S}  {}: {}\n", fmt::localtime(when), decision.value("mode", ""),
             decision.value("ok", false) ? "fits" : "does not fit now");
  fmt::print("  how     {} ({} candidate nodes)\n", meaning(decision.value("outcome", "")),
             decision.value("candidates", 0));
  if (decision.value("nodes", 0) > 0) print_plan(decision);
  fmt::print("  time    {:.2f} ms, {:.2f} ms of it in cons_tres\n",
             decision.value("total_us", 0.0) / 1000, decision.value("delegate_us", 0.0) / 1000);
}

void explain_job(CommandLine& line, const Explain& explain) {
  const auto path = log_path(explain);
  if (!path) return fail(line, path.error());
  const auto newer = read_file(*path);
  if (!newer) return fail(line, newer.error());
  const auto older = read_file(*path + ".old");
  auto found = decisions_of(explain.job, (older ? *older : "") + *newer);
  if (found.empty())
    return fail(line, {ErrorCode::kNotFound,
                       fmt::format("{}: no decision about job {} is kept", *path, explain.job)});
  if (!explain.all) found = {last_word(found)};
  if (line.json) return fmt::print("{}\n", json(found).dump());
  for (const auto& decision : found) print_text(decision);
}

}  // namespace

void add_explain_command(CommandLine& line) {
  auto* command = line.app.add_subcommand("explain", "why a job was placed where it is");
  const auto explain = std::make_shared<Explain>();
  command->add_option("JOBID", explain->job)->required();
  command->add_flag("--all", explain->all, "every decision that is kept, not only the last");
  command->add_option("--file", explain->file,
                      "log to read (default: acrf-decisions in StateSaveLocation)");
  command->callback([&line, explain] { explain_job(line, *explain); });
}

}  // namespace acrf
