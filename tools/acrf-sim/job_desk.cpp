// SPDX-License-Identifier: GPL-2.0-or-later
#include "job_desk.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "common/file.h"
#include "core/text.h"
#include "run_line.h"

namespace acrf::sim {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kPatience{20};  // with slurmctld

// The first task of several is srun's; one task needs no step of its own.
constexpr char kScript[] = R"(#!/bin/bash
if [ "$SLURM_JOB_NUM_NODES" -gt 1 ]; then srun --kill-on-bad-exit=1 "$SIM_WORKER" work; else exec "$SIM_WORKER" work; fi
)";

int nice_of(Priority priority) {
  switch (priority) {
    case Priority::kLow: return 1000;
    case Priority::kNormal: return 500;
    case Priority::kHigh: break;
  }
  return 0;
}

}  // namespace

std::vector<QueueRow> parse_queue(std::string_view text) {
  std::vector<QueueRow> rows;
  for (const auto line : split(trim(text), '\n')) {
    const auto fields = split(line, '|');
    if (fields.size() != 4) continue;
    rows.push_back({std::string(fields[0]), std::string(fields[1]), std::string(fields[2]),
                    static_cast<int>(parse_unsigned(fields[3]).value_or(0))});
  }
  return rows;
}

Status JobDesk::prepare() {
  std::error_code error;
  fs::create_directories(cluster_.path("sim/jobs"), error);
  if (error) return Error{ErrorCode::kSystem, cluster_.path("sim/jobs") + ": " + error.message()};
  return write_file(cluster_.path("sim/job"), kScript, 0755);
}

std::vector<std::string> JobDesk::command_for(const PlannedJob& job, const std::string& program,
                                              const std::string& directory) const {
  const int limit_s = std::max(options_.timeout_s, 1);
  std::vector<std::string> command = {"env",
                                      "SIM_WORKER=" + fs::read_symlink("/proc/self/exe").string(),
                                      "SIM_DIR=" + directory,
                                      "SIM_TYPE=" + job.type,
                                      fmt::format("SIM_SECONDS={}", job.seconds),
                                      "SIM_PROGRAM=" + program,
                                      "sbatch",
                                      "--parsable",
                                      "--job-name=" + job.name,
                                      fmt::format("--nodes={}", job.nodes),
                                      "--ntasks-per-node=1",
                                      fmt::format("--gpus-per-node={}", job.gpus),
                                      fmt::format("--nice={}", nice_of(job.priority)),
                                      fmt::format("--time={}:{:02}", limit_s / 60, limit_s % 60),
                                      "--requeue",
                                      "--open-mode=append",
                                      "--chdir=" + directory,
                                      "--output=" + directory + "/out",
                                      "--acrf-policy=requeue"};
  if (job.type == "training") {
    command.push_back("--acrf-workload=training");
    command.push_back("--acrf-checkpoint-dir=" + directory + "/checkpoints");
    command.push_back("--acrf-checkpoint-format=manifest");
  }
  command.push_back(cluster_.path("sim/job"));
  return command;
}

Result<std::string> JobDesk::submit(const PlannedJob& job, const std::vector<JobType>& types) {
  const auto directory = cluster_.path(fmt::format("sim/jobs/{}", ++submitted_));
  std::error_code error;
  fs::create_directories(directory + "/checkpoints", error);
  if (error) return Error{ErrorCode::kSystem, directory + ": " + error.message()};
  // Jobs add to it, and adding makes no file.
  const auto made = replace_file(directory + "/" + kRunFile, "", 0644);
  if (!made) return made.error();
  std::string program;
  for (const auto& type : types)
    if (type.name == job.type) program = type.program;
  const auto submitted = cluster_.run(command_for(job, program, directory), kPatience);
  if (!submitted.ok())
    return Error{ErrorCode::kUnavailable, "sbatch: " + std::string(trim(submitted.errors))};
  const std::string id(trim(submitted.output));
  folders_[id] = {directory, 0};
  return id;
}

std::optional<std::vector<QueueRow>> JobDesk::queue() const {
  const auto shown = cluster_.run(
      {"squeue", "--noheader", "--states=all", std::string("--format=") + kQueueFormat}, kPatience);
  if (!shown.ok()) return std::nullopt;
  return parse_queue(shown.output);
}

std::vector<RunLine> JobDesk::news_of(const std::string& id, std::int64_t began_unix_ms) {
  const auto folder = folders_.find(id);
  if (folder == folders_.end()) return {};
  const auto text = read_file(folder->second.path + "/" + kRunFile);
  if (!text) return {};  // it has not begun
  auto lines = parse_run_lines(*text, folder->second.read);
  for (auto& line : lines) line.at_ms -= began_unix_ms;
  return lines;
}

void JobDesk::cancel_all() const { cluster_.run({"scancel", "--user=root"}, kPatience); }

}  // namespace acrf::sim
