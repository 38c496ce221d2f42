// SPDX-License-Identifier: GPL-2.0-or-later
// The daemon's half: which job, user and step had a GPU when something happened to it. Answers come
// from memory and from files of /proc that never wait for a driver or a process; what keeps the
// memory true is a worker process. Not thread-safe.
#pragma once

#include <poll.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/config.h"
#include "core/gpu_owner.h"
#include "sources/probe.h"

namespace acrf {

class JobWatch {
 public:
  using Clock = Probe::Clock;

  // `config` has its paths expanded; `program` is acrf-healthd itself; `gres_conf` a path. What an
  // earlier run knew of jobs of this boot is taken over.
  JobWatch(const Config& config, const std::string& program, const std::string& node,
           const std::string& gres_conf, std::string boot_id);

  void add_poll_fds(std::vector<pollfd>& fds) const;
  Clock::time_point next_wake() const;  // time_point::max() when there is nothing to do
  void step(Clock::time_point now, std::int64_t unix_s);

  // Fills in job, user and step of an event on a GPU, where they can be told: by the process that
  // the event names, or by who had the GPU. `uptime_us` is when the kernel spoke of the process.
  void attribute(Event& event, std::uint64_t uptime_us = 0) const;

  // Slurm's numbers of the GPUs are known as far as they ever will be.
  bool has_answered() const { return !probe_ || has_answered_; }
  // The GPU's number as Slurm counts; nothing: not known.
  std::optional<int> gpu_index(const PciAddress& gpu) const;
  // Slurm gives this GPU to nobody: it knows where all of its own are, and this is none of them.
  bool is_no_gpu_of_slurm(const PciAddress& gpu) const;
  // As many as Slurm counts; 0: not known.
  int gpus() const { return static_cast<int>(gpus_.size()); }

 private:
  void take(const std::string& line, std::int64_t unix_s);
  void tell_problem(const std::string& problem);
  void remember();

  std::unique_ptr<Probe> probe_;  // none: the site does not want to know
  Clock::time_point next_ask_;
  std::string proc_;  // where /proc is; empty: its numbers are not the kernel's
  std::string boot_id_;
  std::string memory_path_, remembered_;
  std::string last_problem_;
  bool has_answered_ = false;
  bool knows_all_gpus_ = false;                  // by the last answer
  std::vector<std::optional<PciAddress>> gpus_;  // in Slurm's order
  GpuOwners owners_;
};

}  // namespace acrf
