// SPDX-License-Identifier: GPL-2.0-or-later
#include "soak_books.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace acrf::minicluster {
namespace {

constexpr Seconds kForever = std::numeric_limits<Seconds>::max();
constexpr Seconds kMemory = 120;  // longer ago than any job runs

}  // namespace

void SoakBooks::see(const std::vector<JobRecord>& jobs, Seconds now) {
  check_at_once(jobs);
  forget_before(now - kMemory);
  for (const auto& job : jobs) {
    if (!job.holds_gpus() && !job.has_ended()) continue;
    if (job.start <= now - kMemory || job.gpus.empty()) continue;
    seen_.insert(job.id + "@" + std::to_string(job.start));
    for (const auto& [node, gpus] : job.gpus) {
      check_health(job, node, gpus);
      for (int gpu = 0; gpu < 64; ++gpu)
        if (gpus >> gpu & 1)
          note_run(node, gpu, {job.id, job.start, job.holds_gpus() ? now : job.end});
    }
  }
}

void SoakBooks::check_at_once(const std::vector<JobRecord>& jobs) {
  std::map<std::string, GpuMask> taken;
  for (const auto& job : jobs) {
    if (!job.holds_gpus()) continue;
    for (const auto& [node, gpus] : job.gpus) {
      if (taken[node] & gpus)
        wrongs_.insert(
            fmt::format("job {} ({}) holds GPUs {:#x} of {}, of which {:#x} are another's", job.id,
                        job.state, gpus, node, taken[node] & gpus));
      taken[node] |= gpus;
    }
  }
}

void SoakBooks::check_health(const JobRecord& job, const std::string& node, GpuMask gpus) {
  for (const auto& quarantine : quarantines_[node])
    if ((quarantine.gpus & gpus) && quarantine.from < job.start && job.start < quarantine.until)
      wrongs_.insert(fmt::format(
          "job {} started at {} with GPUs {:#x} of {}, of which {:#x} were in quarantine since {}",
          job.id, job.start, gpus, node, quarantine.gpus & gpus, quarantine.from));
}

void SoakBooks::note_run(const std::string& node, int gpu, const Run& run) {
  auto& runs = runs_[{node, gpu}];
  bool known = false;
  for (auto& other : runs) {
    if (other.job == run.job && other.start == run.start) {
      other.held_until = std::max(other.held_until, run.held_until);
      known = true;
    } else if (other.start < run.held_until && run.start < other.held_until) {
      wrongs_.insert(fmt::format("GPU {} of {}: job {} held it from {} to {}, job {} from {} to {}",
                                 gpu, node, other.job, other.start, other.held_until, run.job,
                                 run.start, run.held_until));
    }
  }
  if (!known) runs.push_back(run);
}

void SoakBooks::forget_before(Seconds time) {
  for (auto& [where, runs] : runs_)
    std::erase_if(runs, [&](const Run& run) { return run.held_until < time; });
}

void SoakBooks::begin_quarantine(const std::string& node, GpuMask gpus, Seconds now) {
  if (gpus) quarantines_[node].push_back({gpus, now, kForever});
}

void SoakBooks::end_quarantine(const std::string& node, Seconds now) {
  for (auto& quarantine : quarantines_[node]) quarantine.until = std::min(quarantine.until, now);
}

GpuMask SoakBooks::quarantined(const std::string& node) const {
  const auto found = quarantines_.find(node);
  if (found == quarantines_.end() || found->second.empty()) return 0;
  const auto& last = found->second.back();
  return last.until == kForever ? last.gpus : 0;
}

std::vector<std::string> compare_books(const std::vector<JobRecord>& jobs,
                                       const std::vector<NodeRecord>& nodes) {
  GpusByNode held;
  for (const auto& job : jobs)
    if (job.holds_gpus())
      for (const auto& [node, gpus] : job.gpus) held[node] |= gpus;
  std::vector<std::string> wrongs;
  for (const auto& node : nodes) {
    if (node.has_indices && node.gpus != held[node.name])
      wrongs.push_back(fmt::format("{} ({}): its jobs hold GPUs {:#x}, it shows {:#x}", node.name,
                                   node.state, held[node.name], node.gpus));
    if (node.cpus_allocated > node.cpus || node.memory_allocated_mb > node.memory_mb)
      wrongs.push_back(fmt::format("{}: {} of {} CPUs and {} of {} MB are allocated", node.name,
                                   node.cpus_allocated, node.cpus, node.memory_allocated_mb,
                                   node.memory_mb));
  }
  return wrongs;
}

}  // namespace acrf::minicluster
