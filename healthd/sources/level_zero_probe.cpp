// SPDX-License-Identifier: GPL-2.0-or-later
// The Level Zero side of a probe. Loaders since 1.9 start Sysman by itself; older ones need the
// core interface and an environment variable, and their device handles serve both.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "common/level_zero_abi.h"
#include "sources/probe_service.h"
#include "sources/shared_library.h"
#include "sources/vendor_probes.h"

namespace acrf {
namespace {

// In the order of their numbers.
constexpr const char* kCategories[ACRF_ZES_RAS_CATEGORIES] = {
    "reset", "programming", "driver", "compute", "non_compute", "cache", "display"};

struct LevelZero {
  static Result<LevelZero> open(const std::string& name) {
    ::setenv("ZES_ENABLE_SYSMAN", "1", 1);
    const auto library = SharedLibrary::open(name);
    if (!library) return library.error();
    LevelZero zes;
    library->load("zesInit", zes.init);
    library->load("zesDriverGet", zes.driver_get);
    library->load("zesDeviceGet", zes.device_get);
    if (!zes.init || !zes.driver_get || !zes.device_get) {
      library->load("zeInit", zes.init);
      library->load("zeDriverGet", zes.driver_get);
      library->load("zeDeviceGet", zes.device_get);
    }
    library->load("zesDeviceGetProperties", zes.properties);
    library->load("zesDevicePciGetProperties", zes.pci);
    library->load("zesDeviceGetState", zes.state);
    library->load("zesDeviceEnumRasErrorSets", zes.ras_sets);
    library->load("zesRasGetProperties", zes.ras_properties);
    library->load("zesRasGetState", zes.ras_state);
    library->load("zesDeviceEnumTemperatureSensors", zes.sensors);
    library->load("zesTemperatureGetProperties", zes.sensor_properties);
    library->load("zesTemperatureGetState", zes.temperature);
    library->load("zesDeviceEnumFrequencyDomains", zes.clocks);
    library->load("zesFrequencyGetState", zes.frequency);
    library->load("zesDeviceEnumMemoryModules", zes.memories);
    library->load("zesMemoryGetState", zes.memory);
    if (zes.init && zes.driver_get && zes.device_get && zes.properties && zes.pci) return zes;
    return Error{ErrorCode::kUnavailable, name + " lacks the functions of Sysman"};
  }

  acrf_ze_init* init = nullptr;
  acrf_ze_driver_get* driver_get = nullptr;
  acrf_ze_device_get* device_get = nullptr;
  acrf_zes_get_properties* properties = nullptr;
  acrf_zes_get_pci* pci = nullptr;
  acrf_zes_get_state* state = nullptr;
  acrf_zes_enumerate* ras_sets = nullptr;
  acrf_zes_ras_get_properties* ras_properties = nullptr;
  acrf_zes_ras_get_state* ras_state = nullptr;
  acrf_zes_enumerate* sensors = nullptr;
  acrf_zes_temperature_get_properties* sensor_properties = nullptr;
  acrf_zes_temperature_get* temperature = nullptr;
  acrf_zes_enumerate* clocks = nullptr;
  acrf_zes_frequency_get* frequency = nullptr;
  acrf_zes_enumerate* memories = nullptr;
  acrf_zes_memory_get* memory = nullptr;
};

// What Level Zero's lists are: asked once for the count and once for the handles.
template <typename Handle, typename List>
std::vector<Handle> list_all(List list) {
  uint32_t count = 0;
  if (list(&count, nullptr) != ACRF_ZE_SUCCESS || count == 0) return {};
  std::vector<Handle> handles(count);
  if (list(&count, handles.data()) != ACRF_ZE_SUCCESS) return {};
  handles.resize(std::min<std::size_t>(count, handles.size()));
  return handles;
}

void raise_to(Reading& reading, std::uint64_t value) {
  reading = std::max(reading.value_or(0), value);
}

struct Device {
  acrf_ze_device_t handle = nullptr;
  GpuSample identity;
  std::vector<acrf_ze_part_t> ras_sets;
  std::vector<acrf_ze_part_t> sensors;
  std::vector<acrf_ze_part_t> clocks;
  std::vector<acrf_ze_part_t> memories;
};

class LevelZeroSampler {
 public:
  explicit LevelZeroSampler(const LevelZero& zes) : zes_(zes), init_result_(zes.init(0)) {
    if (init_result_ != ACRF_ZE_SUCCESS) return;
    const auto drivers = list_all<acrf_ze_driver_t>(zes_.driver_get);
    for (auto* driver : drivers)
      for (auto* handle : list_all<acrf_ze_device_t>([&](uint32_t*count, acrf_ze_device_t*list) {
             return zes_.device_get(driver, count, list);
           }))
        add(handle);
  }

  Result<ProbeAnswer> sample() {
    if (init_result_ != ACRF_ZE_SUCCESS)
      return Error{ErrorCode::kUnavailable, fmt::format("Level Zero does not start: {:#x}",
                                                        static_cast<uint32_t>(init_result_))};
    ProbeAnswer answer;
    for (const auto& device : devices_) {
      report_place(device.identity.address);
      answer.gpus.push_back(read(device));
    }
    return answer;
  }

 private:
  void add(acrf_ze_device_t handle) {
    acrf_zes_device_properties properties = {};
    properties.type = ACRF_ZES_DEVICE_PROPERTIES;
    properties.core.type = ACRF_ZE_CORE_PROPERTIES;
    acrf_zes_pci_properties pci = {};
    pci.type = ACRF_ZES_PCI_PROPERTIES;
    if (zes_.properties(handle, &properties) != ACRF_ZE_SUCCESS ||
        zes_.pci(handle, &pci) != ACRF_ZE_SUCCESS ||
        properties.core.device_type != ACRF_ZE_TYPE_GPU)
      return;
    Device device;
    device.handle = handle;
    auto& identity = device.identity;
    identity.vendor = "intel";
    identity.index = devices_.size();
    identity.address = {pci.domain, static_cast<std::uint8_t>(pci.bus),
                        static_cast<std::uint8_t>(pci.device)};
    for (const auto byte : properties.core.uuid) identity.uuid += fmt::format("{:02x}", byte);
    properties.serial[sizeof properties.serial - 1] = '\0';
    properties.core.name[sizeof properties.core.name - 1] = '\0';
    identity.serial = properties.serial;
    identity.name = properties.core.name;
    device.ras_sets = parts(handle, zes_.ras_sets);
    device.sensors = parts(handle, zes_.sensors);
    device.clocks = parts(handle, zes_.clocks);
    device.memories = parts(handle, zes_.memories);
    devices_.push_back(std::move(device));
  }

  static std::vector<acrf_ze_part_t> parts(acrf_ze_device_t handle, acrf_zes_enumerate* list) {
    if (!list) return {};
    return list_all<acrf_ze_part_t>(
        [&](uint32_t* count, acrf_ze_part_t* found) { return list(handle, count, found); });
  }

  GpuSample read(const Device& device) const {
    GpuSample sample = device.identity;
    acrf_zes_device_state state = {};
    state.type = ACRF_ZES_DEVICE_STATE;
    const auto result = zes_.state ? zes_.state(device.handle, &state) : ACRF_ZE_UNSUPPORTED;
    if (result == ACRF_ZE_SUCCESS) {
      sample.wedged = (state.reset & ACRF_ZES_RESET_WEDGED) != 0;
      sample.repair_reset = (state.reset & ACRF_ZES_RESET_REPAIR) != 0;
    }
    sample.lost = result == ACRF_ZE_DEVICE_LOST;
    if (sample.lost) return sample;
    read_errors(device, sample);
    read_sensors(device, sample);
    read_clocks(device, sample);
    for (auto* memory : device.memories) {
      acrf_zes_memory_state memory_state = {};
      memory_state.type = ACRF_ZES_MEMORY_STATE;
      if (zes_.memory && zes_.memory(memory, &memory_state) == ACRF_ZE_SUCCESS)
        raise_to(sample.memory_health, memory_state.health);
    }
    return sample;
  }

  // Sub-devices have sets of their own: the sums count.
  void read_errors(const Device& device, GpuSample& sample) const {
    Reading counts[2][ACRF_ZES_RAS_CATEGORIES];
    for (auto* set : device.ras_sets) {
      acrf_zes_ras_properties properties = {};
      properties.type = ACRF_ZES_RAS_PROPERTIES;
      acrf_zes_ras_state state = {};
      state.type = ACRF_ZES_RAS_STATE;
      if (!zes_.ras_properties || !zes_.ras_state ||
          zes_.ras_properties(set, &properties) != ACRF_ZE_SUCCESS ||
          zes_.ras_state(set, 0, &state) != ACRF_ZE_SUCCESS ||
          properties.kind > ACRF_ZES_UNCORRECTABLE)
        continue;
      for (int i = 0; i < ACRF_ZES_RAS_CATEGORIES; ++i)
        counts[properties.kind][i] = counts[properties.kind][i].value_or(0) + state.category[i];
    }
    for (int i = 0; i < ACRF_ZES_RAS_CATEGORIES; ++i)
      if (counts[0][i] || counts[1][i])
        sample.blocks.push_back({kCategories[i], counts[0][i], counts[1][i]});
  }

  void read_sensors(const Device& device, GpuSample& sample) const {
    for (auto* sensor : device.sensors) {
      acrf_zes_temperature_properties properties = {};
      properties.type = ACRF_ZES_TEMPERATURE_PROPERTIES;
      double celsius = 0;
      if (!zes_.sensor_properties || !zes_.temperature ||
          zes_.sensor_properties(sensor, &properties) != ACRF_ZE_SUCCESS ||
          zes_.temperature(sensor, &celsius) != ACRF_ZE_SUCCESS || !(celsius >= 0))
        continue;
      const bool memory = properties.sensor == ACRF_ZES_SENSOR_MEMORY;
      if (properties.sensor > ACRF_ZES_SENSOR_MEMORY) continue;
      raise_to(memory ? sample.memory_temperature_c : sample.temperature_c,
               static_cast<std::uint64_t>(std::min(celsius, 1000.0)));
      if (properties.max_c >= 1 && properties.max_c < 1000)
        raise_to(memory ? sample.memory_max_c : sample.slowdown_c,
                 static_cast<std::uint64_t>(properties.max_c));
    }
  }

  void read_clocks(const Device& device, GpuSample& sample) const {
    for (auto* clock : device.clocks) {
      acrf_zes_frequency_state state = {};
      state.type = ACRF_ZES_FREQUENCY_STATE;
      if (!zes_.frequency || zes_.frequency(clock, &state) != ACRF_ZE_SUCCESS) continue;
      raise_to(sample.slowdown_thermal, (state.throttle_reasons & ACRF_ZES_THROTTLE_THERMAL) != 0);
      raise_to(sample.slowdown_power,
               (state.throttle_reasons & ACRF_ZES_THROTTLE_POWER_SUPPLY) != 0);
    }
  }

  const LevelZero& zes_;
  acrf_ze_result init_result_;
  std::vector<Device> devices_;
};

}  // namespace

int run_level_zero_probe(const std::string& library) {
  const auto zes = LevelZero::open(library);
  std::unique_ptr<LevelZeroSampler> sampler;
  return serve_samples([&]() -> Result<ProbeAnswer> {
    if (!zes) return zes.error();
    if (!sampler) sampler = std::make_unique<LevelZeroSampler>(*zes);
    return sampler->sample();
  });
}

}  // namespace acrf
