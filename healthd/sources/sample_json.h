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

// The request for a whole answer, and for what has changed since the last one. Of some 50 readings
// a GPU three or four change from second to second.
inline constexpr char kWholeRequest[] = "sample";
inline constexpr char kChangesRequest[] = "changes";

// Without a line break. `before`, which may be null, is what the reader has already.
std::string encode_answer(const Result<ProbeAnswer>& answer, const ProbeAnswer* before = nullptr);

// An Error is the probe's own, or a line that is no answer, or changes of a GPU that is not in
// `before`. GPUs whose address is unknown are left out; a key of the wrong type is unknown.
// `driver`, which may be null, is set to the driver's version where the answer has it.
Result<std::vector<GpuSample>> parse_samples(const std::string& answer,
                                             const std::vector<GpuSample>& before = {},
                                             std::string* driver = nullptr);

}  // namespace acrf
