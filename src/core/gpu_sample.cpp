// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/gpu_sample.h"

namespace acrf {

const std::vector<ReadingName>& reading_names() {
  static const std::vector<ReadingName> kNames = {
      {"temperature_c", &GpuSample::temperature_c},
      {"memory_temperature_c", &GpuSample::memory_temperature_c},
      {"slowdown_c", &GpuSample::slowdown_c},
      {"shutdown_c", &GpuSample::shutdown_c},
      {"memory_max_c", &GpuSample::memory_max_c},
      {"power_mw", &GpuSample::power_mw},
      {"power_limit_mw", &GpuSample::power_limit_mw},
      {"utilization_percent", &GpuSample::utilization_percent},
      {"slowdown_hardware", &GpuSample::slowdown_hardware},
      {"slowdown_thermal", &GpuSample::slowdown_thermal},
      {"slowdown_power", &GpuSample::slowdown_power},
      {"volatile_sram_corrected", &GpuSample::volatile_sram_corrected},
      {"volatile_sram_uncorrected", &GpuSample::volatile_sram_uncorrected},
      {"volatile_dram_corrected", &GpuSample::volatile_dram_corrected},
      {"volatile_dram_uncorrected", &GpuSample::volatile_dram_uncorrected},
      {"aggregate_sram_corrected", &GpuSample::aggregate_sram_corrected},
      {"aggregate_sram_uncorrected", &GpuSample::aggregate_sram_uncorrected},
      {"aggregate_dram_corrected", &GpuSample::aggregate_dram_corrected},
      {"aggregate_dram_uncorrected", &GpuSample::aggregate_dram_uncorrected},
      {"sram_threshold_exceeded", &GpuSample::sram_threshold_exceeded},
      {"remapped_corrected", &GpuSample::remapped_corrected},
      {"remapped_uncorrected", &GpuSample::remapped_uncorrected},
      {"remap_pending", &GpuSample::remap_pending},
      {"remap_failure", &GpuSample::remap_failure},
      {"remap_banks_without_spares", &GpuSample::remap_banks_without_spares},
      {"retired_pages", &GpuSample::retired_pages},
      {"retired_pages_pending", &GpuSample::retired_pages_pending},
      {"retired_pages_failed", &GpuSample::retired_pages_failed},
      {"pcie_replays", &GpuSample::pcie_replays},
      {"pcie_fatal", &GpuSample::pcie_fatal},
      {"pcie_generation", &GpuSample::pcie_generation},
      {"pcie_generation_max", &GpuSample::pcie_generation_max},
      {"pcie_width", &GpuSample::pcie_width},
      {"pcie_width_max", &GpuSample::pcie_width_max},
      {"nvlink_crc", &GpuSample::nvlink_crc},
      {"nvlink_replay", &GpuSample::nvlink_replay},
      {"nvlink_recovery", &GpuSample::nvlink_recovery},
      {"fabric_state", &GpuSample::fabric_state},
      {"fabric_status", &GpuSample::fabric_status},
      {"fabric_degraded", &GpuSample::fabric_degraded},
      {"xgmi_error", &GpuSample::xgmi_error},
      {"recovery_action", &GpuSample::recovery_action},
      {"persistence", &GpuSample::persistence},
      {"mig", &GpuSample::mig},
      {"memory_health", &GpuSample::memory_health},
      {"wedged", &GpuSample::wedged},
      {"repair_reset", &GpuSample::repair_reset},
  };
  return kNames;
}

const std::vector<LinkReadingName>& link_reading_names() {
  static const std::vector<LinkReadingName> kNames = {
      {"active", &LinkSample::active},
      {"crc", &LinkSample::crc},
      {"replay", &LinkSample::replay},
      {"recovery", &LinkSample::recovery},
      {"recovery_failed", &LinkSample::recovery_failed},
      {"symbol_errors", &LinkSample::symbol_errors},
  };
  return kNames;
}

std::string identity_of(const GpuSample& sample) {
  return sample.uuid.empty() ? "" : sample.uuid + "/" + sample.serial;
}

}  // namespace acrf
