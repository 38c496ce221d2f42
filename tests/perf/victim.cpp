// SPDX-License-Identifier: GPL-2.0-or-later
#include "victim.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "common/checkpoint_seal.h"
#include "common/file.h"
#include "core/text.h"
#include "minicluster/fault_run.h"

namespace acrf::perf {
namespace {

using namespace acrf::minicluster;
using std::chrono::milliseconds;

constexpr std::chrono::seconds kPatience{60};
constexpr milliseconds kLook{2};
constexpr std::size_t kRanks = 2;

constexpr char kJob[] = R"(#!/bin/bash
[ -z "$IGNORE_TERM" ] || trap '' TERM
srun --kill-on-bad-exit=1 "$RUN/rank"
)";

constexpr char kRank[] = R"(#!/bin/bash
[ -z "$IGNORE_TERM" ] || trap '' TERM
exec 9>"$RUN/lock-$SLURM_PROCID"
flock -n 9 || echo "rank $SLURM_PROCID on $SLURMD_NODENAME" >>"$RUN/twice"
echo "$ACRF_RESUME_FROM" >>"$RUN/began-${SLURM_RESTART_COUNT:-0}"
for ((step = 0; ; step++)); do
  ((step != 5)) || echo "$SLURM_PROCID $SLURMD_NODENAME" >>"$RUN/works-${SLURM_RESTART_COUNT:-0}"
  [ ! -e "$RUN/finish" ] || break
  sleep 0.1 9>&-
done
echo "$SLURM_PROCID" >>"$RUN/finished"
)";

std::size_t lines_in(const std::string& path) {
  const auto text = read_file(path);
  return text ? static_cast<std::size_t>(std::count(text->begin(), text->end(), '\n')) : 0;
}

}  // namespace

Victim::Victim(Cluster& cluster, int number)
    : cluster_(cluster), directory_(cluster.path(fmt::format("run-{}", number))) {}

std::string Victim::began(int restart) const { return file(fmt::format("began-{}", restart)); }

bool Victim::prepare() {
  for (const std::string step : {"step-7", "step-8"}) {
    std::filesystem::create_directories(file("checkpoints/" + step));
    if (!write_file(file("checkpoints/" + step + "/weights"), step)) return false;
  }
  return seal_checkpoint(file("checkpoints/step-7")).ok() &&
         write_file(file("job"), kJob, 0755).ok() && write_file(file("rank"), kRank, 0755).ok();
}

bool Victim::submit(Habits habits) {
  if (!prepare()) return false;
  std::vector<std::string> command = {"env",
                                      "RUN=" + directory_,
                                      habits.ignores_term ? "IGNORE_TERM=1" : "IGNORE_TERM=",
                                      "sbatch",
                                      "--parsable",
                                      "-N2",
                                      "--ntasks-per-node=1",
                                      "--gpus-per-node=8",
                                      "--requeue",
                                      "--output=/dev/null",
                                      "--acrf-checkpoint-dir=" + file("checkpoints")};
  command.push_back(habits.resilient ? "--acrf-policy=requeue" : "--acrf-policy=none");
  command.push_back(file("job"));
  const auto submitted = cluster_.run(command);
  id_ = std::string(trim(submitted.output));
  return submitted.ok();
}

bool Victim::runs(int restart) {
  return wait_until(
      [&] {
        const auto look = look_at_job(cluster_, id_);
        if (!look || look->state != "RUNNING" || look->restarts < restart) return false;
        nodes_ = look->nodes;
        return true;
      },
      kPatience, milliseconds(10));
}

bool Victim::has_begun(int restart, std::chrono::seconds patience) {
  return wait_until([&] { return lines_in(began(restart)) > 0; }, patience, kLook);
}

bool Victim::works(int restart) {
  return wait_until([&] { return lines_in(file(fmt::format("works-{}", restart))) >= kRanks; },
                    kPatience, kLook);
}

bool Victim::began_from_newest(int restart) const {
  const auto text = read_file(began(restart));
  if (!text) return false;
  for (const auto line : split(trim(*text), '\n'))
    if (line != file("checkpoints/step-7")) return false;
  return true;
}

bool Victim::completes() {
  finish();
  return wait_until(
      [&] {
        const auto look = look_at_job(cluster_, id_);
        return look && look->state == "COMPLETED";
      },
      kPatience, milliseconds(50));
}

void Victim::finish() { (void)write_file(file("finish"), ""); }
bool Victim::has_finished() const { return lines_in(file("finished")) >= kRanks; }
int Victim::twice() const { return lines_in(file("twice")) > 0 ? 1 : 0; }
void Victim::cancel() { cluster_.run({"scancel", "--signal=KILL", "--full", id_}); }

}  // namespace acrf::perf
