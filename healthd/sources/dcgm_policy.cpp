// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/dcgm_policy.h"

#include <fmt/format.h>

namespace acrf {
namespace {

constexpr std::size_t kMostViolations = 256;  // between two looks; what is beyond says no more
constexpr unsigned kOurConditions =
    ACRF_DCGM_POLICY_DBE | ACRF_DCGM_POLICY_PCI | ACRF_DCGM_POLICY_PAGES | ACRF_DCGM_POLICY_NVLINK;
constexpr unsigned long long kRetiredPagesLimit = 63;  // NVIDIA's, before Ampere

// Temperature and power have no place in it: their limits are the device's own, and the rules read
// them.
acrf_dcgm_policy our_policy() {
  acrf_dcgm_policy policy = {};
  policy.version = ACRF_DCGM_VERSION(acrf_dcgm_policy, 1);
  policy.conditions = kOurConditions;
  policy.mode = ACRF_DCGM_POLICY_MANUAL;
  for (unsigned bit = 0; bit < ACRF_DCGM_POLICY_CONDITIONS; ++bit) {
    if ((kOurConditions >> bit & 1) == 0) continue;
    auto& parameter = policy.parameters[bit];
    if (1u << bit == ACRF_DCGM_POLICY_PAGES) {
      parameter.kind = acrf_dcgm_policy_parameter::ACRF_DCGM_NUMBER;
      parameter.value.number = kRetiredPagesLimit;
    } else {
      parameter.kind = acrf_dcgm_policy_parameter::ACRF_DCGM_BOOLEAN;
      parameter.value.boolean = 1;
    }
  }
  return policy;
}

std::optional<HealthIncident> incident_of(const acrf_dcgm_violation& violation) {
  const auto& detail = violation.detail;
  const auto incident = [&](const char* system, bool failed, std::string text) {
    return HealthIncident{system, failed, violation.condition, std::move(text)};
  };
  switch (violation.condition) {
    case ACRF_DCGM_POLICY_DBE:
      return incident("policy_memory", true, fmt::format("{} double-bit errors", detail.dbe.errors));
    case ACRF_DCGM_POLICY_PCI:
      return incident("policy_pcie", false, fmt::format("{} PCIe replays", detail.number));
    case ACRF_DCGM_POLICY_PAGES:
      return incident("policy_pages", true,
                      fmt::format("retired pages: {} by single-bit, {} by double-bit errors",
                                  detail.pages.single_bit, detail.pages.double_bit));
    case ACRF_DCGM_POLICY_THERMAL:
      return incident("policy_thermal", false, fmt::format("{} C", detail.number));
    case ACRF_DCGM_POLICY_POWER:
      return incident("policy_power", false, fmt::format("{} W", detail.number));
    case ACRF_DCGM_POLICY_NVLINK:
      return incident(
          "policy_nvlink", false,
          fmt::format("NVLink counter {} is {}", detail.nvlink.field, detail.nvlink.counter));
    default: return std::nullopt;
  }
}

}  // namespace

// What to be told of: what the site watches, or what we do where it watches nothing.
unsigned DcgmPolicyWatch::conditions_of(acrf_dcgm_handle_t handle, acrf_dcgm_group_t group) const {
  acrf_dcgm_policy policy = {};
  policy.version = ACRF_DCGM_VERSION(acrf_dcgm_policy, 1);
  if (dcgm_.policy_get(handle, group, 1, &policy, 0) != 0) return 0;
  if (policy.conditions != 0) return policy.conditions & ~ACRF_DCGM_POLICY_XID;
  policy = our_policy();
  return dcgm_.policy_set(handle, group, &policy, 0) == 0 ? kOurConditions : 0;
}

void DcgmPolicyWatch::watch(acrf_dcgm_handle_t handle, const GpuSample& gpu) {
  acrf_dcgm_group_t group = 0;
  const auto name = fmt::format("acrf-{}", gpu.index);
  if (dcgm_.group_create(handle, ACRF_DCGM_EMPTY_GROUP, name.c_str(), &group) != 0 ||
      dcgm_.group_add(handle, group, ACRF_DCGM_ENTITY_GPU, static_cast<unsigned>(gpu.index)) != 0)
    return;
  const auto conditions = conditions_of(handle, group);
  if (conditions == 0) return;
  registrations_.push_back(std::make_unique<Registration>(Registration{this, gpu.index}));
  (void)dcgm_.policy_register(handle, group, conditions, receive,
                              reinterpret_cast<std::uint64_t>(registrations_.back().get()));
}

void DcgmPolicyWatch::start(acrf_dcgm_handle_t handle, const std::vector<GpuSample>& gpus) {
  if (!dcgm_.group_create || !dcgm_.group_add || !dcgm_.policy_get || !dcgm_.policy_set ||
      !dcgm_.policy_register)
    return;
  registrations_.clear();
  for (const auto& gpu : gpus) watch(handle, gpu);
}

int DcgmPolicyWatch::receive(acrf_dcgm_violation* violation, std::uint64_t registration) {
  const auto* from = reinterpret_cast<const Registration*>(registration);
  auto incident = violation ? incident_of(*violation) : std::nullopt;
  if (!incident) return 0;
  const std::lock_guard lock(from->watch->mutex_);
  auto& violations = from->watch->violations_;
  if (violations.size() < kMostViolations) violations.push_back({from->gpu, std::move(*incident)});
  return 0;
}

void DcgmPolicyWatch::take(std::vector<GpuSample>& gpus) {
  std::vector<Violation> taken;
  {
    const std::lock_guard lock(mutex_);
    taken.swap(violations_);
  }
  for (auto& violation : taken)
    for (auto& gpu : gpus)
      if (gpu.index == violation.gpu) gpu.incidents.push_back(violation.incident);
}

}  // namespace acrf
