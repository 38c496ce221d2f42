// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/job_life.h"

#include <algorithm>

#include "core/accusation.h"
#include "core/policy.h"

namespace acrf {
namespace {

struct Run {
  unsigned restart = 0;
  std::int64_t start_unix_s = 0;
  std::int64_t end_unix_s = 0;
};

class Teller {
 public:
  explicit Teller(const LifeSources& sources)
      : sources_(sources), history_(find_run_history(sources.job.admin_comment)) {}

  JobLife tell() {
    life_.restarts = sources_.job.restarts;
    life_.events = sources_.others;
    list_runs();
    tell_submission();
    tell_runs();
    tell_checkpoints();
    tell_accusations();
    add_up();
    std::stable_sort(life_.events.begin(), life_.events.end(),
                     [](const LifeEvent& a, const LifeEvent& b) { return a.unix_ms < b.unix_ms; });
    return std::move(life_);
  }

 private:
  const LifeFacts& job() const { return sources_.job; }

  void say(std::int64_t unix_s, std::string what, std::string text) {
    if (unix_s > 0) life_.events.push_back({unix_s * 1000, std::move(what), std::move(text)});
  }

  // The kept ones are the last; the present one has Slurm's own count of restarts.
  void list_runs() {
    const auto kept = static_cast<unsigned>(history_.runs.size());
    life_.complete = kept >= job().restarts;
    unsigned restart = job().restarts - std::min(job().restarts, kept);
    for (const auto& run : history_.runs)
      runs_.push_back({restart++, run.start_unix_s, run.end_unix_s});
    if (job().start_unix_s > 0)
      runs_.push_back({job().restarts, job().start_unix_s,
                       job().end_unix_s > 0 ? job().end_unix_s : sources_.now_unix_s});
    std::erase_if(runs_, [](const Run& run) { return run.start_unix_s <= 0; });
  }

  // What its own watch has found.
  void tell_accusations() {
    for (const auto& one : find_accusations(job().admin_comment))
      say(one.unix_s, one.hangs ? "hang" : "slow",
          one.node + (one.hangs ? " stopped first" : " is slower than its peers"));
  }

  void tell_submission() {
    const auto policy = find_policy(job().admin_comment);
    say(history_.submitted_unix_s > 0 ? history_.submitted_unix_s
        : job().restarts == 0         ? job().submit_unix_s
                                      : 0,
        "submitted", policy ? "policy " + std::string(name_of(policy->recovery)) : "no policy");
  }

  void tell_runs() {
    unsigned restart = job().restarts - std::min<unsigned>(job().restarts, history_.runs.size());
    for (const auto& run : history_.runs) {
      say(run.start_unix_s, "started", "run " + std::to_string(restart));
      say(run.end_unix_s, "requeued",
          "run " + std::to_string(restart++) + " ended, cause " + std::string(name_of(run.cause)) +
              (run.node.empty() ? "" : ", node " + run.node));
    }
    say(job().start_unix_s, "started",
        "run " + std::to_string(job().restarts) + " on " + job().nodes);
    if (job().end_unix_s > 0) say(job().end_unix_s, "ended", job().state);
  }

  const CheckpointFact* checkpoint(const std::string& name) const {
    const auto found = std::find_if(sources_.checkpoints.begin(), sources_.checkpoints.end(),
                                    [&](const CheckpointFact& fact) { return fact.name == name; });
    return found == sources_.checkpoints.end() ? nullptr : &*found;
  }

  // The checkpoint from which the run with this number began.
  const ResumeRecord* resumption(unsigned restart) const {
    const ResumeRecord* last = nullptr;
    for (const auto& record : sources_.resumed)
      if (record.job_id == job().id && record.restart == restart) last = &record;
    return last;
  }

  void tell_checkpoints() {
    for (const auto& fact : sources_.checkpoints)
      say(fact.published_unix_s, "checkpoint", fact.name);
    for (const auto& run : runs_)
      if (const auto* record = resumption(run.restart))
        say(run.start_unix_s, "resumed",
            "run " + std::to_string(run.restart) + " from " + record->name);
  }

  // Seconds of the run that the next one had to do again.
  double redone(const Run& run, const Run& next) const {
    const auto policy = find_policy(job().admin_comment);
    if (policy && policy->workload == Workload::kInference) return 0;  // what was served is served
    const auto* record = resumption(next.restart);
    const auto* used = record ? checkpoint(record->name) : nullptr;
    const auto kept = used ? std::max(run.start_unix_s, used->published_unix_s) : run.start_unix_s;
    return static_cast<double>(std::max<std::int64_t>(0, run.end_unix_s - kept));
  }

  std::optional<std::int64_t> lost_steps(const Run& run, const Run& next) const {
    const auto reached =
        std::find_if(sources_.reached.begin(), sources_.reached.end(),
                     [&](const ReachedStep& step) { return step.restart == run.restart; });
    if (reached == sources_.reached.end()) return std::nullopt;
    const auto* record = resumption(next.restart);
    if (!record) return reached->step;
    const auto* used = checkpoint(record->name);
    if (!used || !used->step) return std::nullopt;
    return std::max<std::int64_t>(0, reached->step - *used->step);
  }

  void add_up() {
    if (runs_.empty()) return;
    std::optional<std::int64_t> steps = 0;
    double ran_s = 0;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      ran_s += static_cast<double>(runs_[i].end_unix_s - runs_[i].start_unix_s);
      if (i + 1 == runs_.size()) break;
      life_.redone_s += redone(runs_[i], runs_[i + 1]);
      const auto lost = lost_steps(runs_[i], runs_[i + 1]);
      steps = steps && lost ? std::optional(*steps + *lost) : std::nullopt;
    }
    life_.steps_lost = steps;
    const bool waits = job().start_unix_s == 0;
    const auto last_s = waits ? sources_.now_unix_s : runs_.back().end_unix_s;
    life_.wall_s = static_cast<double>(last_s - runs_.front().start_unix_s);
    life_.waiting_s = std::max(0.0, life_.wall_s - ran_s);
    life_.useful_s = std::max(0.0, ran_s - life_.redone_s);
    if (life_.wall_s > 0) life_.ettr = life_.useful_s / life_.wall_s;
  }

  const LifeSources& sources_;
  RunHistory history_;
  std::vector<Run> runs_;
  JobLife life_;
};

}  // namespace

JobLife tell_life(const LifeSources& sources) { return Teller(sources).tell(); }

}  // namespace acrf
