// SPDX-License-Identifier: GPL-2.0-or-later
// acrf progress STEP: a rank's word that it has done a step. acrf progress watch: the comparison of
// all ranks of the job, for a batch script to run beside its srun.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>

#include "commands.h"
#include "common/host_name.h"
#include "common/progress_dir.h"
#include "common/slurm_client.h"
#include "core/text.h"

namespace acrf {
namespace {

constexpr int kHangs = 3;  // exit status
constexpr std::size_t kFilesPerSecond = 500;

struct ProgressOptions {
  std::string directory;  // empty: ACRF_CHECKPOINT_DIR
  std::int64_t step = 0;
  ProgressRules rules;
  double interval_s = 5;
  bool requeue = false;
};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

struct Place {
  std::string directory;
  Fence fence;
};

Result<Place> find_place(const ProgressOptions& options) {
  const auto directory =
      options.directory.empty() ? variable("ACRF_CHECKPOINT_DIR") : options.directory;
  if (directory.empty())
    return Error{ErrorCode::kInvalid,
                 "progress is reported in the job's checkpoint directory: submit it with "
                 "--acrf-checkpoint-dir, or say --dir"};
  const auto fence = parse_fence(variable("ACRF_FENCE"));
  if (!fence)
    return Error{ErrorCode::kInvalid, "ACRF_FENCE is not set: this is for jobs that ACRF knows"};
  return Place{directory, *fence};
}

void report(CommandLine& line, const ProgressOptions& options) {
  const auto place = find_place(options);
  if (!place) return fail(line, place.error());
  const auto rank = parse_unsigned(variable("SLURM_PROCID")).value_or(0);
  auto node = variable("SLURMD_NODENAME");
  if (node.empty()) node = short_host_name();
  const auto reported =
      report_step(place->directory, place->fence, static_cast<int>(rank), node, options.step);
  if (!reported) fail(line, reported.error());
}

// What the watch has said so far, so that each change is said once.
class Announcer {
 public:
  explicit Announcer(JobId job) : job_(job) {}

  void say(const std::optional<ProgressWord>& word, const ProgressVerdict& verdict) {
    if (verdict.hangs)
      fmt::print(stderr, "acrf: job {} hangs: no step in {:.0f} s; {}\n", job_.value,
                 verdict.silent_s,
                 word ? fmt::format("{} stopped first", fmt::join(word->nodes, ","))
                      : "no rank stopped before the others");
    else if (word != said_)
      fmt::print(stderr, "acrf: job {} {}\n", job_.value,
                 word ? fmt::format("is held up by {}", fmt::join(word->nodes, ","))
                      : "goes on as it should");
    if (word != said_) write(word);
    said_ = word;
  }

 private:
  void write(const std::optional<ProgressWord>& word) {
    const auto job = slurm_.job(job_);
    if (!job) return complain(job.error());
    const auto written = slurm_.set_comment(job_, with_progress(job->comment, word));
    if (!written) complain(written.error());
  }

 public:
  Status requeue() { return slurm_.requeue(job_, false); }

 private:
  static void complain(const Error& error) { fmt::print(stderr, "acrf: {}\n", error.sentence); }

  SlurmClient slurm_;
  JobId job_;
  std::optional<ProgressWord> said_;
};

void watch(CommandLine& line, const ProgressOptions& options) {
  const auto place = find_place(options);
  if (!place) return fail(line, place.error());
  const JobId job{static_cast<std::uint32_t>(place->fence.job_id)};
  FailoverWatch progress(options.rules);
  StepReports step{place->fence, {}};
  Announcer announcer(job);
  while (true) {
    step = read_reports(place->directory, step.fence);  // never back to an earlier step
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto verdict = progress.judge(step, std::chrono::duration<double>(now).count());
    announcer.say(word_for(verdict, step.ranks), verdict);
    if (verdict.hangs) break;
    const double pause_s =
        std::max(options.interval_s, static_cast<double>(step.ranks.size() / kFilesPerSecond));
    ::usleep(static_cast<useconds_t>(pause_s * 1e6));
  }
  line.status = kHangs;
  if (!options.requeue) return;
  const auto requeued = announcer.requeue();
  if (!requeued) fail(line, requeued.error());
}

}  // namespace

void add_progress_command(CommandLine& line) {
  auto* command = line.app.add_subcommand("progress", "a rank has done a step");
  const auto options = std::make_shared<ProgressOptions>();
  auto* step =
      command->add_option("STEP", options->step, "its number")->check(CLI::NonNegativeNumber);
  command->add_option("--dir", options->directory,
                      "directory that all ranks see (default: the job's checkpoint directory)");
  auto* watcher = command->add_subcommand("watch", "compare the ranks of this job until it hangs");
  watcher->fallthrough();
  watcher->add_option("--interval", options->interval_s, "seconds between two looks (5)")
      ->check(CLI::Range(0.1, 3600.0));
  watcher
      ->add_option("--hang-factor", options->rules.hang_factor, "usual steps without any step (10)")
      ->check(CLI::Range(2.0, 1e6));
  watcher
      ->add_option("--hang-floor", options->rules.hang_floor_s,
                   "seconds without any step, at least (60)")
      ->check(CLI::Range(1.0, 1e6));
  watcher
      ->add_option("--straggler-factor", options->rules.straggler_factor,
                   "a straggler's time for a step, in usual ones (1.5)")
      ->check(CLI::Range(1.05, 1e3));
  watcher
      ->add_option("--straggler-time", options->rules.straggler_s,
                   "seconds for which it is that slow (300)")
      ->check(CLI::Range(1.0, 1e6));
  watcher->add_flag("--requeue", options->requeue, "requeue the job when it hangs");
  watcher->callback([&line, options] { watch(line, *options); });
  command->callback([&line, options, step, watcher] {
    if (watcher->parsed()) return;
    if (step->count() == 0)
      return fail(line, {ErrorCode::kInvalid, "progress: say which step was done, or watch"});
    report(line, *options);
  });
}

}  // namespace acrf
