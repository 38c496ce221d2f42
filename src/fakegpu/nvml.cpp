// SPDX-License-Identifier: GPL-2.0-or-later
// libnvidia-ml.so.1 without an NVIDIA GPU: NVML's names and types, answered from a state file.
// For the demo, tests and staging clusters; installed where no loader finds it by itself.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "common/nvml_abi.h"
#include "core/xid.h"
#include "fakegpu/state.h"

#define FAKE_NVML_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using acrf::fakegpu::Gpu;
using acrf::fakegpu::State;

std::optional<State> current_state() {
  const char* path = std::getenv(acrf::fakegpu::kStateVariable);
  if (!path) return std::nullopt;
  auto state = acrf::fakegpu::load_state(path);
  return state ? std::optional(std::move(*state)) : std::nullopt;
}

// Handles are the index plus one, so that none is null.
acrf_nvml_device_t handle_of(unsigned index) {
  return reinterpret_cast<acrf_nvml_device_t>(static_cast<std::uintptr_t>(index) + 1);
}

// Finds the GPU and answers for the states in which no call succeeds.
acrf_nvml_return find_gpu(acrf_nvml_device_t device, Gpu& gpu) {
  const auto state = current_state();
  if (!state) return ACRF_NVML_ERROR_UNKNOWN;
  const auto index = reinterpret_cast<std::uintptr_t>(device) - 1;
  if (index >= state->gpus.size()) return ACRF_NVML_ERROR_INVALID_ARGUMENT;
  gpu = state->gpus[index];
  while (gpu.hang) ::pause();
  return gpu.lost ? ACRF_NVML_ERROR_GPU_IS_LOST : ACRF_NVML_SUCCESS;
}

acrf_nvml_return copy_text(const std::string& from, char* to, unsigned length) {
  if (!to) return ACRF_NVML_ERROR_INVALID_ARGUMENT;
  if (from.size() + 1 > length) return ACRF_NVML_ERROR_INSUFFICIENT_SIZE;
  std::memcpy(to, from.c_str(), from.size() + 1);
  return ACRF_NVML_SUCCESS;
}

acrf_nvml_return copy_field(acrf_nvml_device_t device, std::string Gpu::*field, char* to,
                            unsigned length) {
  Gpu gpu;
  const auto code = find_gpu(device, gpu);
  return code == ACRF_NVML_SUCCESS ? copy_text(gpu.*field, to, length) : code;
}

acrf_nvml_return copy_number(acrf_nvml_device_t device, unsigned Gpu::*field, unsigned* to) {
  Gpu gpu;
  const auto code = find_gpu(device, gpu);
  if (code != ACRF_NVML_SUCCESS) return code;
  if (!to) return ACRF_NVML_ERROR_INVALID_ARGUMENT;
  *to = gpu.*field;
  return ACRF_NVML_SUCCESS;
}

}  // namespace

FAKE_NVML_EXPORT acrf_nvml_return nvmlInit_v2(void) {
  return current_state() ? ACRF_NVML_SUCCESS : ACRF_NVML_ERROR_DRIVER_NOT_LOADED;
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
    case ACRF_NVML_ERROR_GPU_IS_LOST: return "GPU is lost";
    case ACRF_NVML_ERROR_UNKNOWN: break;
  }
  return "Unknown Error";
}

FAKE_NVML_EXPORT acrf_nvml_return nvmlSystemGetDriverVersion(char* text, unsigned length) {
  const auto state = current_state();
  return state ? copy_text(state->driver, text, length) : ACRF_NVML_ERROR_UNINITIALIZED;
}

FAKE_NVML_EXPORT acrf_nvml_return nvmlDeviceGetCount_v2(unsigned* count) {
  const auto state = current_state();
  if (!state) return ACRF_NVML_ERROR_UNINITIALIZED;
  if (!count) return ACRF_NVML_ERROR_INVALID_ARGUMENT;
  *count = static_cast<unsigned>(state->gpus.size());
  return ACRF_NVML_SUCCESS;
}

FAKE_NVML_EXPORT acrf_nvml_return nvmlDeviceGetHandleByIndex_v2(unsigned index,
                                                                acrf_nvml_device_t* device) {
  Gpu gpu;
  const auto code = find_gpu(handle_of(index), gpu);
  if (code != ACRF_NVML_SUCCESS) return code;
  if (!device) return ACRF_NVML_ERROR_INVALID_ARGUMENT;
  *device = handle_of(index);
  return ACRF_NVML_SUCCESS;
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
  Gpu gpu;
  const auto code = find_gpu(device, gpu);
  if (code != ACRF_NVML_SUCCESS) return code;
  std::string_view text = gpu.pci;
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

FAKE_NVML_EXPORT acrf_nvml_return nvmlDeviceGetTemperature(acrf_nvml_device_t device,
                                                           acrf_nvml_temperature_sensor sensor,
                                                           unsigned* celsius) {
  if (sensor != ACRF_NVML_TEMPERATURE_GPU) return ACRF_NVML_ERROR_INVALID_ARGUMENT;
  return copy_number(device, &Gpu::temperature_c, celsius);
}

FAKE_NVML_EXPORT acrf_nvml_return nvmlDeviceGetPowerUsage(acrf_nvml_device_t device,
                                                          unsigned* milliwatts) {
  return copy_number(device, &Gpu::power_mw, milliwatts);
}
