// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/nvml_library.h"

#include "sources/shared_library.h"

namespace acrf {

Result<NvmlLibrary> NvmlLibrary::open(const std::string& name) {
  const auto library = SharedLibrary::open(name);
  if (!library) return library.error();
  NvmlLibrary nvml;
  library->load("nvmlInit_v2", nvml.init);
  library->load("nvmlErrorString", nvml.error_string);
  library->load("nvmlSystemGetDriverVersion", nvml.driver_version);
  library->load("nvmlDeviceGetCount_v2", nvml.count);
  library->load("nvmlDeviceGetHandleByIndex_v2", nvml.handle_by_index);
  library->load("nvmlDeviceGetUUID", nvml.uuid);
  library->load("nvmlDeviceGetSerial", nvml.serial);
  library->load("nvmlDeviceGetName", nvml.name);
  library->load("nvmlDeviceGetPciInfo_v3", nvml.pci);
  library->load("nvmlDeviceGetTemperature", nvml.temperature);
  library->load("nvmlDeviceGetTemperatureThreshold", nvml.temperature_threshold);
  library->load("nvmlDeviceGetPowerUsage", nvml.power);
  library->load("nvmlDeviceGetEnforcedPowerLimit", nvml.power_limit);
  library->load("nvmlDeviceGetUtilizationRates", nvml.utilization);
  library->load("nvmlDeviceGetCurrentClocksEventReasons", nvml.clock_reasons);
  if (!nvml.clock_reasons)  // its name before R535
    library->load("nvmlDeviceGetCurrentClocksThrottleReasons", nvml.clock_reasons);
  library->load("nvmlDeviceGetMemoryErrorCounter", nvml.memory_errors);
  library->load("nvmlDeviceGetSramEccErrorStatus", nvml.sram_status);
  library->load("nvmlDeviceGetRemappedRows", nvml.remapped_rows);
  library->load("nvmlDeviceGetRowRemapperHistogram", nvml.row_histogram);
  library->load("nvmlDeviceGetRetiredPages", nvml.retired_pages);
  library->load("nvmlDeviceGetRetiredPagesPendingStatus", nvml.retired_pages_pending);
  library->load("nvmlDeviceGetPcieReplayCounter", nvml.pcie_replays);
  library->load("nvmlDeviceGetCurrPcieLinkGeneration", nvml.pcie_generation);
  library->load("nvmlDeviceGetMaxPcieLinkGeneration", nvml.pcie_generation_max);
  library->load("nvmlDeviceGetCurrPcieLinkWidth", nvml.pcie_width);
  library->load("nvmlDeviceGetMaxPcieLinkWidth", nvml.pcie_width_max);
  library->load("nvmlDeviceGetNvLinkState", nvml.link_state);
  library->load("nvmlDeviceGetNvLinkRemotePciInfo_v2", nvml.link_remote);
  library->load("nvmlDeviceGetNvLinkErrorCounter", nvml.link_errors);
  library->load("nvmlDeviceGetFieldValues", nvml.fields);
  library->load("nvmlDeviceGetGpuFabricInfo", nvml.fabric);
  library->load("nvmlDeviceGetGpuFabricInfoV", nvml.fabric_v);
  library->load("nvmlDeviceGetPersistenceMode", nvml.persistence);
  library->load("nvmlDeviceGetMigMode", nvml.mig);
  library->load("nvmlEventSetCreate", nvml.event_set_create);
  library->load("nvmlDeviceRegisterEvents", nvml.register_events);
  library->load("nvmlEventSetWait_v2", nvml.event_set_wait);
  if (nvml.init && nvml.error_string && nvml.count && nvml.handle_by_index) return nvml;
  return Error{ErrorCode::kUnavailable, name + " lacks the functions of NVML"};
}

}  // namespace acrf
