// SPDX-License-Identifier: GPL-2.0-or-later
// acrf inject: a fault on a test cluster, as the hardware would show it: in the stand-in libraries'
// state and in the kernel log. Refuses a cluster whose acrf.conf names no FakeGpuState.
#include <fmt/format.h>

#include <ctime>
#include <memory>

#include "commands.h"
#include "common/config_file.h"
#include "common/file.h"
#include "core/text.h"
#include "core/xid.h"
#include "fakegpu/state.h"

namespace acrf {
namespace {

struct Injection {
  std::string node;
  unsigned gpu = 0;
  int xid = 0;
  std::string fault;
  bool hang = false;
  bool repair = false;
};

// What a fault changes in the GPU's state.
struct Fault {
  const char* name;
  void (*apply)(fakegpu::Gpu& gpu);
};

constexpr Fault kFaults[] = {
    {"lost", [](fakegpu::Gpu& gpu) { gpu.lost = true; }},
    {"vanished", [](fakegpu::Gpu& gpu) { gpu.vanished = true; }},
    {"reset-required", [](fakegpu::Gpu& gpu) { gpu.reset_required = true; }},
    {"ecc", [](fakegpu::Gpu& gpu) { ++gpu.readings["aggregate_dram_uncorrected"]; }},
    {"remap-pending", [](fakegpu::Gpu& gpu) { gpu.readings["remap_pending"] = 1; }},
    {"remap-failure", [](fakegpu::Gpu& gpu) { gpu.readings["remap_failure"] = 1; }},
    {"nvlink-down", [](fakegpu::Gpu& gpu) { gpu.links_down = {0}; }},
    {"nvlink-errors", [](fakegpu::Gpu& gpu) { gpu.readings["nvlink_crc"] += 10'000; }},
    {"pcie-replay", [](fakegpu::Gpu& gpu) { gpu.readings["pcie_replays"] += 1000; }},
    {"thermal", [](fakegpu::Gpu& gpu) { gpu.readings["slowdown_thermal"] = 1; }},
    {"recovery-reset", [](fakegpu::Gpu& gpu) { gpu.readings["recovery_action"] = 1; }},
    {"recovery-reboot", [](fakegpu::Gpu& gpu) { gpu.readings["recovery_action"] = 2; }},
    {"ras",
     [](fakegpu::Gpu& gpu) {
       ++gpu.readings["umc_uncorrected"];    // AMD
       ++gpu.readings["cache_uncorrected"];  // Intel
     }},
};

std::vector<std::string> fault_names() {
  std::vector<std::string> names;
  for (const auto& fault : kFaults) names.emplace_back(fault.name);
  return names;
}

// Counts are lifetimes': a repaired GPU keeps them.
void repair(fakegpu::Gpu& gpu) {
  gpu.lost = gpu.hang = gpu.vanished = gpu.reset_required = false;
  gpu.links_down.clear();
  for (const auto* flag : {"remap_pending", "remap_failure", "slowdown_thermal", "recovery_action"})
    gpu.readings.erase(flag);
}

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
Status write_xid_line(const std::string& log, const fakegpu::Gpu& gpu, int code) {
  std::string_view text = gpu.pci;
  const auto address = take_pci_address(text);
  if (!address) return Error{ErrorCode::kInvalid, "GPU has no PCI address: " + gpu.pci};
  const auto now = uptime_us();
  return append_file(log, fmt::format("3,{},{},-;NVRM: Xid (PCI:{}): {}, pid='<unknown>', "
                                      "name=<unknown>, {}\n",
                                      now, now, to_string(*address), code, xid_text(code)));
}

Status inject(const Config& config, const Injection& injection) {
  if (config.fake_gpu_state.empty() || starts_with(config.kernel_log, "/dev/")) {
    return Error{ErrorCode::kDenied,
                 "acrf.conf names no FakeGpuState and no file as KernelLog: this is not a test "
                 "cluster, and real nodes get no injected faults"};
  }
  const auto path = expand_node(config.fake_gpu_state, injection.node);
  auto state = fakegpu::load_state(path);
  if (!state) return state.error();
  if (injection.gpu >= state->gpus.size()) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("--gpu {}: node {} has GPUs 0 to {}", injection.gpu, injection.node,
                             state->gpus.size() - 1)};
  }
  auto& gpu = state->gpus[injection.gpu];
  if (injection.repair) repair(gpu);
  if (injection.xid == 79) gpu.lost = true;
  if (injection.xid != 0) gpu.xids.push_back(static_cast<unsigned>(injection.xid));
  if (injection.hang) gpu.hang = true;
  for (const auto& fault : kFaults)
    if (injection.fault == fault.name) fault.apply(gpu);
  if (const auto saved = fakegpu::save_state(path, *state); !saved) return saved;
  if (injection.xid == 0) return Done{};
  return write_xid_line(expand_node(config.kernel_log, injection.node), gpu, injection.xid);
}

}  // namespace

void add_inject_command(CommandLine& line) {
  auto* command =
      line.app.add_subcommand("inject", "break a fake GPU of a test cluster, or mend it");
  command->fallthrough();
  const auto injection = std::make_shared<Injection>();
  command->add_option("-N,--node", injection->node, "node")->required();
  command->add_option("-g,--gpu", injection->gpu, "GPU's index on the node (default: 0)");
  auto* kinds = command->add_option_group("fault");
  kinds->add_option("--xid", injection->xid, "report this Xid in the kernel log; 79 loses the GPU")
      ->check(CLI::Range(1, 0xffff));
  kinds->add_option("--fault", injection->fault, "what the vendor libraries are to show")
      ->check(CLI::IsMember(fault_names()));
  kinds->add_flag("--hang", injection->hang, "calls about the GPU never return");
  kinds->add_flag("--repair", injection->repair, "the GPU works again");
  kinds->require_option(1);
  command->callback([&line, injection] {
    const auto config = load_named_config(line.config_path);
    if (!config) return fail(line, config.error());
    if (const auto injected = inject(*config, *injection); !injected) fail(line, injected.error());
  });
}

}  // namespace acrf
