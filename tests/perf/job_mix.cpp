// SPDX-License-Identifier: GPL-2.0-or-later
#include "job_mix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numbers>

#include "common/file.h"
#include "core/text.h"
#include "unit/random.h"

namespace acrf::perf {
namespace {

// Durations are this part of the trace's, so that a replay of hours places a thousand jobs or more.
constexpr double kTimeScale = 1.0 / 3;
// Longer jobs would outlast the replay and leave nothing to place.
constexpr double kLongest_s = 12 * 3600;
constexpr double kShortest_s = 60;
constexpr int kSmallestLarge = 16;  // GPUs
constexpr double kSpread = 1.0;     // of the logarithm of large jobs' durations

double fraction(Random& random) {
  return static_cast<double>(random.next() >> 11) / static_cast<double>(1ull << 53);
}

// Log-normal.
double duration(Random& random, double mean_s, double spread) {
  const double radius = std::sqrt(-2 * std::log(1 - fraction(random)));
  const double normal = radius * std::cos(2 * std::numbers::pi * fraction(random));
  return mean_s * std::exp(spread * normal - spread * spread / 2);
}

double number(std::string_view text) { return std::strtod(std::string(text).c_str(), nullptr); }

// timestamp,duration,num_gpus,...
Result<std::vector<TraceJob>> read_philly(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return text.error();
  std::vector<TraceJob> jobs;
  const auto lines = split(trim(*text), '\n');
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto fields = split(lines[i], ',');
    if (fields.size() < 3) continue;
    const auto gpus = parse_unsigned(fields[2]);
    if (gpus && *gpus > 0) jobs.push_back({static_cast<int>(*gpus), number(fields[1])});
  }
  if (jobs.empty()) return Error{ErrorCode::kInvalid, path + " names no job"};
  return jobs;
}

// One cluster's row of the summary, by column.
Result<std::map<std::string, double>> read_summary(const std::string& path,
                                                   std::string_view cluster) {
  const auto text = read_file(path);
  if (!text) return text.error();
  const auto lines = split(trim(*text), '\n');
  const auto names = split(trim(lines[0]), ',');
  for (const auto& line : lines) {
    const auto fields = split(trim(line), ',');
    if (fields[0] != cluster) continue;
    std::map<std::string, double> values;
    for (std::size_t i = 1; i < std::min(names.size(), fields.size()); ++i)
      values[std::string(names[i])] = number(fields[i]);
    return values;
  }
  return Error{ErrorCode::kInvalid, fmt::format("{} has no row {}", path, cluster)};
}

// Draws jobs of the mix.
class Mix {
 public:
  Mix(const JobPool& pool, std::uint64_t seed) : pool_(pool), random_(seed) {
    double gpus = 0, gpu_seconds = 0;
    for (const auto& job : pool.small) {
      gpus += job.gpus;
      gpu_seconds += job.gpus * std::clamp(job.duration_s, kShortest_s, kLongest_s);
    }
    const auto count = static_cast<double>(pool.small.size());
    for (int size = kSmallestLarge; size <= pool.most_gpus; size *= 2) large_.push_back(size);
    double mean_large = 0;
    for (const int size : large_) mean_large += size / static_cast<double>(large_.size());
    large_share_ = (pool.mean_gpus - gpus / count) / (mean_large - gpus / count);
    large_mean_s_ = (pool.mean_gpu_seconds - (1 - large_share_) * gpu_seconds / count) /
                    (large_share_ * mean_large);
  }

  TraceJob draw() {
    TraceJob job;
    if (fraction(random_) < large_share_) {
      job.gpus = large_[static_cast<std::size_t>(random_.below(static_cast<int>(large_.size())))];
      job.duration_s = duration(random_, large_mean_s_, kSpread);
    } else {
      job =
          pool_
              .small[static_cast<std::size_t>(random_.below(static_cast<int>(pool_.small.size())))];
    }
    job.duration_s = std::clamp(job.duration_s, kShortest_s, kLongest_s);
    return job;
  }

  // A job that is found running, with what is left of it: long ones are found more often.
  TraceJob draw_running() {
    TraceJob job = draw();
    while (fraction(random_) * kLongest_s > job.duration_s) job = draw();
    job.duration_s = std::max(1.0, job.duration_s * fraction(random_));
    return job;
  }

  std::int64_t time_between(std::int64_t from_s, std::int64_t to_s) {
    return from_s +
           static_cast<std::int64_t>(fraction(random_) * static_cast<double>(to_s - from_s));
  }

 private:
  const JobPool& pool_;
  Random random_;
  std::vector<int> large_;
  double large_share_ = 0, large_mean_s_ = 0;
};

Job shaped(const TraceJob& trace, std::int64_t arrival_s) {
  const int nodes = (trace.gpus + kGpusPerNode - 1) / kGpusPerNode;
  return {arrival_s, static_cast<std::int64_t>(std::ceil(trace.duration_s * kTimeScale)), nodes,
          (trace.gpus + nodes - 1) / nodes};
}

void add_running(Mix& mix, double gpus, std::vector<Job>& jobs) {
  while (gpus >= 1) {
    const Job job = shaped(mix.draw_running(), 0);
    if (job.gpus() > gpus) continue;
    jobs.push_back(job);
    gpus -= job.gpus();
  }
}

void add_arrivals(Mix& mix, double gpu_seconds, std::int64_t from_s, std::int64_t to_s,
                  std::vector<Job>& jobs) {
  while (gpu_seconds > 0) {
    jobs.push_back(shaped(mix.draw(), mix.time_between(from_s, to_s)));
    gpu_seconds -= static_cast<double>(jobs.back().gpus() * jobs.back().duration_s);
  }
}

}  // namespace

Result<JobPool> read_pool(const std::string& directory) {
  auto small = read_philly(directory + "/philly/philly_sia.csv");
  if (!small) return small.error();
  auto kalos = read_summary(directory + "/acme/cluster_summary.csv", "Kalos");
  if (!kalos) return kalos.error();
  const auto& columns = *kalos;
  JobPool pool{"Philly's jobs, and large ones in Kalos' proportions", std::move(*small), 0, 0, 0};
  for (const char* name : {"avg_gpu_num", "max_gpu", "gpu_job_num", "complete_gpu_time"})
    if (!columns.contains(name) || columns.at(name) <= 0)
      return Error{ErrorCode::kInvalid, fmt::format("the summary of Kalos lacks {}", name)};
  pool.mean_gpus = columns.at("avg_gpu_num");
  pool.most_gpus = static_cast<int>(columns.at("max_gpu"));
  pool.mean_gpu_seconds = (columns.at("complete_gpu_time") + columns.at("cancel_gpu_time") +
                           columns.at("fail_gpu_time")) /
                          columns.at("gpu_job_num");
  return pool;
}

// Published figures: Philly's shares of sizes with their mean durations, Kalos' means.
JobPool synthetic_pool(std::uint64_t seed) {
  struct Size {
    int gpus;
    double share, mean_s;
  };
  const Size kSizes[] = {{1, .932, 8300},   {2, .022, 30900},    {4, .023, 78800},
                         {8, .020, 129800}, {16, .0024, 127000}, {32, .0008, 29900}};
  constexpr int kJobs = 20000;
  constexpr double kWideSpread = 2.0;  // mean about seven times the median, as in Philly
  JobPool pool{
      "SYNTHETIC: jobs from published figures of Philly and Kalos", {}, 26.77, 1024, 268000};
  Random random(seed);
  for (const auto& size : kSizes)
    for (int i = 0; i < static_cast<int>(size.share * kJobs); ++i)
      pool.small.push_back({size.gpus, duration(random, size.mean_s, kWideSpread)});
  return pool;
}

std::vector<Job> draw_jobs(const JobPool& pool, const LoadPlan& plan) {
  Mix mix(pool, plan.seed);
  std::vector<Job> jobs;
  const double gpus = plan.cluster_gpus;
  const auto steady_s = static_cast<double>(plan.saturated_from_s);
  const auto saturated_s = static_cast<double>(plan.end_s - plan.saturated_from_s);
  add_running(mix, gpus * plan.steady_load, jobs);
  add_arrivals(mix, gpus * plan.steady_load * steady_s, 1, plan.saturated_from_s, jobs);
  add_arrivals(mix, gpus * plan.saturating_load * saturated_s, plan.saturated_from_s, plan.end_s,
               jobs);
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const Job& a, const Job& b) { return a.arrival_s < b.arrival_s; });
  return jobs;
}

}  // namespace acrf::perf
