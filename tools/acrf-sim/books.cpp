// SPDX-License-Identifier: GPL-2.0-or-later
#include "books.h"

#include <algorithm>
#include <cmath>

namespace acrf::sim {
namespace {

using What = RunLine::What;

bool is_over(const std::string& state) {
  return state == "COMPLETED" || state == "FAILED" || state == "CANCELLED" || state == "TIMEOUT" ||
         state == "NODE_FAIL" || state == "OUT_OF_MEMORY" || state == "BOOT_FAIL" ||
         state == "DEADLINE";
}

constexpr std::int64_t kUnseen_ms = 30'000;  // how long a fault may go unseen
// How long slurmctld may take a job for running that has ended its work: until its other tasks and
// its script have ended, too.
constexpr std::int64_t kUnknownEnd_ms = 3000;

int count(const JobBook& job, What what) {
  return static_cast<int>(std::count_if(job.lines.begin(), job.lines.end(),
                                        [&](const RunLine& line) { return line.what == what; }));
}

bool began_twice(const JobBook& job) {
  std::set<int> begun;
  for (const auto& line : job.lines)
    if (line.what == What::kBegin && !begun.insert(line.restart).second) return true;
  return false;
}

const RunLine* begin_of(const JobBook& job, int restart) {
  for (const auto& line : job.lines)
    if (line.what == What::kBegin && line.restart == restart) return &line;
  return nullptr;
}

// The last one counts: work that a fault overtook is done again.
const RunLine* last_end(const JobBook& job) {
  const RunLine* last = nullptr;
  for (const auto& line : job.lines)
    if (line.what == What::kEnd) last = &line;
  return last;
}

// A harmful fault on a node of the run, by that time. The run may have begun on a GPU that was
// broken already and not yet seen to be.
bool can_end(const FaultBook& fault, const RunLine& run, std::int64_t until_ms) {
  return fault.harmful && fault.at_ms + kUnseen_ms >= run.at_ms && fault.at_ms <= until_ms &&
         std::find(run.nodes.begin(), run.nodes.end(), fault.node) != run.nodes.end();
}

void accuse(Figures& figures, const JobBook& job, const std::string& what) {
  figures.wrongs.push_back("job " + job.id + " (" + job.plan.name + ") " + what);
}

}  // namespace

std::optional<double> quantile(std::vector<double> values, double share) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const auto rank = std::ceil(share * static_cast<double>(values.size()));
  return values[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

const RunLine* JobBook::find(What what) const {
  for (const auto& line : lines)
    if (line.what == what) return &line;
  return nullptr;
}

void Books::submit(const std::string& id, const PlannedJob& plan, int retry, std::int64_t now_ms) {
  JobBook job;
  job.id = id;
  job.plan = plan;
  job.retry = retry;
  job.submitted_ms = now_ms;
  jobs_[id] = std::move(job);
  order_.push_back(id);
  open_.insert(id);
  retried_ += retry > 0;
}

void Books::add_line(const std::string& id, const RunLine& line) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return;
  found->second.lines.push_back(line);
  if (line.what != What::kFault) return;
  ++by_jobs_;
  PlannedFault fault;
  fault.kind = "by job " + id;
  faults_.push_back({fault, line.text, line.at_ms, true});
}

void Books::inject(const PlannedFault& fault, const std::string& node, bool harmful,
                   std::int64_t now_ms) {
  faults_.push_back({fault, node, now_ms, harmful});
}

void Books::see_case(const std::string& node, const std::string& key,
                     const std::string& fault_class, std::int64_t opened_ms, bool back,
                     std::int64_t now_ms) {
  if (closed_cases_.contains(key)) return;
  if (!back) {
    open_cases_.insert(key);
    return;
  }
  open_cases_.erase(key);
  closed_cases_.insert(key);
  repairs_.push_back({node, fault_class, static_cast<double>(now_ms - opened_ms) / 1000, now_ms});
}

std::vector<std::string> Books::look(const std::vector<QueueRow>& rows, int nodes_out,
                                     std::int64_t now_ms) {
  std::vector<std::string> ended;
  std::set<std::string> known;
  Sample sample;
  sample.at_ms = now_ms;
  int used = 0;
  for (const auto& row : rows) {
    const auto found = jobs_.find(row.id);
    if (found == jobs_.end()) continue;
    auto& job = found->second;
    known.insert(row.id);
    job.state = row.state;
    job.reason = row.reason;
    if (row.state == "RUNNING") used += row.nodes * job.plan.gpus;
    if (!is_over(row.state) || job.is_closed()) continue;
    job.closed_ms = now_ms;
    open_.erase(row.id);
    ended.push_back(row.id);
  }
  // Forgotten by slurmctld before its end was seen.
  for (const auto& id : std::set<std::string>(open_)) {
    if (known.contains(id)) continue;
    auto& job = jobs_.at(id);
    job.state = job.find(What::kEnd) ? "COMPLETED" : "LOST";
    job.closed_ms = now_ms;
    open_.erase(id);
  }
  const auto before_ms = samples_.empty() ? 0 : samples_.back().at_ms;
  for (const auto& [id, job] : jobs_) {
    sample.pending += job.state == "PENDING";
    sample.running += job.state == "RUNNING" || job.state == "COMPLETING";
    sample.completed += job.state == "COMPLETED";
    sample.failed += job.is_closed() && job.state != "COMPLETED";
  }
  sample.nodes_out = nodes_out;
  sample.sick_gpus = static_cast<int>(open_cases_.size());
  sample.gpu_share = gpus_ > 0 ? static_cast<double>(used) / gpus_ : 0;
  share_ms_ += sample.gpu_share * static_cast<double>(now_ms - before_ms);
  samples_.push_back(sample);
  return ended;
}

std::vector<std::string> Books::open_jobs() const { return {open_.begin(), open_.end()}; }

// By the last fault that can have ended the run before.
std::optional<Recovery> Books::recovery_of(const JobBook& job, std::size_t begin) const {
  const RunLine* before = nullptr;
  for (std::size_t i = 0; i < begin; ++i)
    if (job.lines[i].what == What::kBegin) before = &job.lines[i];
  if (!before) return std::nullopt;
  const auto& again = job.lines[begin];
  const FaultBook* cause = nullptr;
  for (const auto& fault : faults_) {
    if (!can_end(fault, *before, again.at_ms)) continue;
    if (!cause || fault.at_ms > cause->at_ms) cause = &fault;
  }
  if (!cause) return std::nullopt;
  const auto from_ms = std::max(cause->at_ms, before->at_ms);
  return Recovery{job.id, cause->node, static_cast<double>(again.at_ms - from_ms) / 1000,
                  again.at_ms};
}

std::vector<Recovery> Books::recoveries() const {
  std::vector<Recovery> all;
  for (const auto& id : order_) {
    const auto& job = jobs_.at(id);
    for (std::size_t i = 0; i < job.lines.size(); ++i) {
      if (job.lines[i].what != What::kBegin || job.lines[i].restart == 0) continue;
      if (auto recovery = recovery_of(job, i)) all.push_back(std::move(*recovery));
    }
  }
  return all;
}

// Work that was ended is done again only where a fault had hit the run's nodes before Slurm knew of
// the end: then the requeue was under way, and nobody can take it back.
void Books::judge_ends(const JobBook& job, Figures& figures) const {
  const RunLine* before = nullptr;  // the end before
  for (const auto& line : job.lines) {
    if (line.what != What::kEnd) continue;
    if (before) {
      const auto* run = begin_of(job, before->restart);
      const bool overtaken = run && line.restart > before->restart &&
                             std::any_of(faults_.begin(), faults_.end(), [&](const auto& fault) {
                               return can_end(fault, *run, before->at_ms + kUnknownEnd_ms);
                             });
      if (overtaken)
        ++figures.redone;
      else
        accuse(figures, job, "ended its work twice");
    }
    before = &line;
  }
}

void Books::judge_end(const JobBook& job, Figures& figures) const {
  if (count(job, What::kTwice) > 0)
    accuse(figures, job, "began while another of its runs was still there");
  judge_ends(job, figures);
  if (began_twice(job)) accuse(figures, job, "began twice with the same restart count");
  if (!job.is_closed()) return;
  const bool ended = job.find(What::kEnd);
  if (job.state == "COMPLETED" && !ended)
    accuse(figures, job, "is completed but did not do its work");
  const bool by_itself = count(job, What::kFail) > 0 || job.state == "TIMEOUT";
  if (job.state != "COMPLETED" && !by_itself && !ended)
    accuse(figures, job,
           "was lost: " + job.state + (job.reason.empty() ? "" : " (" + job.reason + ")"));
}

Figures Books::figures() const {
  Figures figures;
  std::vector<double> waiting, recovering;
  double work = 0, wall = 0;
  for (const auto& [id, job] : jobs_) {
    ++figures.submitted;
    figures.pending += job.state == "PENDING";
    figures.running += job.state == "RUNNING" || job.state == "COMPLETING";
    figures.completed += job.state == "COMPLETED";
    figures.failed += job.is_closed() && job.state != "COMPLETED";
    figures.held += job.state == "PENDING" && job.reason.rfind("ACRF", 0) == 0;
    figures.requeued += std::max(count(job, What::kBegin) - 1, 0);
    judge_end(job, figures);
    const auto* begun = job.find(What::kBegin);
    if (!begun) continue;
    waiting.push_back(static_cast<double>(begun->at_ms - job.submitted_ms) / 1000);
    const auto* ended = last_end(job);
    if (!ended || ended->at_ms <= begun->at_ms) continue;
    const double lasted = static_cast<double>(ended->at_ms - begun->at_ms) / 1000;
    work += std::min(job.plan.seconds, lasted);
    wall += lasted;
  }
  for (const auto& recovery : recoveries()) recovering.push_back(recovery.seconds);
  figures.recovered = static_cast<int>(recovering.size());
  figures.recover_p50_s = quantile(recovering, 0.5);
  figures.recover_p99_s = quantile(recovering, 0.99);
  figures.recover_max_s = quantile(recovering, 1);
  figures.waiting_p50_s = quantile(waiting, 0.5);
  figures.waiting_p99_s = quantile(waiting, 0.99);
  if (wall > 0) figures.ettr = work / wall;
  figures.retried = retried_;
  figures.injected = static_cast<int>(faults_.size());
  figures.by_jobs = by_jobs_;
  figures.skipped = skipped_;
  figures.repaired = static_cast<int>(repairs_.size());
  figures.under_repair = static_cast<int>(open_cases_.size());
  if (!samples_.empty() && samples_.back().at_ms > 0)
    figures.gpu_share = share_ms_ / static_cast<double>(samples_.back().at_ms);
  return figures;
}

}  // namespace acrf::sim
