// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/gpu_metrics.h"

#include <initializer_list>

namespace acrf {
namespace {

// Nothing when none of them is known.
Reading sum_of(std::initializer_list<Reading> readings) {
  Reading sum;
  for (const auto& reading : readings)
    if (reading) sum = sum.value_or(0) + *reading;
  return sum;
}

}  // namespace

std::array<Reading, kGpuMetrics.size()> metrics_of(const GpuSample& sample,
                                                   const GpuSample* other) {
  Reading power_w;
  if (sample.power_mw) power_w = (*sample.power_mw + 500) / 1000;
  std::array<Reading, kGpuMetrics.size()> metrics = {
      sample.temperature_c,
      sample.memory_temperature_c,
      power_w,
      sample.utilization_percent,
      sum_of({sample.aggregate_sram_corrected, sample.aggregate_dram_corrected}),
      sum_of({sample.aggregate_sram_uncorrected, sample.aggregate_dram_uncorrected}),
      sum_of({sample.nvlink_crc, sample.nvlink_replay, sample.nvlink_recovery}),
      sample.pcie_replays};
  if (!other) return metrics;
  const auto others = metrics_of(*other);
  for (std::size_t i = 0; i < metrics.size(); ++i)
    if (!metrics[i]) metrics[i] = others[i];
  return metrics;
}

}  // namespace acrf
