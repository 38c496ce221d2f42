// SPDX-License-Identifier: GPL-2.0-or-later
// Of Model: jobs, and how long those that lost their nodes waited for new ones.
#include <algorithm>
#include <unordered_map>

#include "hub/model.h"
#include "hub/model_json.h"

namespace acrf::hub {
namespace {

constexpr double kRecoveryBounds_s[] = {1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600};
constexpr std::size_t kMostRecoveries = 10'000;

bool runs(const JobLook& job) { return job.state == "RUNNING" || job.state == "SUSPENDED"; }
bool has_ended(const JobLook& job) { return job.end_ms != 0; }

// With the numbers of its nodes: a picture of the fleet has no use for names.
std::string news_of(const JobLook& job) {
  auto all = to_json(job);
  all["ranges"] = runs(job) ? job.node_ranges : decltype(job.node_ranges){};
  return all.dump();
}

double quantile(std::vector<double> sorted, double share) {
  if (sorted.empty()) return 0;
  const auto at = static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5);
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(at), sorted.end());
  return sorted[at];
}

}  // namespace

void Model::take_jobs(std::vector<JobLook> jobs) {
  std::vector<std::string> news;
  {
    const std::unique_lock lock(mutex_);
    std::unordered_map<std::uint32_t, const JobLook*> before;
    for (const auto& job : jobs_) before[job.id] = &job;
    for (const auto& job : jobs) {
      const auto old = before.find(job.id);
      if (old == before.end() || !(*old->second == job)) news.push_back(news_of(job));
    }
    follow_jobs(jobs);
    jobs_ = std::move(jobs);
    jobs_of_.assign(nodes_.size(), {});
    for (const auto& job : jobs_)
      for (const auto& [first, count] : runs(job) ? job.node_ranges : decltype(job.node_ranges){})
        for (int i = first; i < first + count && i < static_cast<int>(jobs_of_.size()); ++i)
          jobs_of_[static_cast<std::size_t>(i)].push_back(job.id);
  }
  for (auto& job : news) feed_.publish("job", std::move(job));
}

// What became of the jobs since the last look. A requeued job's submit time is that of its requeue.
void Model::follow_jobs(const std::vector<JobLook>& jobs) {
  std::unordered_map<std::uint32_t, const JobLook*> before;
  for (const auto& job : jobs_) before[job.id] = &job;
  for (const auto& job : jobs) {
    const auto found = before.find(job.id);
    const JobLook* old = found == before.end() ? nullptr : found->second;
    if (has_ended(job) && old && !has_ended(*old))
      ++(job.state == "COMPLETED" ? completed_ : failed_);
    if (old && job.restarts > old->restarts) requeued_ += job.restarts - old->restarts;
    const bool came_back = runs(job) && job.restarts > 0 && old &&
                           (!runs(*old) || old->restarts < job.restarts) &&
                           job.start_ms >= job.submit_ms;
    if (came_back) note_recovery(static_cast<double>(job.start_ms - job.submit_ms) / 1000);
  }
}

void Model::note_recovery(double seconds) {
  recovery_counts_.resize(std::size(kRecoveryBounds_s) + 1);
  const auto* bound =
      std::lower_bound(std::begin(kRecoveryBounds_s), std::end(kRecoveryBounds_s), seconds);
  ++recovery_counts_[static_cast<std::size_t>(bound - std::begin(kRecoveryBounds_s))];
  ++recovery_count_;
  recovery_sum_s_ += seconds;
  recoveries_.push_back(seconds);
  if (recoveries_.size() > kMostRecoveries) recoveries_.pop_front();
}

std::vector<JobLook> Model::jobs() const {
  const std::shared_lock lock(mutex_);
  return jobs_;
}

std::optional<JobLook> Model::job(std::uint32_t id) const {
  const std::shared_lock lock(mutex_);
  const auto found =
      std::find_if(jobs_.begin(), jobs_.end(), [&](const JobLook& job) { return job.id == id; });
  if (found == jobs_.end()) return std::nullopt;
  return *found;
}

ActTally Model::acts() const {
  const std::shared_lock lock(mutex_);
  return acts_;
}

Stats Model::stats(std::int64_t now_ms) const {
  Stats stats;
  stats.unix_ms = now_ms;
  std::vector<double> lags;
  const std::shared_lock lock(mutex_);
  int gpus = 0, allocated = 0;
  for (const auto& node : nodes_) {
    ++stats.nodes[static_cast<std::size_t>(node.state)];
    for (const char gpu : node.gpu_state) ++stats.gpus[static_cast<std::size_t>(gpu - '0')];
    gpus += static_cast<int>(node.gpu_state.size());
    stats.hub.nodes_reporting += !node.silent;
  }
  stats.jobs = {{"pending", 0}, {"running", 0}};
  double ettr = 0;
  int with_ettr = 0;
  for (const auto& job : jobs_) {
    if (runs(job)) allocated += job.gpus;
    stats.jobs["running"] += runs(job);
    stats.jobs["pending"] += job.state == "PENDING";
    if (!job.ettr || job.restarts == 0) continue;
    ettr += *job.ettr;
    ++with_ettr;
  }
  stats.jobs["completed"] = completed_;
  stats.jobs["failed"] = failed_;
  stats.jobs["requeued"] = requeued_;
  if (gpus > 0) stats.gpu_utilization = static_cast<double>(allocated) / gpus;
  if (with_ettr > 0) stats.ettr = ettr / with_ettr;
  for (const auto& [id, incident] : incidents_) stats.incidents_open += incident.closed_ms == 0;
  for (const auto& [opened_ms, id] : opened_)
    stats.incidents_last_hour += opened_ms >= now_ms - 3'600'000;
  stats.incidents_by_class = by_class_;
  auto& recoveries = stats.recoveries;
  recoveries.count = recovery_count_;
  recoveries.sum_s = recovery_sum_s_;
  recoveries.p50_s = quantile({recoveries_.begin(), recoveries_.end()}, 0.5);
  recoveries.p99_s = quantile({recoveries_.begin(), recoveries_.end()}, 0.99);
  for (std::size_t i = 0; i < std::size(kRecoveryBounds_s); ++i)
    recoveries.histogram.emplace_back(kRecoveryBounds_s[i],
                                      recovery_counts_.empty() ? 0 : recovery_counts_[i]);
  stats.hub.lag_ms_p50 = quantile({lags_.begin(), lags_.end()}, 0.5);
  stats.hub.lag_ms_p99 = quantile({lags_.begin(), lags_.end()}, 0.99);
  stats.hub.reports = reports_;
  stats.hub.refused = refused_;
  stats.hub.spooled = spooled_;
  stats.hub.reports_per_s = reports_per_s_;
  return stats;
}

void Model::publish_stats(std::int64_t now_ms) {
  {
    const std::unique_lock lock(mutex_);
    const std::uint64_t reports = reports_;
    if (rate_since_ms_ != 0 && now_ms > rate_since_ms_)
      reports_per_s_ = static_cast<double>(reports - reports_before_) * 1000 /
                       static_cast<double>(now_ms - rate_since_ms_);
    reports_before_ = reports;
    rate_since_ms_ = now_ms;
  }
  feed_.publish("stats", to_json(stats(now_ms)).dump());
}

}  // namespace acrf::hub
