// SPDX-License-Identifier: GPL-2.0-or-later
// NVML's functions by name, as far as this driver has them.
#pragma once

#include <string>

#include "common/nvml_abi.h"
#include "core/result.h"

namespace acrf {

struct NvmlLibrary {
  // An Error when even the functions that every NVML has are missing.
  static Result<NvmlLibrary> open(const std::string& name);

  acrf_nvml_init* init = nullptr;
  acrf_nvml_error_string* error_string = nullptr;
  acrf_nvml_driver_version* driver_version = nullptr;
  acrf_nvml_count* count = nullptr;
  acrf_nvml_handle_by_index* handle_by_index = nullptr;
  acrf_nvml_device_text* uuid = nullptr;
  acrf_nvml_device_text* serial = nullptr;
  acrf_nvml_device_text* name = nullptr;
  acrf_nvml_device_pci* pci = nullptr;
  acrf_nvml_device_temperature* temperature = nullptr;
  acrf_nvml_device_threshold* temperature_threshold = nullptr;
  acrf_nvml_device_power* power = nullptr;
  acrf_nvml_device_number* power_limit = nullptr;
  acrf_nvml_device_utilization* utilization = nullptr;
  acrf_nvml_device_mask* clock_reasons = nullptr;
  acrf_nvml_device_memory_errors* memory_errors = nullptr;
  acrf_nvml_device_sram_status* sram_status = nullptr;
  acrf_nvml_device_remapped_rows* remapped_rows = nullptr;
  acrf_nvml_device_row_histogram* row_histogram = nullptr;
  acrf_nvml_device_retired_pages* retired_pages = nullptr;
  acrf_nvml_device_state* retired_pages_pending = nullptr;
  acrf_nvml_device_number* pcie_replays = nullptr;
  acrf_nvml_device_number* pcie_generation = nullptr;
  acrf_nvml_device_number* pcie_generation_max = nullptr;
  acrf_nvml_device_number* pcie_width = nullptr;
  acrf_nvml_device_number* pcie_width_max = nullptr;
  acrf_nvml_device_link_state* link_state = nullptr;
  acrf_nvml_device_link_remote* link_remote = nullptr;
  acrf_nvml_device_link_errors* link_errors = nullptr;
  acrf_nvml_device_fields* fields = nullptr;
  acrf_nvml_device_fabric* fabric = nullptr;
  acrf_nvml_device_fabric_v* fabric_v = nullptr;
  acrf_nvml_device_state* persistence = nullptr;
  acrf_nvml_device_mig* mig = nullptr;
  acrf_nvml_event_set_create* event_set_create = nullptr;
  acrf_nvml_register_events* register_events = nullptr;
  acrf_nvml_event_set_wait* event_set_wait = nullptr;
};

}  // namespace acrf
