// SPDX-License-Identifier: GPL-2.0-or-later
#include "chaos_jobs.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>

#include "common/file.h"
#include "core/text.h"

namespace acrf::minicluster {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kSaveEvery = 4;

constexpr char kScript[] = R"(#!/bin/bash
if [ "$LAUNCHER" = acrf ]; then acrf run -- "$CHAOS/rank"; else srun --kill-on-bad-exit=1 "$CHAOS/rank"; fi
)";

// Rank 0 does the work that counts; the others stay until it is done. The loops are bounded: what
// nobody ends must end.
constexpr char kRank[] = R"(#!/bin/bash
dir=$ACRF_CHECKPOINT_DIR
if [ "$SLURM_PROCID" != 0 ]; then
  for ((i = 0; i < 3000; i++)); do
    [ ! -e "$dir/step-$STEPS" ] || exit 0
    sleep 0.3
  done
  exit 1
fi
work=
step=0
if [ -n "$ACRF_RESUME_FROM" ]; then
  work=$(cat "$ACRF_RESUME_FROM/work")$'\n' || exit 1
  step=$(tail -n 1 "$ACRF_RESUME_FROM/work") || exit 1
  step=${step%% *}
fi
while ((step < STEPS)); do
  sleep 0.3
  step=$((step + 1))
  work+="$step $ACRF_FENCE"$'\n'
  ((step % EVERY == 0 || step == STEPS)) || continue
  draft=$dir/.draft-$step.$ACRF_FENCE.$$
  mkdir "$draft" && printf %s "$work" >"$draft/work" || exit 1
  acrf checkpoint publish "$draft" --as "step-$step" || exit 1
done
)";

std::int64_t modified_ns(const std::string& path) {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0) return 0;
  return std::int64_t{1'000'000'000} * file.st_mtim.tv_sec + file.st_mtim.tv_nsec;
}

// Of a job, by slurmctld's log, whose lines begin with "[2026-11-18T01:02:43.098]". What is packed
// to be saved is some milliseconds older than the file.
std::int64_t last_start_ns(const std::string& path) {
  constexpr std::int64_t kPacking_ns = 200'000'000;
  const auto log = read_file(path);
  if (!log) return 0;
  auto at = std::string::npos;
  for (const std::string_view says : {" Allocate JobId=", " Started JobId="})
    if (const auto found = log->rfind(says); found != std::string::npos)
      at = at == std::string::npos ? found : std::max(at, found);
  if (at == std::string::npos) return 0;
  const auto line = log->substr(log->rfind('\n', at) + 1, 32);
  std::tm day{};
  int ms = 0;
  const char* rest = ::strptime(line.c_str(), "[%Y-%m-%dT%T", &day);
  if (!rest || std::sscanf(rest, ".%3d", &ms) != 1) return 0;
  day.tm_isdst = -1;
  return std::int64_t{1'000'000'000} * std::mktime(&day) + 1'000'000 * ms + kPacking_ns;
}

// What is wrong with the lines of a checkpoint's work.
std::optional<std::string> judge_work(const std::string& text, std::size_t steps) {
  const auto lines = split(trim(text), '\n');
  if (lines.size() != steps)
    return fmt::format("has {} steps of work where {} were done", lines.size(), steps);
  std::optional<Fence> last;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto words = split(lines[i], ' ');
    const auto fence = parse_fence(words.back());
    if (parse_unsigned(words[0]) != i + 1 || !fence)
      return fmt::format("has '{}' where step {} was to be", lines[i], i + 1);
    if (last && std::tie(fence->restart, fence->failover) < std::tie(last->restart, last->failover))
      return fmt::format("goes back from run {} to {}", to_text(*last), to_text(*fence));
    last = *fence;
  }
  return std::nullopt;
}

std::optional<Fence> writer_of(const std::string& work) {
  const auto lines = split(trim(work), '\n');
  const auto fence = parse_fence(split(lines.back(), ' ').back());
  if (!fence) return std::nullopt;
  return *fence;
}

}  // namespace

Status ChaosJobs::prepare() {
  fs::create_directories(cluster_.path("chaos"));
  if (const auto written = write_file(cluster_.path("chaos/job"), kScript, 0755); !written)
    return written;
  return write_file(cluster_.path("chaos/rank"), kRank, 0755);
}

std::string ChaosJobs::find_accepted(const std::string& name) const {
  const auto shown = cluster_.run({"scontrol", "-o", "show", "job"}, seconds(15));
  for (const auto line : split(shown.output, '\n'))
    if (line.find(" JobName=" + name + " ") != std::string_view::npos)
      return std::string(line.substr(6, line.find(' ') - 6));
  return "";
}

Status ChaosJobs::submit(const PlannedJob& plan) {
  const auto name = fmt::format("chaos-{}", jobs_.size() + 1);
  ChaosJob job{"", cluster_.path("chaos/" + name), plan, {}, {}, 0};
  fs::create_directories(job.directory);
  const std::vector<std::string> command = {
      "env",
      fmt::format("STEPS={}", plan.steps),
      fmt::format("EVERY={}", kSaveEvery),
      "CHAOS=" + cluster_.path("chaos"),
      plan.failover ? "LAUNCHER=acrf" : "LAUNCHER=srun",
      "sbatch",
      "--parsable",
      "--job-name=" + name,
      fmt::format("--nodes={}", plan.nodes),
      "--ntasks-per-node=1",
      fmt::format("--gpus-per-node={}", plan.gpus_per_node),
      "--requeue",
      "--open-mode=append",
      "--output=" + job.directory + "/out",
      "--acrf-checkpoint-dir=" + job.directory,
      "--acrf-checkpoint-format=manifest",
      plan.failover ? "--acrf-policy=failover" : "--acrf-policy=requeue",
      plan.failover ? "--acrf-spares=1" : "--acrf-workload=training",
      cluster_.path("chaos/job")};
  std::string errors;
  const bool accepted = wait_until(
      [&] {
        const auto submitted = cluster_.run(command, seconds(30));
        errors = submitted.errors;
        // A submission whose answer was lost may still have been accepted.
        job.id = submitted.ok() ? std::string(trim(submitted.output)) : find_accepted(name);
        return !job.id.empty();
      },
      seconds(60), milliseconds(500));
  if (!accepted) return Error{ErrorCode::kUnavailable, name + " was not accepted: " + errors};
  (void)write_file(job.directory + "/out", "", 0644);
  submitted_ns_ = modified_ns(job.directory + "/out");
  jobs_.push_back(std::move(job));
  return Done{};
}

bool ChaosJobs::are_saved() const {
  const auto saved_ns = modified_ns(cluster_.path("state/job_state"));
  return saved_ns > submitted_ns_ &&
         saved_ns > std::max(last_start_ns(cluster_.path("log/slurmctld.log")),
                             last_start_ns(cluster_.path("log/slurmctld-backup.log")));
}

// The fence is read before the directory: what appears later was published while it stood.
std::vector<std::string> ChaosJobs::look_at(ChaosJob& job) const {
  std::vector<std::string> wrongs;
  const auto fence = read_file(job.directory + "/" + std::string(kFenceName));
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(job.directory, error)) {
    const auto name = entry.path().filename().string();
    if (!starts_with(name, "step-") || job.checkpoints.contains(name)) continue;
    const auto work = read_file(entry.path().string() + "/work");
    if (!work) continue;  // being replaced
    job.checkpoints.insert(name);
    const auto steps = parse_unsigned(name.substr(5)).value_or(0);
    if (const auto wrong = judge_work(*work, steps))
      wrongs.push_back(fmt::format("job {}: {} {}", job.id, name, *wrong));
    const auto writer = writer_of(*work);
    if (!writer) continue;
    job.failovers = std::max(job.failovers, int(writer->failover));
    if (const auto passed = check_fence(job.fences, *writer); !passed)
      wrongs.push_back(fmt::format("job {}: {} was published after its run had lost the fence: {}",
                                   job.id, name, passed.error().sentence));
  }
  job.fences = fence ? parse_fences(*fence) : std::vector<Fence>{};
  return wrongs;
}

std::vector<std::string> ChaosJobs::look_at_checkpoints() {
  std::vector<std::string> wrongs;
  for (auto& job : jobs_)
    for (auto& wrong : look_at(job)) wrongs.push_back(std::move(wrong));
  return wrongs;
}

bool has_come_to_an_end(const JobRecord& record) {
  return record.state == "COMPLETED" ||
         (record.state == "PENDING" && record.priority == 0 && starts_with(record.reason, "ACRF:"));
}

std::vector<std::string> ChaosJobs::judge_end(const ChaosJob& job, const JobRecord* record) const {
  std::vector<std::string> wrongs;
  if (!record) return {fmt::format("job {}: slurmctld has lost it", job.id)};
  if (!has_come_to_an_end(*record))
    wrongs.push_back(
        fmt::format("job {}: neither completed nor held with a reason: {} ({}), {} "
                    "restarts",
                    job.id, record->state, record->reason, record->restarts));
  const auto last = read_file(fmt::format("{}/step-{}/work", job.directory, job.plan.steps));
  if (record->state != "COMPLETED") return wrongs;
  if (!last)
    wrongs.push_back(fmt::format("job {}: completed without its last checkpoint", job.id));
  else if (const auto wrong = judge_work(*last, std::size_t(job.plan.steps)))
    wrongs.push_back(fmt::format("job {}: its work {}", job.id, *wrong));
  return wrongs;
}

}  // namespace acrf::minicluster
