// SPDX-License-Identifier: GPL-2.0-or-later
#include "fakegpu/injection.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "common/config_file.h"
#include "common/file.h"
#include "core/text.h"
#include "core/xid.h"
#include "fakegpu/state.h"

namespace acrf::fakegpu {
namespace {

// What a fault changes in the GPU's state.
struct Fault {
  const char* name;
  void (*apply)(Gpu& gpu);
};

constexpr Fault kFaults[] = {
    {"lost", [](Gpu& gpu) { gpu.lost = true; }},
    {"vanished", [](Gpu& gpu) { gpu.vanished = true; }},
    {"reset-required", [](Gpu& gpu) { gpu.reset_required = true; }},
    {"ecc", [](Gpu& gpu) { ++gpu.readings["aggregate_dram_uncorrected"]; }},
    {"remap-pending", [](Gpu& gpu) { gpu.readings["remap_pending"] = 1; }},
    {"remap-failure", [](Gpu& gpu) { gpu.readings["remap_failure"] = 1; }},
    {"nvlink-down", [](Gpu& gpu) { gpu.links_down = {0}; }},
    {"nvlink-errors", [](Gpu& gpu) { gpu.readings["nvlink_crc"] += 10'000; }},
    {"pcie-replay", [](Gpu& gpu) { gpu.readings["pcie_replays"] += 1000; }},
    {"thermal", [](Gpu& gpu) { gpu.readings["slowdown_thermal"] = 1; }},
    {"hot", [](Gpu& gpu) { gpu.temperature_c = 90; }},
    {"recovery-reset", [](Gpu& gpu) { gpu.readings["recovery_action"] = 1; }},
    {"recovery-reboot", [](Gpu& gpu) { gpu.readings["recovery_action"] = 2; }},
    {"ras",
     [](Gpu& gpu) {
       ++gpu.readings["umc_uncorrected"];    // AMD
       ++gpu.readings["cache_uncorrected"];  // Intel
     }},
};

std::uint64_t uptime_us() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec) / 1000;
}

std::string_view xid_text(int code) {
  return code == 79 ? "GPU has fallen off the bus." : "injected";
}

// A record as the kernel would number it: sequence numbers only have to rise.
Status write_xid_line(const std::string& log, const Gpu& gpu, int code) {
  std::string_view text = gpu.pci;
  const auto address = take_pci_address(text);
  if (!address) return Error{ErrorCode::kInvalid, "GPU has no PCI address: " + gpu.pci};
  const auto now = uptime_us();
  return append_file(log, fmt::format("3,{},{},-;NVRM: Xid (PCI:{}): {}, pid='<unknown>', "
                                      "name=<unknown>, {}\n",
                                      now, now, to_string(*address), code, xid_text(code)));
}

}  // namespace

std::vector<std::string> fault_names() {
  std::vector<std::string> names;
  for (const auto& fault : kFaults) names.emplace_back(fault.name);
  return names;
}

Result<Injection> parse_injection(const std::string& node, unsigned gpu, const std::string& word) {
  Injection injection;
  injection.node = node;
  injection.gpu = gpu;
  if (starts_with(word, "xid:")) {
    const auto code = parse_unsigned(std::string_view(word).substr(4));
    if (!code || *code < 1 || *code > 0xffff)
      return Error{ErrorCode::kInvalid, word + ": an Xid is from 1 to 65535"};
    injection.xid = static_cast<int>(*code);
    return injection;
  }
  const auto names = fault_names();
  injection.hang = word == "hang";
  injection.repair = word == "repair";
  if (injection.hang || injection.repair) return injection;
  if (std::find(names.begin(), names.end(), word) == names.end())
    return Error{ErrorCode::kInvalid, "\"" + word + "\" is no fault that can be injected"};
  injection.fault = word;
  return injection;
}

Status inject(const Config& config, const Injection& injection) {
  if (config.fake_gpu_state.empty() || starts_with(config.kernel_log, "/dev/")) {
    return Error{ErrorCode::kDenied,
                 "acrf.conf names no FakeGpuState and no file as KernelLog: this is not a test "
                 "cluster, and real nodes get no injected faults"};
  }
  const auto path = expand_node(config.fake_gpu_state, injection.node);
  auto state = load_state(path);
  if (!state && state.error().code == ErrorCode::kNotFound)
    return Error{ErrorCode::kNotFound,
                 "node " + injection.node + " has no fake GPUs: there is no " + path};
  if (!state) return state.error();
  if (injection.gpu >= state->gpus.size()) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("--gpu {}: node {} has GPUs 0 to {}", injection.gpu, injection.node,
                             state->gpus.size() - 1)};
  }
  auto& gpu = state->gpus[injection.gpu];
  if (injection.repair) mend(gpu);
  if (injection.xid == 79) gpu.lost = true;
  if (injection.xid != 0) gpu.xids.push_back(static_cast<unsigned>(injection.xid));
  if (injection.hang) gpu.hang = true;
  for (const auto& fault : kFaults)
    if (injection.fault == fault.name) fault.apply(gpu);
  if (const auto saved = save_state(path, *state); !saved) return saved;
  if (injection.xid == 0) return Done{};
  return write_xid_line(expand_node(config.kernel_log, injection.node), gpu, injection.xid);
}

}  // namespace acrf::fakegpu
