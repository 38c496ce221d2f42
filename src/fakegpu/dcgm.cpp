// SPDX-License-Identifier: GPL-2.0-or-later
// libdcgm without a GPU: health watches answered from the state file. There is no host engine, and
// a driver version that begins with "old" answers only what DCGM 3 knows.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "common/dcgm_abi.h"
#include "fakegpu/state.h"

#define FAKE_DCGM_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using acrf::fakegpu::current_state;
using acrf::fakegpu::Gpu;

constexpr acrf_dcgm_return kBadParameter = -1;
constexpr acrf_dcgm_return kNotSupported = -6;
constexpr acrf_dcgm_return kVersionMismatch = -15;
constexpr acrf_dcgm_return kNoConnection = -21;
constexpr unsigned kMemory = 0x10;
constexpr unsigned kThermal = 0x80;

const Gpu* find_gpu(unsigned id) {
  const auto* state = current_state();
  if (!state || id >= state->gpus.size()) return nullptr;
  acrf::fakegpu::maybe_hang(state->gpus[id]);
  return &state->gpus[id];
}

template <typename Response>
void add_incident(Response& response, unsigned gpu, unsigned system, unsigned health, unsigned code,
                  const char* message) {
  if (response.count >= std::size(response.incidents)) return;
  auto& incident = response.incidents[response.count++];
  incident = {};
  incident.system = system;
  incident.health = health;
  incident.error.code = code;
  std::snprintf(incident.error.message, sizeof incident.error.message, "%s", message);
  incident.entity = {ACRF_DCGM_ENTITY_GPU, gpu};
  response.overall = std::max(response.overall, health);
}

template <typename Response>
acrf_dcgm_return check(Response& response) {
  const auto* state = current_state();
  if (!state) return kNoConnection;
  response.overall = response.count = 0;
  for (const auto id : acrf::fakegpu::listed_gpus(*state)) {
    const Gpu* gpu = find_gpu(id);
    if (!gpu->supports("dcgmHealthCheck")) return kNotSupported;
    if (gpu->reading("remap_failure") != 0)
      add_incident(response, id, kMemory, ACRF_DCGM_RESULT_FAIL, 18, "Row remap failure");
    if (gpu->reading("slowdown_thermal") != 0)
      add_incident(response, id, kThermal, ACRF_DCGM_RESULT_WARN, 13, "Thermal violations");
  }
  return 0;
}

}  // namespace

FAKE_DCGM_EXPORT acrf_dcgm_return dcgmInit(void) { return 0; }

FAKE_DCGM_EXPORT acrf_dcgm_return dcgmConnect_v2(const char*, acrf_dcgm_connect_params*,
                                                 acrf_dcgm_handle_t*) {
  return kNoConnection;
}

FAKE_DCGM_EXPORT acrf_dcgm_return dcgmStartEmbedded(unsigned, acrf_dcgm_handle_t* handle) {
  *handle = 1;
  return current_state() ? 0 : kNoConnection;
}

FAKE_DCGM_EXPORT acrf_dcgm_return dcgmGetAllSupportedDevices(acrf_dcgm_handle_t, unsigned* gpus,
                                                             int* count) {
  const auto* state = current_state();
  if (!state) return kNoConnection;
  const auto listed = acrf::fakegpu::listed_gpus(*state);
  *count = static_cast<int>(std::min<std::size_t>(listed.size(), ACRF_DCGM_MAX_GPUS));
  std::copy_n(listed.begin(), *count, gpus);
  return 0;
}

FAKE_DCGM_EXPORT acrf_dcgm_return dcgmEntitiesGetLatestValues(
    acrf_dcgm_handle_t, acrf_dcgm_entity* entities, unsigned entity_count, unsigned short* fields,
    unsigned field_count, unsigned, acrf_dcgm_field_value* values) {
  for (unsigned i = 0; i < entity_count * field_count; ++i) {
    const Gpu* gpu = find_gpu(entities[i / field_count].id);
    if (!gpu) return kBadParameter;
    const std::string* text = nullptr;
    switch (fields[i % field_count]) {
      case ACRF_DCGM_FIELD_NAME: text = &gpu->name; break;
      case ACRF_DCGM_FIELD_SERIAL: text = &gpu->serial; break;
      case ACRF_DCGM_FIELD_UUID: text = &gpu->uuid; break;
      case ACRF_DCGM_FIELD_PCI_BUS_ID: text = &gpu->pci; break;
      default: break;
    }
    values[i].status = text ? 0 : kNotSupported;
    if (text) std::snprintf(values[i].value.text, sizeof values[i].value.text, "%s", text->c_str());
  }
  return 0;
}

FAKE_DCGM_EXPORT acrf_dcgm_return dcgmHealthSet_v2(acrf_dcgm_handle_t,
                                                   acrf_dcgm_health_params* params) {
  const bool known = params->version == ACRF_DCGM_VERSION(acrf_dcgm_health_params, 2);
  return known ? 0 : kVersionMismatch;
}

FAKE_DCGM_EXPORT acrf_dcgm_return dcgmHealthCheck(acrf_dcgm_handle_t, acrf_dcgm_group_t,
                                                  void* response) {
  const auto* state = current_state();
  const bool old = state && state->driver.rfind("old", 0) == 0;
  unsigned version = 0;
  std::memcpy(&version, response, sizeof version);
  if (!old && version == ACRF_DCGM_VERSION(acrf_dcgm_health_v5, 5))
    return check(*static_cast<acrf_dcgm_health_v5*>(response));
  if (old && version == ACRF_DCGM_VERSION(acrf_dcgm_health_v4, 4))
    return check(*static_cast<acrf_dcgm_health_v4*>(response));
  return kVersionMismatch;
}
