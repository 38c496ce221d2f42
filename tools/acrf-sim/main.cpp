// SPDX-License-Identifier: GPL-2.0-or-later
// acrf-sim: the autonomous cluster on one machine. See doc/man/acrf-sim.1.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "live.h"
#include "minicluster/session.h"
#include "work.h"

namespace {

using namespace acrf;
using namespace acrf::sim;

// What CLI11 has no type for; empty: it is good.
CLI::Validator range(double least, double most) {
  return CLI::Validator(
      [=](std::string& text) {
        return parse_range(text, least, most)
                   ? std::string()
                   : fmt::format("must be a number or LOW-HIGH within {:g} and {:g}", least, most);
      },
      "LOW-HIGH");
}

CLI::Validator rate() {
  return CLI::Validator(
      [](std::string& text) {
        return find_preset(text) || parse_range(text, kLeastRate, kMostRate)
                   ? std::string()
                   : fmt::format(
                         "must be {:g} to {:g} or one of Light, Normal, High, Extreme, Maximum",
                         kLeastRate, kMostRate);
      },
      "N|PRESET");
}

struct Words {  // options that are parsed once more
  std::string rate = "Normal", failures = "5-12", job_seconds = "8-40", repair = "3-12";
};

void add_cluster_options(CLI::App* command, Options& options) {
  command->add_option("--root", options.root, "the cluster's own directory")->required();
  command
      ->add_option("--port", options.port,
                   "of the dashboard on localhost (default: 8080; 0: any that is free)")
      ->check(CLI::Range(0, 65535));
  command->add_option("--retries", options.retries, "of a job that failed (default: 1)")
      ->check(CLI::Range(0, 100));
  command->add_option("--timeout", options.timeout_s, "seconds a job may run (default: 180)")
      ->check(CLI::Range(1, 86400));
  command->add_option("--seconds", options.seconds, "end after so long (default: at Ctrl-C)")
      ->check(CLI::Range(1, 864000));
  command
      ->add_option("--settle", options.settle_s,
                   "seconds that open jobs and repairs get after the end (default: 60)")
      ->check(CLI::Range(0, 86400));
  command->add_option("--report", options.report, "write a report: HTML here, JSON beside it");
  command->add_option("--log", options.log, "log file (default: log/sim.log below --root)");
  command->add_option("--job-types", options.job_types,
                      "a folder of programs, each a type of job by its name");
  command->add_flag("--keep", options.keep, "leave the cluster up at the end");
}

int fail(const Error& error) {
  fmt::print(stderr, "acrf-sim: {}\n", error.sentence);
  return 1;
}

int run_live(Options options, const Words& words) {
  const auto* preset = find_preset(words.rate);
  options.plan.rate_per_min =
      preset ? preset->rate_per_min : parse_range(words.rate, kLeastRate, kMostRate)->low;
  options.plan.failures = *parse_range(words.failures, 0, 90);
  options.plan.job_seconds = *parse_range(words.job_seconds, 0.1, 86400);
  options.plan.repair_s = *parse_range(words.repair, 0, 600);
  if (!options.job_types.empty()) {
    const auto custom = custom_types(options.job_types);
    if (!custom) return fail(custom.error());
    options.plan.types.insert(options.plan.types.end(), custom->begin(), custom->end());
  }
  return Live(std::move(options)).run();
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  Words words;
  CLI::App app("A Slurm cluster with failing GPUs on this machine.", "acrf-sim");
  app.require_subcommand(1);
  auto* live = app.add_subcommand("live", "start the cluster, submit jobs, break GPUs");
  add_cluster_options(live, options);
  live->add_option("--nodes", options.nodes, "nodes (default: 8)")
      ->check(CLI::Range(1, kMostNodes));
  live->add_option("--gpus", options.gpus, "GPUs per node (default: 8)")
      ->check(CLI::Range(1, kMostGpus));
  live->add_option("--seed", options.seed, "which plan of jobs and faults (default: 1)");
  live->add_option("--rate", words.rate, "jobs a minute (default: Normal, 6)")->check(rate());
  live->add_option("--failures", words.failures, "percent a node and minute (default: 5-12)")
      ->check(range(0, 90));
  live->add_option("--job-seconds", words.job_seconds, "work of a job (default: 8-40)")
      ->check(range(0.1, 86400));
  live->add_option("--repair", words.repair, "seconds that a repair takes (default: 3-12)")
      ->check(range(0, 600));
  live->add_option("--record", options.record, "write the jobs and faults as they happen");
  auto* replay = app.add_subcommand("replay", "the jobs and faults of a recording, again");
  replay->add_option("FILE", options.replay, "what --record wrote")->required();
  add_cluster_options(replay, options);
  auto* stop = app.add_subcommand("stop", "stop the cluster that --keep left up");
  stop->add_option("--root", options.root, "the cluster's own directory")->required();
  auto* job = app.add_subcommand("work", "")->group("");  // what jobs of a run call
  CLI11_PARSE(app, argc, argv);
  if (job->parsed()) return work();
  if (!stop->parsed()) return run_live(std::move(options), words);
  const auto stopped = minicluster::stop_session(
      options.root, [](const std::string& text) { fmt::print("{}\n", text); });
  return stopped ? 0 : fail(stopped.error());
}
