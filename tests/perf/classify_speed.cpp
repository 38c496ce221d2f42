// SPDX-License-Identifier: GPL-2.0-or-later
#include "classify_speed.h"

#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "core/classify.h"

namespace acrf::perf {
namespace {

const char* const kOrdinary[] = {
    "usb 1-1: new high-speed USB device number {} using xhci_hcd",
    "systemd[1]: Started Session {} of User root.",
    "audit: type=1400 audit(1700000000.{}:77): apparmor=\"STATUS\" operation=\"profile_load\"",
    "nvidia-uvm: Loaded the UVM driver, major device number {}.",
    "mlx5_core 0000:41:00.0: E-Switch: Total vports {}, per vport: max uc(128) max mc(2048)",
    "perf: interrupt took too long ({} > 2500), lowering kernel.perf_event_max_sample_rate to "
    "79750",
    "IPv6: ADDRCONF(NETDEV_CHANGE): veth{}: link becomes ready",
    "python3[{}]: memfd_create() called without MFD_EXEC or MFD_NOEXEC_SEAL set",
    "cgroup: fork rejected by pids controller in /system.slice/slurmstepd.scope/job_{}",
    "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.{}  Tue Feb 20 23:01:22 UTC 2024",
};

std::string make_log(std::size_t bytes) {
  std::string log;
  log.reserve(bytes + 256);
  for (std::size_t i = 0; log.size() < bytes; ++i) {
    log += fmt::format("6,{},{},-;", i, i * 1000);
    if (i % 1000 == 999) {
      log +=
          "NVRM: Xid (PCI:0000:3b:00): 31, pid=77, name=python3, Ch 00000007, intr 00000000. MMU "
          "Fault: ENGINE GRAPHICS GPCCLIENT_T1_6 faulted @ 0x7f5a_e7504000.\n";
    } else {
      log += fmt::format(fmt::runtime(kOrdinary[i % std::size(kOrdinary)]), i) + "\n";
    }
  }
  return log;
}

}  // namespace

double classify_mb_per_s(std::size_t megabytes) {
  const auto log = make_log(megabytes * 1'000'000);
  const auto& catalog = Catalog::builtin();
  const auto start = std::clock();
  std::size_t lines = 0;
  std::size_t xids = 0;
  for (std::size_t at = 0; at < log.size(); ++lines) {
    const auto end = log.find('\n', at);
    const auto found = classify_line(std::string_view(log).substr(at, end - at), catalog);
    xids += found.xid.has_value();
    at = end + 1;
  }
  const double took = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  return xids == lines / 1000 ? static_cast<double>(log.size()) / 1e6 / took : 0;
}

}  // namespace acrf::perf
