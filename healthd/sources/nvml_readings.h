// SPDX-License-Identifier: GPL-2.0-or-later
// From NVML's calls to a sample's readings.
#pragma once

#include <vector>

#include "core/gpu_sample.h"
#include "sources/nvml_library.h"

namespace acrf {

// What never changes while the driver is loaded.
void read_nvml_limits(const NvmlLibrary& nvml, acrf_nvml_device_t gpu, GpuSample& sample);

// What was read of a GPU's links the last time.
struct NvmlLinkMemory {
  std::vector<std::uint64_t> totals;
  std::vector<LinkSample> links;
};

// Everything else. Gives GPU_IS_LOST or RESET_REQUIRED when any call says so, and SUCCESS
// otherwise. `links` is the caller's, kept between two calls for the same GPU.
acrf_nvml_return read_nvml(const NvmlLibrary& nvml, acrf_nvml_device_t gpu, NvmlLinkMemory& links,
                           GpuSample& sample);

}  // namespace acrf
