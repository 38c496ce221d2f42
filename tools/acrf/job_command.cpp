// SPDX-License-Identifier: GPL-2.0-or-later
// acrf job JOBID: the life of a job as a timeline, and what its faults have cost.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "audit_source.h"
#include "cluster_source.h"
#include "common/config_file.h"
#include "core/node_verdict.h"
#include "job_sources.h"

namespace acrf {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kLongestShown = 300;

void print_text(const LifeFacts& job, const JobLife& life,
                const std::vector<std::string>& missing) {
  fmt::print("job {}: {}{}\n", job.id, job.state,
             job.reason.empty() || job.reason == "None" ? "" : " (" + job.reason + ")");
  for (const auto& event : life.events)
    fmt::print("  {}  {:<10}  {}\n", time_text(event.unix_ms), event.what,
               printable_line(event.text, kLongestShown));
  fmt::print("restarts    {}\n", life.restarts);
  fmt::print("steps lost  {}\n",
             life.steps_lost ? std::to_string(*life.steps_lost) : std::string("not known"));
  fmt::print("time lost   {:.0f} s: {:.0f} s of work done again, {:.0f} s without nodes\n",
             life.redone_s + life.waiting_s, life.redone_s, life.waiting_s);
  if (life.ettr)
    fmt::print("ETTR        {:.3f} ({:.0f} s of {:.0f} s since its first start were useful)\n",
               *life.ettr, life.useful_s, life.wall_s);
  if (!life.complete) fmt::print("Its first runs are forgotten: the sums are of the others.\n");
  for (const auto& what : missing) fmt::print("not read: {}\n", what);
}

ordered_json to_json(const LifeFacts& job, const JobLife& life,
                     const std::vector<std::string>& missing) {
  ordered_json all = {{"job", job.id},
                      {"state", job.state},
                      {"restarts", life.restarts},
                      {"wall_s", life.wall_s},
                      {"useful_s", life.useful_s},
                      {"redone_s", life.redone_s},
                      {"waiting_s", life.waiting_s},
                      {"complete", life.complete},
                      {"not_read", missing}};
  if (life.ettr) all["ettr"] = *life.ettr;
  if (life.steps_lost) all["steps_lost"] = *life.steps_lost;
  auto& events = all["events"] = ordered_json::array();
  for (const auto& event : life.events)
    events.push_back({{"time_ms", event.unix_ms}, {"what", event.what}, {"text", event.text}});
  return all;
}

struct JobOptions {
  std::uint32_t id = 0;
  SourceOptions source;
};

void show_job(CommandLine& line, const JobOptions& options) {
  const auto config = load_named_config(line.config_path);
  if (!config) return fail(line, config.error());
  const auto hub = find_hub(line, options.source);
  if (!hub) return fail(line, hub.error());
  const auto sources = gather_job_sources(options.id, *config, *hub ? &**hub : nullptr);
  if (!sources) return fail(line, sources.error());
  const auto life = tell_life(sources->life);
  if (!line.json) return print_text(sources->life.job, life, sources->missing);
  fmt::print("{}\n", to_json(sources->life.job, life, sources->missing)
                         .dump(-1, ' ', true, ordered_json::error_handler_t::replace));
}

}  // namespace

void add_job_command(CommandLine& line) {
  auto* command =
      line.app.add_subcommand("job", "the life of a job: placements, faults, restarts, time lost");
  command->fallthrough();
  const auto options = std::make_shared<JobOptions>();
  command->add_option("JOBID", options->id)->required();
  add_source_options(command, options->source);
  command->callback([&line, options] { show_job(line, *options); });
}

}  // namespace acrf
