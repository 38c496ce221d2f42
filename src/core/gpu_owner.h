// SPDX-License-Identifier: GPL-2.0-or-later
// Who had a GPU, and when: the jobs that hold GPUs of this node now, and those that did until a few
// minutes ago, because a fault often shows when its job is already gone. Where two jobs may be
// meant, none is: what cannot be attributed stays unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/fault.h"
#include "core/xid.h"

namespace acrf {

// A job's hold on GPUs of this node. Times are of the node's clock.
struct GpuUse {
  std::uint64_t job = 0;
  std::uint64_t user = 0;
  std::int64_t since_s = 0;
  std::int64_t gone_s = 0;         // 0: it still has them
  bool has_all = false;            // all GPUs of the node, whatever their addresses
  std::vector<PciAddress> gpus;    // those whose addresses are known
  std::vector<std::string> steps;  // that ran on this node, "batch" and "extern" among them

  bool operator==(const GpuUse&) const = default;
};

struct GpuOwner {
  std::uint64_t job = 0;
  std::optional<std::uint64_t> user;
  std::string step;  // empty: not known
};

class GpuOwners {
 public:
  // All uses that last at `now_s`; those known before and not among them have ended.
  void update(const std::vector<GpuUse>& current, std::int64_t now_s);

  // The job that had the GPU then; or, when no other has had it since, the one that gave it back at
  // most five minutes before.
  std::optional<GpuOwner> owner_at(const PciAddress& gpu, std::int64_t unix_s) const;

  // Of a job that is or was here.
  std::optional<std::uint64_t> user_of(std::uint64_t job) const;

  // For a restart within the same boot. Nothing of a damaged line is taken over.
  std::string to_text(std::string_view boot_id) const;
  void take_text(std::string_view text, std::string_view boot_id);

 private:
  void end_missing(const std::vector<GpuUse>& current, std::int64_t now_s);

  std::vector<GpuUse> uses_;
};

// "0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_0" in the text of /proc/PID/cgroup: the
// job and step that slurmstepd put the process into. Groups that users may name themselves do not
// count.
std::optional<GpuOwner> job_of_cgroup(std::string_view cgroup);

// "job 7 step 0 of user 1000"; empty when no job is known.
std::string describe_owner(const Event& event);

}  // namespace acrf
