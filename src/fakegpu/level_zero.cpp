// SPDX-License-Identifier: GPL-2.0-or-later
// libze_loader without an Intel GPU, answered from the state file. ACRF_FAKE_ZE_OLD leaves out what
// loaders before 1.9 lack.
#include <cstring>
#include <iterator>

#include "common/level_zero_abi.h"
#include "core/text.h"
#include "core/xid.h"
#include "fakegpu/state.h"

#define FAKE_ZE_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using acrf::fakegpu::current_state;
using acrf::fakegpu::Gpu;

constexpr const char* kCategories[] = {"reset",       "programming", "driver", "compute",
                                       "non_compute", "cache",       "display"};

// Handles carry the GPU's index and, for parts, which of them it is; none is null.
template <typename Handle>
Handle handle_of(unsigned index, unsigned part = 0) {
  return reinterpret_cast<Handle>(static_cast<uintptr_t>(index + 1) << 8 | part);
}

template <typename Handle>
acrf_ze_result find_gpu(Handle handle, const char* function, const Gpu*& gpu) {
  const auto* state = current_state();
  const auto index = (reinterpret_cast<uintptr_t>(handle) >> 8) - 1;
  if (!state || index >= state->gpus.size()) return ACRF_ZE_UNINITIALIZED;
  gpu = &state->gpus[index];
  acrf::fakegpu::maybe_hang(*gpu);
  if (gpu->lost || gpu->vanished) return ACRF_ZE_DEVICE_LOST;
  return gpu->supports(function) ? ACRF_ZE_SUCCESS : ACRF_ZE_UNSUPPORTED;
}

unsigned part_of(acrf_ze_part_t handle) {
  return static_cast<unsigned>(reinterpret_cast<uintptr_t>(handle) & 0xff);
}

acrf_ze_result list_parts(acrf_ze_device_t device, const char* function, unsigned parts,
                          uint32_t* count, acrf_ze_part_t* handles) {
  const Gpu* gpu = nullptr;
  const auto result = find_gpu(device, function, gpu);
  if (result != ACRF_ZE_SUCCESS) return result;
  const auto index = static_cast<unsigned>(reinterpret_cast<uintptr_t>(device) >> 8) - 1;
  for (unsigned i = 0; handles && i < *count && i < parts; ++i)
    handles[i] = handle_of<acrf_ze_part_t>(index, i);
  *count = parts;
  return ACRF_ZE_SUCCESS;
}

acrf_ze_result init() {
  return acrf::fakegpu::look_at_state() ? ACRF_ZE_SUCCESS : ACRF_ZE_UNINITIALIZED;
}

acrf_ze_result list_drivers(uint32_t* count, acrf_ze_driver_t* drivers) {
  if (drivers && *count > 0) drivers[0] = handle_of<acrf_ze_driver_t>(0);
  *count = 1;
  return ACRF_ZE_SUCCESS;
}

acrf_ze_result list_devices(uint32_t* count, acrf_ze_device_t* devices) {
  const auto* state = current_state();
  if (!state) return ACRF_ZE_UNINITIALIZED;
  const auto listed = acrf::fakegpu::listed_gpus(*state);
  for (unsigned i = 0; devices && i < *count && i < listed.size(); ++i)
    devices[i] = handle_of<acrf_ze_device_t>(listed[i]);
  *count = static_cast<uint32_t>(listed.size());
  return ACRF_ZE_SUCCESS;
}

}  // namespace

#ifdef ACRF_FAKE_ZE_OLD
FAKE_ZE_EXPORT acrf_ze_result zeInit(uint32_t) { return init(); }
FAKE_ZE_EXPORT acrf_ze_result zeDriverGet(uint32_t* count, acrf_ze_driver_t* drivers) {
  return list_drivers(count, drivers);
}
FAKE_ZE_EXPORT acrf_ze_result zeDeviceGet(acrf_ze_driver_t, uint32_t* count,
                                          acrf_ze_device_t* devices) {
  return list_devices(count, devices);
}
#else
FAKE_ZE_EXPORT acrf_ze_result zesInit(uint32_t) { return init(); }
FAKE_ZE_EXPORT acrf_ze_result zesDriverGet(uint32_t* count, acrf_ze_driver_t* drivers) {
  return list_drivers(count, drivers);
}
FAKE_ZE_EXPORT acrf_ze_result zesDeviceGet(acrf_ze_driver_t, uint32_t* count,
                                           acrf_ze_device_t* devices) {
  return list_devices(count, devices);
}
FAKE_ZE_EXPORT acrf_ze_result zesDeviceEnumMemoryModules(acrf_ze_device_t device, uint32_t* count,
                                                         acrf_ze_part_t* memories) {
  return list_parts(device, __func__, 1, count, memories);
}
FAKE_ZE_EXPORT acrf_ze_result zesMemoryGetState(acrf_ze_part_t memory,
                                                acrf_zes_memory_state* state) {
  const Gpu* gpu = nullptr;
  const auto result = find_gpu(memory, __func__, gpu);
  if (result == ACRF_ZE_SUCCESS)
    state->health = static_cast<uint32_t>(gpu->reading("memory_health", 1));
  return result;
}
#endif

FAKE_ZE_EXPORT acrf_ze_result zesDeviceGetProperties(acrf_ze_device_t device,
                                                     acrf_zes_device_properties* properties) {
  const Gpu* gpu = nullptr;
  (void)find_gpu(device, "", gpu);
  if (!gpu) return ACRF_ZE_UNINITIALIZED;
  properties->core.device_type = ACRF_ZE_TYPE_GPU;
  std::memcpy(properties->core.uuid, acrf::fingerprint(gpu->uuid).data(), 16);
  std::strncpy(properties->core.name, gpu->name.c_str(), sizeof properties->core.name - 1);
  std::strncpy(properties->serial, gpu->serial.c_str(), sizeof properties->serial - 1);
  return ACRF_ZE_SUCCESS;
}

FAKE_ZE_EXPORT acrf_ze_result zesDevicePciGetProperties(acrf_ze_device_t device,
                                                        acrf_zes_pci_properties* pci) {
  const Gpu* gpu = nullptr;
  (void)find_gpu(device, "", gpu);
  if (!gpu) return ACRF_ZE_UNINITIALIZED;
  std::string_view text = gpu->pci;
  const auto address = acrf::take_pci_address(text);
  if (!address) return ACRF_ZE_UNSUPPORTED;
  pci->domain = address->domain;
  pci->bus = address->bus;
  pci->device = address->device;
  return ACRF_ZE_SUCCESS;
}

FAKE_ZE_EXPORT acrf_ze_result zesDeviceGetState(acrf_ze_device_t device,
                                                acrf_zes_device_state* state) {
  (void)acrf::fakegpu::look_at_state();
  const Gpu* gpu = nullptr;
  const auto result = find_gpu(device, __func__, gpu);
  if (result != ACRF_ZE_SUCCESS) return result;
  state->reset = (gpu->reading("wedged") ? ACRF_ZES_RESET_WEDGED : 0) |
                 (gpu->reading("repair_reset") ? ACRF_ZES_RESET_REPAIR : 0);
  return ACRF_ZE_SUCCESS;
}

FAKE_ZE_EXPORT acrf_ze_result zesDeviceEnumRasErrorSets(acrf_ze_device_t device, uint32_t* count,
                                                        acrf_ze_part_t* sets) {
  return list_parts(device, __func__, 2, count, sets);
}

FAKE_ZE_EXPORT acrf_ze_result zesRasGetProperties(acrf_ze_part_t set,
                                                  acrf_zes_ras_properties* properties) {
  properties->kind = part_of(set) == 0 ? ACRF_ZES_CORRECTABLE : ACRF_ZES_UNCORRECTABLE;
  return ACRF_ZE_SUCCESS;
}

FAKE_ZE_EXPORT acrf_ze_result zesRasGetState(acrf_ze_part_t set, uint8_t,
                                             acrf_zes_ras_state* state) {
  const Gpu* gpu = nullptr;
  const auto result = find_gpu(set, __func__, gpu);
  if (result != ACRF_ZE_SUCCESS) return result;
  const std::string suffix = part_of(set) == 0 ? "_corrected" : "_uncorrected";
  for (unsigned i = 0; i < std::size(kCategories); ++i)
    state->category[i] = gpu->reading(kCategories[i] + suffix);
  return ACRF_ZE_SUCCESS;
}

FAKE_ZE_EXPORT acrf_ze_result zesDeviceEnumTemperatureSensors(acrf_ze_device_t device,
                                                              uint32_t* count,
                                                              acrf_ze_part_t* sensors) {
  return list_parts(device, __func__, 3, count, sensors);
}

FAKE_ZE_EXPORT acrf_ze_result
zesTemperatureGetProperties(acrf_ze_part_t sensor, acrf_zes_temperature_properties* properties) {
  properties->sensor = static_cast<acrf_zes_sensor>(part_of(sensor));
  properties->max_c = 100;
  return ACRF_ZE_SUCCESS;
}

FAKE_ZE_EXPORT acrf_ze_result zesTemperatureGetState(acrf_ze_part_t sensor, double* celsius) {
  const Gpu* gpu = nullptr;
  const auto result = find_gpu(sensor, __func__, gpu);
  if (result != ACRF_ZE_SUCCESS) return result;
  const bool memory = part_of(sensor) == ACRF_ZES_SENSOR_MEMORY;
  *celsius = memory ? static_cast<double>(gpu->reading("memory_temperature_c", 40))
                    : gpu->temperature_c + 0.5;
  return ACRF_ZE_SUCCESS;
}

FAKE_ZE_EXPORT acrf_ze_result zesDeviceEnumFrequencyDomains(acrf_ze_device_t device,
                                                            uint32_t* count,
                                                            acrf_ze_part_t* clocks) {
  return list_parts(device, __func__, 2, count, clocks);
}

FAKE_ZE_EXPORT acrf_ze_result zesFrequencyGetState(acrf_ze_part_t clock,
                                                   acrf_zes_frequency_state* state) {
  const Gpu* gpu = nullptr;
  const auto result = find_gpu(clock, __func__, gpu);
  if (result != ACRF_ZE_SUCCESS) return result;
  state->throttle_reasons = (gpu->reading("slowdown_thermal") ? ACRF_ZES_THROTTLE_THERMAL : 0) |
                            (gpu->reading("slowdown_power") ? ACRF_ZES_THROTTLE_POWER_SUPPLY : 0);
  return ACRF_ZE_SUCCESS;
}
