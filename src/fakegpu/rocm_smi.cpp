// SPDX-License-Identifier: GPL-2.0-or-later
// librocm_smi64 without an AMD GPU, answered from the state file. ACRF_FAKE_RSMI_OLD lacks
// functions, as an older library does.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "common/rocm_smi_abi.h"
#include "core/text.h"
#include "core/xid.h"
#include "fakegpu/state.h"

#define FAKE_RSMI_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using acrf::fakegpu::current_state;
using acrf::fakegpu::Gpu;

constexpr const char* kBlocks[] = {"umc",      "sdma", "gfx",       "mmhub", "athub",
                                   "pcie_bif", "hdp",  "xgmi_wafl", "df",    "smn",
                                   "sem",      "mp0",  "mp1",       "fuse"};

acrf_rsmi_status find_gpu(uint32_t device, const char* function, const Gpu*& gpu) {
  const auto* state = current_state();
  if (!state) return ACRF_RSMI_INIT_ERROR;
  const auto listed = acrf::fakegpu::listed_gpus(*state);
  if (device >= listed.size()) return ACRF_RSMI_INVALID_ARGUMENTS;
  gpu = &state->gpus[listed[device]];
  acrf::fakegpu::maybe_hang(*gpu);
  return gpu->supports(function) ? ACRF_RSMI_SUCCESS : ACRF_RSMI_NOT_SUPPORTED;
}

template <typename Number>
acrf_rsmi_status copy_reading(uint32_t device, const char* function, const char* name,
                              std::uint64_t healthy, std::uint64_t scale, Number* to) {
  const Gpu* gpu = nullptr;
  const auto status = find_gpu(device, function, gpu);
  if (status == ACRF_RSMI_SUCCESS) *to = static_cast<Number>(gpu->reading(name, healthy) * scale);
  return status;
}

acrf_rsmi_status copy_text(const std::string& from, char* to, std::size_t length) {
  if (from.size() + 1 > length) return ACRF_RSMI_INSUFFICIENT_SIZE;
  std::memcpy(to, from.c_str(), from.size() + 1);
  return ACRF_RSMI_SUCCESS;
}

}  // namespace

// The real library prints too.
FAKE_RSMI_EXPORT acrf_rsmi_status rsmi_init(uint64_t) {
  std::puts("rsmi_init: a word on standard output");
  std::fflush(stdout);
  return acrf::fakegpu::look_at_state() ? ACRF_RSMI_SUCCESS : ACRF_RSMI_INIT_ERROR;
}

FAKE_RSMI_EXPORT acrf_rsmi_status rsmi_status_string(acrf_rsmi_status status, const char** text) {
  *text = status == ACRF_RSMI_INIT_ERROR ? "RSMI_STATUS_INIT_ERROR: no driver" : "another error";
  return ACRF_RSMI_SUCCESS;
}

FAKE_RSMI_EXPORT acrf_rsmi_status rsmi_num_monitor_devices(uint32_t* count) {
  const auto* state = acrf::fakegpu::look_at_state();
  if (!state) return ACRF_RSMI_INIT_ERROR;
  *count = static_cast<uint32_t>(acrf::fakegpu::listed_gpus(*state).size());
  return ACRF_RSMI_SUCCESS;
}

FAKE_RSMI_EXPORT acrf_rsmi_status rsmi_dev_pci_id_get(uint32_t device, uint64_t* id) {
  const Gpu* gpu = nullptr;
  const auto status = find_gpu(device, "rsmi_dev_pci_id_get", gpu);
  if (!gpu) return status;
  std::string_view text = gpu->pci;
  const auto address = acrf::take_pci_address(text);
  if (!address) return ACRF_RSMI_NOT_SUPPORTED;
  *id = uint64_t{address->domain} << 32 | uint64_t{address->bus} << 8 | address->device << 3;
  return ACRF_RSMI_SUCCESS;
}

FAKE_RSMI_EXPORT acrf_rsmi_status rsmi_dev_unique_id_get(uint32_t device, uint64_t* id) {
  const Gpu* gpu = nullptr;
  (void)find_gpu(device, "", gpu);
  if (!gpu) return ACRF_RSMI_INVALID_ARGUMENTS;
  *id = std::strtoull(acrf::fingerprint(gpu->uuid).c_str(), nullptr, 16);
  return ACRF_RSMI_SUCCESS;
}

FAKE_RSMI_EXPORT acrf_rsmi_status rsmi_dev_serial_number_get(uint32_t device, char* serial,
                                                             uint32_t length) {
  const Gpu* gpu = nullptr;
  (void)find_gpu(device, "", gpu);
  return gpu ? copy_text(gpu->serial, serial, length) : ACRF_RSMI_INVALID_ARGUMENTS;
}

FAKE_RSMI_EXPORT acrf_rsmi_status rsmi_dev_name_get(uint32_t device, char* name, size_t length) {
  const Gpu* gpu = nullptr;
  (void)find_gpu(device, "", gpu);
  return gpu ? copy_text(gpu->name, name, length) : ACRF_RSMI_INVALID_ARGUMENTS;
}

FAKE_RSMI_EXPORT acrf_rsmi_status rsmi_dev_temp_metric_get(uint32_t device, uint32_t sensor,
                                                           acrf_rsmi_temperature_metric metric,
                                                           int64_t* millidegrees) {
  const bool memory = sensor == ACRF_RSMI_MEMORY;
  if (metric == ACRF_RSMI_TEMPERATURE_CRITICAL)
    return copy_reading(device, __func__, memory ? "memory_max_c" : "slowdown_c",
                        memory ? 105 : 110, 1000, millidegrees);
  const Gpu* gpu = nullptr;
  const auto status = find_gpu(device, __func__, gpu);
  if (status != ACRF_RSMI_SUCCESS) return status;
  const auto celsius = memory ? gpu->reading("memory_temperature_c", 40) : gpu->temperature_c;
  *millidegrees = static_cast<int64_t>(celsius) * 1000;
  return ACRF_RSMI_SUCCESS;
}

FAKE_RSMI_EXPORT acrf_rsmi_status rsmi_dev_power_ave_get(uint32_t device, uint32_t,
                                                         uint64_t* microwatts) {
  const Gpu* gpu = nullptr;
  const auto status = find_gpu(device, __func__, gpu);
  if (status == ACRF_RSMI_SUCCESS) *microwatts = gpu->power_mw * 1000ull;
  return status;
}

FAKE_RSMI_EXPORT acrf_rsmi_status rsmi_dev_power_cap_get(uint32_t device, uint32_t,
                                                         uint64_t* microwatts) {
  return copy_reading(device, __func__, "power_limit_mw", 750'000, 1000, microwatts);
}

FAKE_RSMI_EXPORT acrf_rsmi_status rsmi_dev_busy_percent_get(uint32_t device, uint32_t* percent) {
  return copy_reading(device, __func__, "utilization_percent", 0, 1, percent);
}

FAKE_RSMI_EXPORT acrf_rsmi_status rsmi_dev_ecc_enabled_get(uint32_t device, uint64_t* blocks) {
  return copy_reading(device, __func__, "ecc_blocks", 0x3fff, 1, blocks);
}

// A real library writes two counts, or three since ROCm 6.
FAKE_RSMI_EXPORT acrf_rsmi_status rsmi_dev_ecc_count_get(uint32_t device, acrf_rsmi_block block,
                                                         acrf_rsmi_error_count* count) {
  const Gpu* gpu = nullptr;
  const auto status = find_gpu(device, __func__, gpu);
  if (status != ACRF_RSMI_SUCCESS) return status;
  for (unsigned bit = 0; bit < std::size(kBlocks); ++bit) {
    if (block != 1ull << bit) continue;
    count->corrected = gpu->reading(std::string(kBlocks[bit]) + "_corrected");
    count->uncorrected = gpu->reading(std::string(kBlocks[bit]) + "_uncorrected");
    return ACRF_RSMI_SUCCESS;
  }
  return ACRF_RSMI_INVALID_ARGUMENTS;
}

#ifndef ACRF_FAKE_RSMI_OLD
FAKE_RSMI_EXPORT acrf_rsmi_status rsmi_dev_xgmi_error_status(uint32_t device,
                                                             acrf_rsmi_xgmi_status* status) {
  return copy_reading(device, __func__, "xgmi_error", 0, 1, status);
}

FAKE_RSMI_EXPORT acrf_rsmi_status rsmi_dev_pci_replay_counter_get(uint32_t device,
                                                                  uint64_t* count) {
  return copy_reading(device, __func__, "pcie_replays", 0, 1, count);
}

FAKE_RSMI_EXPORT acrf_rsmi_status rsmi_dev_memory_reserved_pages_get(uint32_t device,
                                                                     uint32_t* count,
                                                                     acrf_rsmi_page* pages) {
  const Gpu* gpu = nullptr;
  const auto status = find_gpu(device, __func__, gpu);
  if (status != ACRF_RSMI_SUCCESS) return status;
  const auto pending = static_cast<uint32_t>(gpu->reading("retired_pages_pending"));
  const auto failed = static_cast<uint32_t>(gpu->reading("retired_pages_failed"));
  const auto all = pending + failed + static_cast<uint32_t>(gpu->reading("retired_pages"));
  const uint32_t room = pages ? *count : 0;
  *count = pages ? std::min(room, all) : all;
  for (uint32_t i = 0; i < std::min(room, all); ++i)
    pages[i] = {i * 4096ull, 4096,
                i < pending            ? ACRF_RSMI_PAGE_PENDING
                : i < pending + failed ? ACRF_RSMI_PAGE_UNRESERVABLE
                                       : ACRF_RSMI_PAGE_RESERVED};
  return ACRF_RSMI_SUCCESS;
}
#endif
