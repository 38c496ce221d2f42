// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay.h"

#include <fmt/format.h>

#include <algorithm>

namespace acrf::perf {
namespace {

// The saturating jobs need a while to fill the cluster.
constexpr std::int64_t kFilling_s = 3600;

std::int64_t tick_after(std::int64_t time_s) { return (time_s + kTick_s - 1) / kTick_s * kTick_s; }

}  // namespace

Result<ReplayResult> Replay::run() {
  page_.set_clock(0);
  if (const auto done = tick(); !done) return done.error();
  for (auto next = next_tick(); next <= plan_.end_s; next = next_tick()) {
    advance_to(next);
    if (const auto done = tick(); !done) return done.error();
  }
  advance_to(plan_.end_s);
  result_.saturated = books_.usage();
  count_unstarted();
  result_.by_main = books_.placements(StartedBy::kMain);
  result_.by_backfill = books_.placements(StartedBy::kBackfill);
  return std::move(result_);
}

std::int64_t Replay::next_tick() const {
  std::int64_t next = plan_.end_s + 1;
  if (arrived_ < jobs_.size()) next = std::min(next, tick_after(jobs_[arrived_].arrival_s));
  if (!running_.empty()) next = std::min(next, running_.top().time_s);
  return std::max(next, now_s_ + 1);
}

// Usage is counted up to the saturated phase, and anew once that has filled the cluster.
void Replay::advance_to(std::int64_t time_s) {
  for (const auto border : {plan_.saturated_from_s, plan_.saturated_from_s + kFilling_s}) {
    if (now_s_ >= border || time_s < border) continue;
    books_.pass_time(static_cast<double>(border - now_s_));
    now_s_ = border;
    if (border == plan_.saturated_from_s) result_.steady = books_.usage();
    books_.reset_usage();
  }
  books_.pass_time(static_cast<double>(time_s - now_s_));
  now_s_ = time_s;
}

Status Replay::tick() {
  ++result_.ticks;
  page_.set_clock(now_s_);
  if (const auto done = end_jobs(); !done) return done;
  if (const auto done = submit_jobs(); !done) return done;
  return schedule();
}

Status Replay::end_jobs() {
  while (!running_.empty() && running_.top().time_s <= now_s_) {
    const auto& job = running_.top().job;
    if (const auto done = controller_.cancel(job.id); !done) return done;
    books_.end(job);
    running_.pop();
  }
  return Done{};
}

Status Replay::submit_jobs() {
  while (arrived_ < jobs_.size() && tick_after(jobs_[arrived_].arrival_s) <= now_s_) {
    const auto id = controller_.submit(jobs_[arrived_]);
    if (!id) return id.error();
    pending_[*id] = arrived_++;
  }
  return Done{};
}

Status Replay::schedule() {
  if (pending_.empty()) return Done{};
  if (const auto done = controller_.run_main_scheduler(); !done) return done;
  if (const auto done = note_starts(StartedBy::kMain); !done) return done;
  if (pending_.empty() || now_s_ < next_backfill_s_) return Done{};
  next_backfill_s_ = now_s_ + kBackfillInterval_s;
  if (const auto done = controller_.run_backfill(); !done) return done;
  return note_starts(StartedBy::kBackfill);
}

// Both schedulers go through the queue in the order of submission, and so do these.
Status Replay::note_starts(StartedBy by) {
  const auto jobs = controller_.held_jobs();
  if (!jobs) return jobs.error();
  for (const auto& held : *jobs)
    if (pending_.contains(held.id))
      if (const auto done = note_start(held, by); !done) return done;
  return Done{};
}

std::vector<bool> Replay::offered_to(std::uint32_t job) const {
  std::vector<bool> offered(static_cast<std::size_t>(plan_.cluster_gpus / kGpusPerNode));
  for (std::size_t node = 0; node < offered.size(); ++node)
    offered[node] = page_.was_offered(job, static_cast<int>(node));
  return offered;
}

Status Replay::note_start(const HeldJob& held, StartedBy by) {
  const auto& job = jobs_[pending_.at(held.id)];
  pending_.erase(held.id);
  const bool judged = job.arrival_s > 0;
  if (judged) books_.judge(held, job.gpus_per_node, offered_to(held.id), by);
  if (!books_.start(held, job.gpus_per_node)) {
    return Error{
        ErrorCode::kUnavailable,
        fmt::format("job {} got GPUs that are not free, or not as many as it wants", held.id)};
  }
  running_.push({tick_after(now_s_ + job.duration_s), held});
  ++result_.started;
  if (judged && job.arrival_s < plan_.saturated_from_s)
    result_.waits.push_back({job.gpus(), static_cast<double>(now_s_ - tick_after(job.arrival_s))});
  return Done{};
}

void Replay::count_unstarted() {
  for (const auto& [id, index] : pending_) {
    const auto& job = jobs_[index];
    if (job.arrival_s >= plan_.saturated_from_s) continue;
    result_.waits.push_back(
        {job.gpus(), static_cast<double>(plan_.end_s - tick_after(job.arrival_s))});
    ++result_.never_started;
  }
}

}  // namespace acrf::perf
