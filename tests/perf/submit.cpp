// SPDX-License-Identifier: GPL-2.0-or-later
// acrf-submit: what job_submit/acrf takes for one submission inside slurmctld, and whether
// slurmctld grows by it; the measurement behind `contrib/bench submit`. The jobs want a feature
// that no node has: Slurm refuses them after the plugin has done its work, so that no job records
// grow slurmctld instead.
#include <fmt/format.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <fstream>
#include <vector>

#include "common/file.h"
#include "core/text.h"
#include "minicluster/cluster.h"

namespace acrf::perf {
namespace {

using minicluster::Cluster;

constexpr int kSubmissions = 10'000;
constexpr int kWarmUp = 2'000;
constexpr std::string_view kTook = "job_submit/acrf: took ";

// A site with so many Policy lines, the last of which fits.
std::string site_with(int rules) {
  std::string text;
  for (int i = 1; i < rules; ++i)
    text += fmt::format("Policy=p{} Partition=x{} Account=a{} MaxGpus=8\n", i, i, i);
  if (rules > 0)
    text +=
        "Policy=last Partition=main DefaultWorkload=training CheckpointRoots=/ckpt "
        "CheckpointOverGpus=8 MaxTime=7-0 ExcludeRisk=medium\n";
  return text;
}

Status submit_once() {
  char script[] = "#!/bin/sh\n", name[] = "bench", directory[] = "/", output[] = "/dev/null";
  char path[] = "PATH=/usr/bin:/bin", gpus[] = "gres:gpu:8", feature[] = "nowhere";
  char policy[] = "_SLURM_SPANK_OPTION_acrf_acrf_policy=requeue";
  char checkpoints[] = "_SLURM_SPANK_OPTION_acrf_acrf_checkpoint_dir=/ckpt/run 1";
  char* environment[] = {path, nullptr};
  char* options[] = {policy, checkpoints, nullptr};
  job_desc_msg_t request;
  slurm_init_job_desc_msg(&request);
  request.name = name;
  request.script = script;
  request.work_dir = directory;
  request.std_out = output;
  request.environment = environment;
  request.env_size = 1;
  request.spank_job_env = options;
  request.spank_job_env_size = 2;
  request.user_id = request.group_id = 0;
  request.min_nodes = 16;
  request.time_limit = 1440;
  request.tres_per_node = gpus;
  request.features = feature;
  submit_response_msg_t* answer = nullptr;
  if (slurm_submit_batch_job(&request, &answer) == SLURM_SUCCESS) {
    slurm_free_submit_response_response_msg(answer);
    return Error{ErrorCode::kInvalid, "slurmctld took a job that it should have refused"};
  }
  if (errno == ESLURM_INVALID_FEATURE) return Done{};
  return Error{ErrorCode::kInvalid, fmt::format("submit: {}", slurm_strerror(errno))};
}

Status submit_many(int times) {
  for (int i = 0; i < times; ++i)
    if (const auto done = submit_once(); !done) return done;
  return Done{};
}

// Resident memory of this cluster's slurmctld, in KiB; 0: not found.
long slurmctld_kib(const Cluster& cluster) {
  const auto found = cluster.run({"pgrep", "-o", "-f", cluster.path("sbin/slurmctld")});
  std::ifstream status("/proc/" + std::string(trim(found.output)) + "/status");
  for (std::string line; std::getline(status, line);)
    if (starts_with(line, "VmRSS:")) return std::strtol(line.c_str() + 6, nullptr, 10);
  return 0;
}

// The plugin's own words about the time that it took, from `offset` of the log on.
std::vector<double> times_logged(const std::string& log, std::size_t offset) {
  std::vector<double> times;
  const auto text = read_file(log);
  if (!text) return times;
  for (auto at = text->find(kTook, offset); at != std::string::npos; at = text->find(kTook, at)) {
    at += kTook.size();
    times.push_back(std::strtod(text->c_str() + at, nullptr));
  }
  std::sort(times.begin(), times.end());
  return times;
}

std::string without_plugin(std::string slurm_conf) {
  const std::string line = "JobSubmitPlugins=acrf\n";
  const auto at = slurm_conf.find(line);
  return at == std::string::npos ? slurm_conf : slurm_conf.erase(at, line.size());
}

struct Row {
  std::string arm;
  std::vector<double> times;
  long grown_kib = 0;
};

Result<Row> measure(const Cluster& cluster, std::string arm) {
  const auto log = cluster.path("log/slurmctld.log");
  if (const auto done = submit_many(kWarmUp); !done) return done.error();
  const auto before = read_file(log);
  if (!before) return before.error();
  Row row{std::move(arm), {}, -slurmctld_kib(cluster)};
  if (const auto done = submit_many(kSubmissions); !done) return done.error();
  row.grown_kib += slurmctld_kib(cluster);
  row.times = times_logged(log, before->size());
  return row;
}

void print(const Row& row, std::string& json) {
  const auto at = [&](std::size_t percent) {
    return row.times.empty() ? 0.0 : row.times[(row.times.size() - 1) * percent / 100];
  };
  if (row.times.empty())
    fmt::print("{:>10} {:>8} {:>8} {:>8} {:>10}\n", row.arm, "-", "-", "-", row.grown_kib);
  else
    fmt::print("{:>10} {:>8.1f} {:>8.1f} {:>8.1f} {:>10}\n", row.arm, at(50), at(99), at(100),
               row.grown_kib);
  json += fmt::format(
      "{}{{\"arm\":\"{}\",\"us_p50\":{:.1f},\"us_p99\":{:.1f},\"us_max\":{:.1f},\"n\":{},"
      "\"grown_kib\":{}}}",
      json.empty() ? "" : ",", row.arm, at(50), at(99), at(100), row.times.size(), row.grown_kib);
}

Status run(const std::string& root) {
  minicluster::ClusterOptions options;
  options.root = root;
  options.nodes = 2;
  options.healthd = false;
  options.slurm_conf = "SlurmctldDebug=debug\n";
  const auto started = Cluster::start(options);
  if (!started) return started.error();
  Cluster& cluster = **started;
  slurm_init(cluster.slurm_conf().c_str());
  fmt::print("{} submissions a row, microseconds in job_submit/acrf, KiB slurmctld grew\n",
             kSubmissions);
  fmt::print("{:>10} {:>8} {:>8} {:>8} {:>10}\n", "arm", "p50", "p99", "max", "grown");
  std::string json;
  const auto slurm_conf = read_file(cluster.slurm_conf());
  const auto acrf_conf = read_file(cluster.path("etc/acrf.conf"));
  if (!slurm_conf || !acrf_conf) return Error{ErrorCode::kSystem, "the cluster has no files"};
  for (const int rules : {-1, 0, 1, 10, 100}) {
    const auto text = rules < 0 ? without_plugin(*slurm_conf) : *slurm_conf;
    auto done = write_file(cluster.slurm_conf(), text, 0644);
    if (done) done = write_file(cluster.path("etc/acrf.conf"), *acrf_conf + site_with(rules), 0644);
    if (done) done = cluster.restart_slurmctld();
    if (!done) return done;
    const auto row = measure(cluster, rules < 0 ? "stock" : fmt::format("{} rules", rules));
    if (!row) return row.error();
    print(*row, json);
  }
  fmt::print("[{}]\n", json);
  return Done{};
}

}  // namespace
}  // namespace acrf::perf

int main(int argc, char** argv) {
  std::string root;
  CLI::App app("Measures submissions in a live slurmctld.", "acrf-submit");
  app.add_option("--root", root, "the cluster's own directory")->required();
  CLI11_PARSE(app, argc, argv);
  const auto done = acrf::perf::run(root);
  if (!done) fmt::print(stderr, "acrf-submit: {}\n", done.error().sentence);
  return done ? 0 : 1;
}
