// SPDX-License-Identifier: GPL-2.0-or-later
// acrf explain JOBID: why select/acrf put a job where it is, from its log of decisions.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "commands.h"
#include "decision_log.h"

namespace acrf {
namespace {

using nlohmann::json;

struct Explain {
  std::uint64_t job = 0;
  std::string file;
  bool all = false;
};

// The last attempt to start the job; a test or forecast only when there was none.
json last_word(const std::vector<json>& decisions) {
  for (auto decision = decisions.rbegin(); decision != decisions.rend(); ++decision)
    if (decision->value("mode", "") == "run_now") return *decision;
  return decisions.back();
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
  fmt::print("  how     {} ({} candidate nodes)\n",
             meaning_of_outcome(decision.value("outcome", "")), decision.value("candidates", 0));
  if (decision.value("nodes", 0) > 0) print_plan(decision);
  fmt::print("  time    {:.2f} ms, {:.2f} ms of it in cons_tres\n",
             decision.value("total_us", 0.0) / 1000, decision.value("delegate_us", 0.0) / 1000);
}

void explain_job(CommandLine& line, const Explain& explain) {
  const auto path = decision_log_path(explain.file);
  if (!path) return fail(line, path.error());
  auto log = read_decisions(*path, explain.job);
  const bool missing = !log && log.error().code == ErrorCode::kNotFound;
  if (!log && !missing) return fail(line, log.error());
  auto found = missing ? std::vector<json>() : std::move(*log);
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
