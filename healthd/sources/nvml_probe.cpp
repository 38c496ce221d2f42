// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/nvml_probe.h"

#include <dlfcn.h>
#include <sys/prctl.h>

#include <csignal>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/nvml_abi.h"
#include "core/xid.h"

namespace acrf {
namespace {

using nlohmann::json;

// NVML's functions by name. One that a driver lacks stays null, and what it would tell is unknown.
class Nvml {
 public:
  bool open(const std::string& library, std::string& problem) {
    void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      problem = ::dlerror();
      return false;
    }
    load(handle, "nvmlInit_v2", init);
    load(handle, "nvmlErrorString", error_string);
    load(handle, "nvmlSystemGetDriverVersion", driver_version);
    load(handle, "nvmlDeviceGetCount_v2", count);
    load(handle, "nvmlDeviceGetHandleByIndex_v2", handle_by_index);
    load(handle, "nvmlDeviceGetUUID", uuid);
    load(handle, "nvmlDeviceGetSerial", serial);
    load(handle, "nvmlDeviceGetName", name);
    load(handle, "nvmlDeviceGetPciInfo_v3", pci);
    load(handle, "nvmlDeviceGetTemperature", temperature);
    load(handle, "nvmlDeviceGetPowerUsage", power);
    if (init && error_string && count && handle_by_index) return true;
    problem = library + " lacks the functions of NVML";
    return false;
  }

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
  acrf_nvml_device_power* power = nullptr;

 private:
  template <typename Function>
  static void load(void* handle, const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(::dlsym(handle, name));
  }
};

// A GPU's identity is read once, while it answers; a lost one no longer tells who it was.
struct Device {
  acrf_nvml_device_t handle = nullptr;
  json identity = json::object();
};

void put_text(json& record, const char* key, acrf_nvml_device_text* read, acrf_nvml_device_t gpu) {
  char text[256] = "";
  if (read && read(gpu, text, sizeof text - 1) == ACRF_NVML_SUCCESS) record[key] = text;
}

class Sampler {
 public:
  explicit Sampler(Nvml& nvml) : nvml_(nvml) {}

  json sample() {
    unsigned count = 0;
    if (const auto code = nvml_.count(&count); code != ACRF_NVML_SUCCESS) return failure(code);
    devices_.resize(count);
    json answer = {{"ok", true}, {"gpus", json::array()}};
    char driver[128] = "";
    if (nvml_.driver_version && nvml_.driver_version(driver, sizeof driver) == ACRF_NVML_SUCCESS)
      answer["driver"] = driver;
    for (unsigned index = 0; index < count; ++index) answer["gpus"].push_back(read_gpu(index));
    return answer;
  }

  json failure(acrf_nvml_return code) const {
    return {{"ok", false}, {"error", nvml_.error_string(code)}};
  }

 private:
  json read_gpu(unsigned index) {
    Device& device = devices_[index];
    json record = {{"index", index}};
    auto code = ACRF_NVML_SUCCESS;
    if (!device.handle) code = identify(index, device);
    record.update(device.identity);
    if (code == ACRF_NVML_SUCCESS) code = read_sensors(device.handle, record);
    // Only the driver's own word makes a GPU lost; anything else that fails is unknown.
    record["lost"] = code == ACRF_NVML_ERROR_GPU_IS_LOST;
    return record;
  }

  acrf_nvml_return identify(unsigned index, Device& device) {
    acrf_nvml_device_t handle = nullptr;
    if (const auto code = nvml_.handle_by_index(index, &handle); code != ACRF_NVML_SUCCESS)
      return code;
    put_text(device.identity, "uuid", nvml_.uuid, handle);
    put_text(device.identity, "serial", nvml_.serial, handle);
    put_text(device.identity, "name", nvml_.name, handle);
    acrf_nvml_pci_info pci = {};
    if (nvml_.pci && nvml_.pci(handle, &pci) == ACRF_NVML_SUCCESS) {
      device.identity["pci"] = to_string(PciAddress{pci.domain, static_cast<std::uint8_t>(pci.bus),
                                                    static_cast<std::uint8_t>(pci.device)});
    }
    if (device.identity.contains("uuid") && device.identity.contains("pci")) device.handle = handle;
    return ACRF_NVML_SUCCESS;
  }

  acrf_nvml_return read_sensors(acrf_nvml_device_t handle, json& record) {
    if (!handle) return ACRF_NVML_ERROR_UNKNOWN;
    unsigned celsius = 0;
    unsigned milliwatts = 0;
    auto code = ACRF_NVML_ERROR_NOT_SUPPORTED;
    if (nvml_.temperature) code = nvml_.temperature(handle, ACRF_NVML_TEMPERATURE_GPU, &celsius);
    if (code == ACRF_NVML_ERROR_GPU_IS_LOST) return code;
    if (code == ACRF_NVML_SUCCESS) record["temperature_c"] = celsius;
    if (nvml_.power && nvml_.power(handle, &milliwatts) == ACRF_NVML_SUCCESS)
      record["power_mw"] = milliwatts;
    return ACRF_NVML_SUCCESS;
  }

  Nvml& nvml_;
  std::vector<Device> devices_;
};

}  // namespace

int run_nvml_probe(const std::string& library) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  Nvml nvml;
  Sampler sampler(nvml);
  std::string problem;
  const bool opened = nvml.open(library, problem);
  const auto init_code = opened ? nvml.init() : ACRF_NVML_ERROR_UNINITIALIZED;
  for (std::string request; std::getline(std::cin, request);) {
    json answer;
    if (!opened) {
      answer = {{"ok", false}, {"error", problem}};
    } else {
      answer = init_code == ACRF_NVML_SUCCESS ? sampler.sample() : sampler.failure(init_code);
    }
    std::cout << answer.dump(-1, ' ', true, json::error_handler_t::replace) << std::endl;
  }
  return 0;
}

}  // namespace acrf
