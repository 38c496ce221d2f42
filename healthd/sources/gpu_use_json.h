// SPDX-License-Identifier: GPL-2.0-or-later
// The answer of the job probe: one line of JSON.
#pragma once

#include <string>
#include <vector>

#include "core/gpu_owner.h"
#include "core/result.h"

namespace acrf {

struct JobAnswer {
  std::vector<GpuUse> uses;                     // that last
  std::vector<std::optional<PciAddress>> gpus;  // of the node, in Slurm's order
  std::string problem;                          // why not all may be known; empty: they are
  bool operator==(const JobAnswer&) const = default;
};

std::string job_answer_to_json(const JobAnswer& answer);
Result<JobAnswer> job_answer_from_json(const std::string& line);

}  // namespace acrf
