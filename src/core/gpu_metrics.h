// SPDX-License-Identifier: GPL-2.0-or-later
// What is told of each GPU in numbers: by nodes to hubs, by hubs and by the commands to people.
#pragma once

#include <array>
#include <string_view>

#include "core/gpu_sample.h"

namespace acrf {

// The order is that of a sample in POST /v1/report.
inline constexpr std::array<std::string_view, 8> kGpuMetrics = {
    "temperature_c", "memory_temperature_c", "power_w",       "utilization_percent",
    "ecc_corrected", "ecc_uncorrected",      "nvlink_errors", "pcie_replays"};

// What `sample` does not know is taken from `other`, of another library, where there is one.
std::array<Reading, kGpuMetrics.size()> metrics_of(const GpuSample& sample,
                                                   const GpuSample* other = nullptr);

}  // namespace acrf
