// SPDX-License-Identifier: GPL-2.0-or-later
// Answers of the vendor probes on the wire: one line of JSON, as core/gpu_sample.h describes it.
#pragma once

#include <string>
#include <vector>

#include "core/gpu_sample.h"
#include "core/result.h"

namespace acrf {

struct ProbeAnswer {
  std::string driver;
  std::vector<GpuSample> gpus;
};

// Without a line break.
std::string encode_answer(const Result<ProbeAnswer>& answer);

// An Error is the probe's own, or a line that is no answer. GPUs whose address is unknown are left
// out; a key of the wrong type is unknown.
Result<std::vector<GpuSample>> parse_samples(const std::string& answer);

}  // namespace acrf
