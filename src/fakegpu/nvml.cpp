// SPDX-License-Identifier: GPL-2.0-or-later
// libnvidia-ml.so.1 without an NVIDIA GPU: NVML's names and types, answered from a state file.
// For the demo, tests and staging clusters; installed where no loader finds it by itself.
// ACRF_FAKE_NVML_OLD leaves out what drivers before R450 lack.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "common/nvml_abi.h"
#include "core/xid.h"
#include "fakegpu/state.h"

#define FAKE_NVML_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using acrf::fakegpu::current_state;
using acrf::fakegpu::Gpu;

// Handles are the index plus one, so that none is null.
acrf_nvml_device_t handle_of(unsigned index) {
  return reinterpret_cast<acrf_nvml_device_t>(static_cast<std::uintptr_t>(index) + 1);
}

// Finds the GPU and answers for the states in which no call succeeds.
acrf_nvml_return find_gpu(acrf_nvml_device_t device, const Gpu*& gpu) {
  const auto* state = current_state();
  if (!state) return ACRF_NVML_ERROR_UNKNOWN;
  const auto index = reinterpret_cast<std::uintptr_t>(device) - 1;
  if (index >= state->gpus.size()) return ACRF_NVML_ERROR_INVALID_ARGUMENT;
  gpu = &state->gpus[index];
  acrf::fakegpu::maybe_hang(*gpu);
  return gpu->lost || gpu->vanished ? ACRF_NVML_ERROR_GPU_IS_LOST : ACRF_NVML_SUCCESS;
}

// The same for a function that reads, which the GPU may not support.
acrf_nvml_return find_reading(acrf_nvml_device_t device, const char* function, const Gpu*& gpu) {
  if (const auto code = find_gpu(device, gpu); code != ACRF_NVML_SUCCESS) return code;
  if (gpu->reset_required) return ACRF_NVML_ERROR_RESET_REQUIRED;
  return gpu->supports(function) ? ACRF_NVML_SUCCESS : ACRF_NVML_ERROR_NOT_SUPPORTED;
}

acrf_nvml_return copy_text(const std::string& from, char* to, unsigned length) {
  if (!to) return ACRF_NVML_ERROR_INVALID_ARGUMENT;
  if (from.size() + 1 > length) return ACRF_NVML_ERROR_INSUFFICIENT_SIZE;
  std::memcpy(to, from.c_str(), from.size() + 1);
  return ACRF_NVML_SUCCESS;
}

acrf_nvml_return copy_address(std::string_view text, acrf_nvml_pci_info* pci) {
  const auto address = acrf::take_pci_address(text);
  if (!pci || !address) return ACRF_NVML_ERROR_INVALID_ARGUMENT;
  *pci = {};
  pci->domain = address->domain;
  pci->bus = address->bus;
  pci->device = address->device;
  std::snprintf(pci->bus_id_legacy, sizeof pci->bus_id_legacy, "%04X:%02X:%02X.0",
                address->domain & 0xffff, address->bus, address->device);
  std::snprintf(pci->bus_id, sizeof pci->bus_id, "%08X:%02X:%02X.0", address->domain, address->bus,
                address->device);
  return ACRF_NVML_SUCCESS;
}

acrf_nvml_return copy_field(acrf_nvml_device_t device, std::string Gpu::*field, char* to,
                            unsigned length) {
  const Gpu* gpu = nullptr;
  const auto code = find_gpu(device, gpu);
  return code == ACRF_NVML_SUCCESS ? copy_text(gpu->*field, to, length) : code;
}

// What most readings are: a number from the state file, as the caller's type.
template <typename Number>
acrf_nvml_return copy_reading(acrf_nvml_device_t device, const char* function, const char* name,
                              std::uint64_t healthy, Number* to) {
  const Gpu* gpu = nullptr;
  if (const auto code = find_reading(device, function, gpu); code != ACRF_NVML_SUCCESS) return code;
  if (!to) return ACRF_NVML_ERROR_INVALID_ARGUMENT;
  *to = static_cast<Number>(gpu->reading(name, healthy));
  return ACRF_NVML_SUCCESS;
}

// With a reading "wobble", what a busy GPU's sensors do: another value at each call.
unsigned wobble(const Gpu& gpu, unsigned range) {
  static unsigned calls = 0;
  return gpu.reading("wobble") == 0 ? 0 : ++calls * 7919 % range;
}

// Xids that each GPU had when the process began to listen, or has told since.
std::size_t told_xids[256] = {};

[[maybe_unused]] void answer_field(const Gpu& gpu, acrf_nvml_field_value& field) {
  const char* name = nullptr;
  switch (field.field) {
    case ACRF_NVML_FIELD_CRC_FLIT_TOTAL: name = "nvlink_crc"; break;
    case ACRF_NVML_FIELD_CRC_DATA_TOTAL: name = "nvlink_crc_data"; break;
    case ACRF_NVML_FIELD_REPLAY_TOTAL: name = "nvlink_replay"; break;
    case ACRF_NVML_FIELD_RECOVERY_TOTAL: name = "nvlink_recovery"; break;
    case ACRF_NVML_FIELD_MEMORY_TEMPERATURE: name = "memory_temperature_c"; break;
    case ACRF_NVML_FIELD_PCIE_FATAL: name = "pcie_fatal"; break;
    case ACRF_NVML_FIELD_RECOVERY_ACTION: name = "recovery_action"; break;
    default: break;
  }
  field.code = name ? ACRF_NVML_SUCCESS : ACRF_NVML_ERROR_NOT_SUPPORTED;
  if (!name) return;
  field.type = ACRF_NVML_VALUE_UNSIGNED_LONG_LONG;
  const bool memory = field.field == ACRF_NVML_FIELD_MEMORY_TEMPERATURE;
  field.value.unsigned_long_long = gpu.reading(name, memory ? 40 : 0);
}

}  // namespace

FAKE_NVML_EXPORT acrf_nvml_return nvmlInit_v2(void) {
  return acrf::fakegpu::look_at_state() ? ACRF_NVML_SUCCESS : ACRF_NVML_ERROR_DRIVER_NOT_LOADED;
}

FAKE_NVML_EXPORT acrf_nvml_return nvmlShutdown(void) { return ACRF_NVML_SUCCESS; }

FAKE_NVML_EXPORT const char* nvmlErrorString(acrf_nvml_return code) {
  switch (code) {
    case ACRF_NVML_SUCCESS: return "The operation was successful";
    case ACRF_NVML_ERROR_UNINITIALIZED: return "Uninitialized";
    case ACRF_NVML_ERROR_INVALID_ARGUMENT: return "Invalid Argument";
    case ACRF_NVML_ERROR_NOT_SUPPORTED: return "Not Supported";
    case ACRF_NVML_ERROR_INSUFFICIENT_SIZE: return "Insufficient Size";
    case ACRF_NVML_ERROR_DRIVER_NOT_LOADED: return "Driver Not Loaded";
    case ACRF_NVML_ERROR_TIMEOUT: return "Timeout";
    case ACRF_NVML_ERROR_GPU_IS_LOST: return "GPU is lost";
    case ACRF_NVML_ERROR_RESET_REQUIRED: return "GPU requires reset";
    case ACRF_NVML_ERROR_UNKNOWN: break;
  }
  return "Unknown Error";
}

FAKE_NVML_EXPORT acrf_nvml_return nvmlSystemGetDriverVersion(char* text, unsigned length) {
  const auto* state = current_state();
  return state ? copy_text(state->driver, text, length) : ACRF_NVML_ERROR_UNINITIALIZED;
}

FAKE_NVML_EXPORT acrf_nvml_return nvmlDeviceGetCount_v2(unsigned* count) {
  const auto* state = acrf::fakegpu::look_at_state();
  if (!state) return ACRF_NVML_ERROR_UNINITIALIZED;
  if (!count) return ACRF_NVML_ERROR_INVALID_ARGUMENT;
  *count = static_cast<unsigned>(acrf::fakegpu::listed_gpus(*state).size());
  return ACRF_NVML_SUCCESS;
}

FAKE_NVML_EXPORT acrf_nvml_return nvmlDeviceGetHandleByIndex_v2(unsigned index,
                                                                acrf_nvml_device_t* device) {
  const auto* state = current_state();
  if (!state) return ACRF_NVML_ERROR_UNINITIALIZED;
  const auto listed = acrf::fakegpu::listed_gpus(*state);
  if (!device || index >= listed.size()) return ACRF_NVML_ERROR_INVALID_ARGUMENT;
  const Gpu* gpu = nullptr;
  const auto code = find_gpu(handle_of(listed[index]), gpu);
  if (code == ACRF_NVML_SUCCESS) *device = handle_of(listed[index]);
  return code;
}

FAKE_NVML_EXPORT acrf_nvml_return nvmlDeviceGetUUID(acrf_nvml_device_t device, char* text,
                                                    unsigned length) {
  return copy_field(device, &Gpu::uuid, text, length);
}

FAKE_NVML_EXPORT acrf_nvml_return nvmlDeviceGetSerial(acrf_nvml_device_t device, char* text,
                                                      unsigned length) {
  return copy_field(device, &Gpu::serial, text, length);
}

FAKE_NVML_EXPORT acrf_nvml_return nvmlDeviceGetName(acrf_nvml_device_t device, char* text,
                                                    unsigned length) {
  return copy_field(device, &Gpu::name, text, length);
}

FAKE_NVML_EXPORT acrf_nvml_return nvmlDeviceGetPciInfo_v3(acrf_nvml_device_t device,
                                                          acrf_nvml_pci_info* pci) {
  const Gpu* gpu = nullptr;
  const auto code = find_gpu(device, gpu);
  return code == ACRF_NVML_SUCCESS ? copy_address(gpu->pci, pci) : code;
}

FAKE_NVML_EXPORT acrf_nvml_return nvmlDeviceGetTemperature(acrf_nvml_device_t device,
                                                           acrf_nvml_temperature_sensor sensor,
                                                           unsigned* celsius) {
  const Gpu* gpu = nullptr;
  const auto code = find_reading(device, __func__, gpu);
  if (code != ACRF_NVML_SUCCESS) return code;
  if (sensor != ACRF_NVML_TEMPERATURE_GPU || !celsius) return ACRF_NVML_ERROR_INVALID_ARGUMENT;
  *celsius = gpu->temperature_c + wobble(*gpu, 3);
  return ACRF_NVML_SUCCESS;
}

FAKE_NVML_EXPORT acrf_nvml_return nvmlDeviceGetTemperatureThreshold(
    acrf_nvml_device_t device, acrf_nvml_temperature_threshold which, unsigned* celsius) {
  switch (which) {
    case ACRF_NVML_THRESHOLD_SHUTDOWN:
      return copy_reading(device, __func__, "shutdown_c", 92, celsius);
    case ACRF_NVML_THRESHOLD_SLOWDOWN:
      return copy_reading(device, __func__, "slowdown_c", 87, celsius);
    case ACRF_NVML_THRESHOLD_MEMORY_MAX:
      return copy_reading(device, __func__, "memory_max_c", 95, celsius);
  }
  return ACRF_NVML_ERROR_INVALID_ARGUMENT;
}

FAKE_NVML_EXPORT acrf_nvml_return nvmlDeviceGetPowerUsage(acrf_nvml_device_t device,
                                                          unsigned* milliwatts) {
  const Gpu* gpu = nullptr;
  const auto code = find_reading(device, __func__, gpu);
  if (code == ACRF_NVML_SUCCESS) *milliwatts = gpu->power_mw + wobble(*gpu, 9'000);
  return code;
}

FAKE_NVML_EXPORT acrf_nvml_return nvmlDeviceGetEnforcedPowerLimit(acrf_nvml_device_t device,
                                                                  unsigned* milliwatts) {
  return copy_reading(device, __func__, "power_limit_mw", 700'000, milliwatts);
}

FAKE_NVML_EXPORT acrf_nvml_return nvmlDeviceGetUtilizationRates(acrf_nvml_device_t device,
                                                                acrf_nvml_utilization* rates) {
  return copy_reading(device, __func__, "utilization_percent", 0, &rates->gpu);
}

FAKE_NVML_EXPORT acrf_nvml_return
nvmlDeviceGetCurrentClocksThrottleReasons(acrf_nvml_device_t device, unsigned long long* reasons) {
  const Gpu* gpu = nullptr;
  const auto code = find_reading(device, __func__, gpu);
  if (code != ACRF_NVML_SUCCESS) return code;
  *reasons = (gpu->reading("slowdown_hardware") ? ACRF_NVML_CLOCKS_HW_SLOWDOWN : 0) |
             (gpu->reading("slowdown_thermal") ? ACRF_NVML_CLOCKS_HW_THERMAL : 0) |
             (gpu->reading("slowdown_power") ? ACRF_NVML_CLOCKS_HW_POWER_BRAKE : 0);
  return ACRF_NVML_SUCCESS;
}

FAKE_NVML_EXPORT acrf_nvml_return nvmlDeviceGetMemoryErrorCounter(
    acrf_nvml_device_t device, acrf_nvml_error_type type, acrf_nvml_counter_type counter,
    acrf_nvml_memory_location location, unsigned long long* count) {
  const std::string name = std::string(counter == ACRF_NVML_VOLATILE ? "volatile" : "aggregate") +
                           (location == ACRF_NVML_SRAM ? "_sram" : "_dram") +
                           (type == ACRF_NVML_CORRECTED ? "_corrected" : "_uncorrected");
  return copy_reading(device, __func__, name.c_str(), 0, count);
}

FAKE_NVML_EXPORT acrf_nvml_return nvmlDeviceGetRetiredPages(acrf_nvml_device_t device,
                                                            acrf_nvml_retirement_cause cause,
                                                            unsigned* count,
                                                            unsigned long long* addresses) {
  const unsigned room = *count;
  const char* name = cause == ACRF_NVML_RETIRED_DOUBLE_BIT ? "retired_pages" : "retired_pages_sbe";
  const auto code = copy_reading(device, __func__, name, 0, count);
  if (code != ACRF_NVML_SUCCESS) return code;
  if (*count > room) return ACRF_NVML_ERROR_INSUFFICIENT_SIZE;
  std::fill_n(addresses, *count, 0);
  return ACRF_NVML_SUCCESS;
}

FAKE_NVML_EXPORT acrf_nvml_return
nvmlDeviceGetRetiredPagesPendingStatus(acrf_nvml_device_t device, acrf_nvml_enable_state* state) {
  return copy_reading(device, __func__, "retired_pages_pending", 0, state);
}

FAKE_NVML_EXPORT acrf_nvml_return nvmlDeviceGetPcieReplayCounter(acrf_nvml_device_t device,
                                                                 unsigned* count) {
  return copy_reading(device, __func__, "pcie_replays", 0, count);
}

FAKE_NVML_EXPORT acrf_nvml_return nvmlDeviceGetCurrPcieLinkGeneration(acrf_nvml_device_t device,
                                                                      unsigned* generation) {
  return copy_reading(device, __func__, "pcie_generation", 5, generation);
}

FAKE_NVML_EXPORT acrf_nvml_return nvmlDeviceGetMaxPcieLinkGeneration(acrf_nvml_device_t device,
                                                                     unsigned* generation) {
  return copy_reading(device, __func__, "pcie_generation_max", 5, generation);
}

FAKE_NVML_EXPORT acrf_nvml_return nvmlDeviceGetCurrPcieLinkWidth(acrf_nvml_device_t device,
                                                                 unsigned* width) {
  return copy_reading(device, __func__, "pcie_width", 16, width);
}

FAKE_NVML_EXPORT acrf_nvml_return nvmlDeviceGetMaxPcieLinkWidth(acrf_nvml_device_t device,
                                                                unsigned* width) {
  return copy_reading(device, __func__, "pcie_width_max", 16, width);
}

FAKE_NVML_EXPORT acrf_nvml_return nvmlDeviceGetPersistenceMode(acrf_nvml_device_t device,
                                                               acrf_nvml_enable_state* state) {
  return copy_reading(device, __func__, "persistence", 1, state);
}

FAKE_NVML_EXPORT acrf_nvml_return nvmlDeviceGetNvLinkState(acrf_nvml_device_t device, unsigned link,
                                                           acrf_nvml_enable_state* state) {
  const Gpu* gpu = nullptr;
  const auto code = find_reading(device, __func__, gpu);
  if (code != ACRF_NVML_SUCCESS) return code;
  if (link >= gpu->links || !state) return ACRF_NVML_ERROR_INVALID_ARGUMENT;
  const auto& down = gpu->links_down;
  const bool is_down = std::find(down.begin(), down.end(), link) != down.end();
  *state = is_down ? ACRF_NVML_DISABLED : ACRF_NVML_ENABLED;
  return ACRF_NVML_SUCCESS;
}

FAKE_NVML_EXPORT acrf_nvml_return nvmlDeviceGetNvLinkRemotePciInfo_v2(acrf_nvml_device_t device,
                                                                      unsigned link,
                                                                      acrf_nvml_pci_info* pci) {
  const Gpu* gpu = nullptr;
  const auto code = find_reading(device, __func__, gpu);
  if (code != ACRF_NVML_SUCCESS) return code;
  if (link >= gpu->links) return ACRF_NVML_ERROR_INVALID_ARGUMENT;
  if (link >= gpu->link_ends.size()) return ACRF_NVML_ERROR_NOT_SUPPORTED;
  return copy_address(gpu->link_ends[link], pci);
}

// All errors are the first link's.
FAKE_NVML_EXPORT acrf_nvml_return nvmlDeviceGetNvLinkErrorCounter(acrf_nvml_device_t device,
                                                                  unsigned link,
                                                                  acrf_nvml_link_error which,
                                                                  unsigned long long* count) {
  constexpr const char* kNames[] = {"nvlink_replay", "nvlink_recovery", "nvlink_crc",
                                    "nvlink_crc_data"};
  const auto code = copy_reading(device, __func__, kNames[which], 0, count);
  if (code == ACRF_NVML_SUCCESS && link != 0) *count = 0;
  return code;
}

FAKE_NVML_EXPORT acrf_nvml_return nvmlEventSetCreate(acrf_nvml_event_set_t* set) {
  *set = reinterpret_cast<acrf_nvml_event_set_t>(&told_xids);
  return ACRF_NVML_SUCCESS;
}

FAKE_NVML_EXPORT acrf_nvml_return nvmlDeviceRegisterEvents(acrf_nvml_device_t device,
                                                           unsigned long long,
                                                           acrf_nvml_event_set_t) {
  const Gpu* gpu = nullptr;
  const auto code = find_reading(device, __func__, gpu);
  if (code == ACRF_NVML_SUCCESS)
    told_xids[reinterpret_cast<std::uintptr_t>(device) - 1] = gpu->xids.size();
  return code;
}

FAKE_NVML_EXPORT acrf_nvml_return nvmlEventSetWait_v2(acrf_nvml_event_set_t, acrf_nvml_event* event,
                                                      unsigned) {
  const auto* state = current_state();
  if (!state) return ACRF_NVML_ERROR_UNINITIALIZED;
  for (unsigned i = 0; i < state->gpus.size() && i < std::size(told_xids); ++i) {
    const auto& xids = state->gpus[i].xids;
    if (told_xids[i] >= xids.size()) continue;
    *event = {handle_of(i), ACRF_NVML_EVENT_XID, xids[told_xids[i]++], ~0u, ~0u};
    return ACRF_NVML_SUCCESS;
  }
  return ACRF_NVML_ERROR_TIMEOUT;
}

#ifndef ACRF_FAKE_NVML_OLD

FAKE_NVML_EXPORT acrf_nvml_return nvmlDeviceGetSramEccErrorStatus(acrf_nvml_device_t device,
                                                                  acrf_nvml_sram_status* status) {
  if (status->version != (sizeof *status | 1u << 24)) return ACRF_NVML_ERROR_INVALID_ARGUMENT;
  return copy_reading(device, __func__, "sram_threshold_exceeded", 0, &status->threshold_exceeded);
}

// As the driver does: no answer while MIG is on.
FAKE_NVML_EXPORT acrf_nvml_return nvmlDeviceGetRemappedRows(acrf_nvml_device_t device,
                                                            unsigned* corrected,
                                                            unsigned* uncorrected,
                                                            unsigned* pending, unsigned* failure) {
  const Gpu* gpu = nullptr;
  const auto code = find_reading(device, __func__, gpu);
  if (code != ACRF_NVML_SUCCESS) return code;
  if (gpu->mig) return ACRF_NVML_ERROR_NOT_SUPPORTED;
  *corrected = static_cast<unsigned>(gpu->reading("remapped_corrected"));
  *uncorrected = static_cast<unsigned>(gpu->reading("remapped_uncorrected"));
  *pending = static_cast<unsigned>(gpu->reading("remap_pending"));
  *failure = static_cast<unsigned>(gpu->reading("remap_failure"));
  return ACRF_NVML_SUCCESS;
}

FAKE_NVML_EXPORT acrf_nvml_return nvmlDeviceGetRowRemapperHistogram(acrf_nvml_device_t device,
                                                                    acrf_nvml_row_histogram* rows) {
  rows->max = 640;
  return copy_reading(device, __func__, "remap_banks_without_spares", 0, &rows->none);
}

FAKE_NVML_EXPORT acrf_nvml_return nvmlDeviceGetFieldValues(acrf_nvml_device_t device, int count,
                                                           acrf_nvml_field_value* values) {
  const Gpu* gpu = nullptr;
  const auto code = find_reading(device, __func__, gpu);
  if (code != ACRF_NVML_SUCCESS) return code;
  for (int i = 0; i < count; ++i) answer_field(*gpu, values[i]);
  return ACRF_NVML_SUCCESS;
}

FAKE_NVML_EXPORT acrf_nvml_return nvmlDeviceGetGpuFabricInfoV(acrf_nvml_device_t device,
                                                              acrf_nvml_fabric_info_v2* info) {
  const Gpu* gpu = nullptr;
  const auto code = find_reading(device, __func__, gpu);
  if (code != ACRF_NVML_SUCCESS) return code;
  if (info->version != (sizeof *info | 2u << 24)) return ACRF_NVML_ERROR_INVALID_ARGUMENT;
  info->state = static_cast<unsigned char>(gpu->reading("fabric_state", 3));
  info->status = static_cast<acrf_nvml_return>(gpu->reading("fabric_status"));
  info->health_mask = gpu->reading("fabric_degraded") != 0 ? 1 : 2;
  return ACRF_NVML_SUCCESS;
}

FAKE_NVML_EXPORT acrf_nvml_return nvmlDeviceGetMigMode(acrf_nvml_device_t device, unsigned* current,
                                                       unsigned* pending) {
  const Gpu* gpu = nullptr;
  const auto code = find_reading(device, __func__, gpu);
  if (code == ACRF_NVML_SUCCESS) *current = *pending = gpu->mig ? 1 : 0;
  return code;
}

#endif
