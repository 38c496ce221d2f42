// SPDX-License-Identifier: GPL-2.0-or-later
// libdcgm without a GPU: health watches, policies and fields answered from the state file. There is
// no host engine, and a driver version that begins with "old" answers only what DCGM 3 knows. A
// GPU's reading "dcgm_policy" is the conditions of a policy that somebody else has set, and
// "nvlink_generation" 5 has its links counted as NVLink 5 does. ACRF_FAKE_DCGM_OLD leaves out the
// functions of policies.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <thread>
#include <vector>

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

// A group holds one GPU, as the probe uses them.
struct Group {
  unsigned gpu = 0;
  acrf_dcgm_violation_callback* callback = nullptr;
  std::uint64_t user_data = 0;
  std::map<unsigned, std::uint64_t> told;  // by condition: the reading that was told last
};
std::map<acrf_dcgm_group_t, Group> groups;
std::map<unsigned, acrf_dcgm_policy> policies;  // by GPU

std::uint64_t reading_of(const Gpu& gpu, unsigned condition) {
  switch (condition) {
    case ACRF_DCGM_POLICY_DBE: return gpu.reading("aggregate_dram_uncorrected");
    case ACRF_DCGM_POLICY_PCI: return gpu.reading("pcie_replays");
    case ACRF_DCGM_POLICY_PAGES: return gpu.reading("retired_pages");
    case ACRF_DCGM_POLICY_THERMAL: return gpu.temperature_c;
    case ACRF_DCGM_POLICY_POWER: return gpu.power_mw / 1000;
    case ACRF_DCGM_POLICY_NVLINK: return gpu.reading("nvlink_replay");
    case ACRF_DCGM_POLICY_XID: return gpu.xids.empty() ? 0 : gpu.xids.back();
    default: return 0;
  }
}

void tell(const Group& group, unsigned condition, std::uint64_t reading, bool old) {
  acrf_dcgm_violation violation = {};
  violation.version = static_cast<unsigned>(old ? 24 | 1 << 24 : sizeof violation | 2 << 24);
  violation.condition = condition;
  const auto number = static_cast<unsigned>(reading);
  if (condition == ACRF_DCGM_POLICY_DBE) {
    violation.detail.dbe.errors = number;
  } else if (condition == ACRF_DCGM_POLICY_PAGES) {
    violation.detail.pages.double_bit = number;
  } else if (condition == ACRF_DCGM_POLICY_NVLINK) {
    violation.detail.nvlink = {429, number};
  } else {
    violation.detail.number = number;
  }
  violation.gpu = old ? ~0u : group.gpu;
  group.callback(&violation, group.user_data);
}

// Like DCGM's, callbacks come from a thread of its own.
void tell_violations() {
  const auto* state = current_state();
  if (!state) return;
  const bool old = state->driver.rfind("old", 0) == 0;
  std::vector<std::thread> threads;
  for (auto& [id, group] : groups) {
    if (!group.callback || group.gpu >= state->gpus.size()) continue;
    for (auto& [condition, told] : group.told) {
      const auto reading = reading_of(state->gpus[group.gpu], condition);
      const auto before = std::exchange(told, reading);
      if (reading > before) threads.emplace_back(tell, std::cref(group), condition, reading, old);
    }
  }
  for (auto& thread : threads) thread.join();
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
  tell_violations();
  return 0;
}

}  // namespace

namespace {

const std::string* text_of(const Gpu& gpu, unsigned short field) {
  switch (field) {
    case ACRF_DCGM_FIELD_NAME: return &gpu.name;
    case ACRF_DCGM_FIELD_SERIAL: return &gpu.serial;
    case ACRF_DCGM_FIELD_UUID: return &gpu.uuid;
    case ACRF_DCGM_FIELD_PCI_BUS_ID: return &gpu.pci;
    default: return nullptr;
  }
}

// Blank: this GPU does not count it.
std::int64_t number_of(const Gpu& gpu, unsigned short field) {
  const bool is_nvlink5 = gpu.reading("nvlink_generation", 4) == 5;
  const auto count = [&](const char* name, bool of_nvlink5) {
    return is_nvlink5 == of_nvlink5 ? static_cast<std::int64_t>(gpu.reading(name))
                                    : ACRF_DCGM_BLANK + 2;
  };
  switch (field) {
    case ACRF_DCGM_FIELD_FABRIC_MANAGER:
      return static_cast<std::int64_t>(gpu.reading("dcgm_fabric_manager", 3));
    case ACRF_DCGM_FIELD_NVLINK_CRC_FLIT: return count("nvlink_crc", false);
    case ACRF_DCGM_FIELD_NVLINK_CRC_DATA: return count("nvlink_crc_data", false);
    case ACRF_DCGM_FIELD_NVLINK_REPLAY: return count("nvlink_replay", false);
    case ACRF_DCGM_FIELD_NVLINK_RECOVERY: return count("nvlink_recovery", false);
    default: return count("nvlink_recovery", true);
  }
}

bool knows_field(unsigned short field, bool old) {
  switch (field) {
    case ACRF_DCGM_FIELD_NAME:
    case ACRF_DCGM_FIELD_SERIAL:
    case ACRF_DCGM_FIELD_UUID:
    case ACRF_DCGM_FIELD_PCI_BUS_ID:
    case ACRF_DCGM_FIELD_FABRIC_MANAGER:
    case ACRF_DCGM_FIELD_NVLINK_CRC_FLIT:
    case ACRF_DCGM_FIELD_NVLINK_CRC_DATA:
    case ACRF_DCGM_FIELD_NVLINK_REPLAY:
    case ACRF_DCGM_FIELD_NVLINK_RECOVERY: return true;
    case ACRF_DCGM_FIELD_NVLINK5_RECOVERY: return !old;
    default: return false;
  }
}

bool is_old(const acrf::fakegpu::State& state) { return state.driver.rfind("old", 0) == 0; }

}  // namespace

FAKE_DCGM_EXPORT acrf_dcgm_return dcgmInit(void) { return 0; }

FAKE_DCGM_EXPORT acrf_dcgm_return dcgmConnect_v2(const char*, acrf_dcgm_connect_params*,
                                                 acrf_dcgm_handle_t*) {
  return kNoConnection;
}

FAKE_DCGM_EXPORT acrf_dcgm_return dcgmStartEmbedded(unsigned, acrf_dcgm_handle_t* handle) {
  *handle = 1;
  return acrf::fakegpu::look_at_state() ? 0 : kNoConnection;
}

FAKE_DCGM_EXPORT acrf_dcgm_return dcgmStopEmbedded(acrf_dcgm_handle_t) {
  groups.clear();
  policies.clear();
  return 0;
}

#ifndef ACRF_FAKE_DCGM_OLD
namespace {

acrf_dcgm_policy policy_of(unsigned id, const Gpu& gpu) {
  if (const auto found = policies.find(id); found != policies.end()) return found->second;
  acrf_dcgm_policy policy = {};
  policy.conditions = static_cast<unsigned>(gpu.reading("dcgm_policy"));
  return policy;
}

}  // namespace

FAKE_DCGM_EXPORT acrf_dcgm_return dcgmGroupCreate(acrf_dcgm_handle_t, int type, const char*,
                                                  acrf_dcgm_group_t* group) {
  if (type != ACRF_DCGM_EMPTY_GROUP) return kNotSupported;
  *group = groups.size() + 1;
  groups[*group] = {};
  return 0;
}

FAKE_DCGM_EXPORT acrf_dcgm_return dcgmGroupAddEntity(acrf_dcgm_handle_t, acrf_dcgm_group_t group,
                                                     unsigned entity_group, unsigned entity) {
  if (groups.count(group) == 0 || entity_group != ACRF_DCGM_ENTITY_GPU || !find_gpu(entity))
    return kBadParameter;
  groups[group].gpu = entity;
  return 0;
}

FAKE_DCGM_EXPORT acrf_dcgm_return dcgmPolicyGet(acrf_dcgm_handle_t, acrf_dcgm_group_t group,
                                                int count, acrf_dcgm_policy* found,
                                                acrf_dcgm_status_t) {
  const Gpu* gpu = groups.count(group) != 0 ? find_gpu(groups[group].gpu) : nullptr;
  if (!gpu || count < 1) return kBadParameter;
  if (!gpu->supports("dcgmPolicyGet")) return kNotSupported;
  if (found->version != ACRF_DCGM_VERSION(acrf_dcgm_policy, 1)) return kVersionMismatch;
  *found = policy_of(groups[group].gpu, *gpu);
  return 0;
}

FAKE_DCGM_EXPORT acrf_dcgm_return dcgmPolicySet(acrf_dcgm_handle_t, acrf_dcgm_group_t group,
                                                acrf_dcgm_policy* policy, acrf_dcgm_status_t) {
  if (groups.count(group) == 0) return kBadParameter;
  if (policy->version != ACRF_DCGM_VERSION(acrf_dcgm_policy, 1)) return kVersionMismatch;
  policies[groups[group].gpu] = *policy;
  return 0;
}

FAKE_DCGM_EXPORT acrf_dcgm_return dcgmPolicyRegister_v2(acrf_dcgm_handle_t, acrf_dcgm_group_t group,
                                                        unsigned conditions,
                                                        acrf_dcgm_violation_callback* callback,
                                                        std::uint64_t user_data) {
  const Gpu* gpu = groups.count(group) != 0 ? find_gpu(groups[group].gpu) : nullptr;
  if (!gpu || !callback) return kBadParameter;
  auto& registered = groups[group];
  registered.callback = callback;
  registered.user_data = user_data;
  // Only what a policy watches is told.
  conditions &= policy_of(registered.gpu, *gpu).conditions;
  for (unsigned bit = 0; bit < ACRF_DCGM_POLICY_CONDITIONS; ++bit)
    if ((conditions >> bit & 1) != 0) registered.told[1u << bit] = reading_of(*gpu, 1u << bit);
  return 0;
}

#endif

FAKE_DCGM_EXPORT acrf_dcgm_return dcgmGetAllSupportedDevices(acrf_dcgm_handle_t, unsigned* gpus,
                                                             int* count) {
  const auto* state = acrf::fakegpu::look_at_state();
  if (!state) return kNoConnection;
  const auto listed = acrf::fakegpu::listed_gpus(*state);
  *count = static_cast<int>(std::min<std::size_t>(listed.size(), ACRF_DCGM_MAX_GPUS));
  std::copy_n(listed.begin(), *count, gpus);
  return 0;
}

FAKE_DCGM_EXPORT acrf_dcgm_return dcgmEntitiesGetLatestValues(
    acrf_dcgm_handle_t, acrf_dcgm_entity* entities, unsigned entity_count, unsigned short* fields,
    unsigned field_count, unsigned, acrf_dcgm_field_value* values) {
  const auto* state = current_state();
  if (!state) return kNoConnection;
  for (unsigned i = 0; i < entity_count * field_count; ++i) {
    const Gpu* gpu = find_gpu(entities[i / field_count].id);
    const auto field = fields[i % field_count];
    if (!gpu || !knows_field(field, is_old(*state))) return kBadParameter;
    auto& value = values[i];
    value.field = field;
    value.status = 0;
    if (const auto* text = text_of(*gpu, field)) {
      value.type = 's';
      std::snprintf(value.value.text, sizeof value.value.text, "%s", text->c_str());
    } else if (gpu->supports("dcgmEntitiesGetLatestValues")) {
      value.type = ACRF_DCGM_TYPE_INTEGER;
      value.value.integer = number_of(*gpu, field);
    } else {
      value.status = kNotSupported;
    }
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
  const auto* state = acrf::fakegpu::look_at_state();
  const bool old = state && state->driver.rfind("old", 0) == 0;
  unsigned version = 0;
  std::memcpy(&version, response, sizeof version);
  if (!old && version == ACRF_DCGM_VERSION(acrf_dcgm_health_v5, 5))
    return check(*static_cast<acrf_dcgm_health_v5*>(response));
  if (old && version == ACRF_DCGM_VERSION(acrf_dcgm_health_v4, 4))
    return check(*static_cast<acrf_dcgm_health_v4*>(response));
  return kVersionMismatch;
}
