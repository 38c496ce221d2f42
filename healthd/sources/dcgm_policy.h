// SPDX-License-Identifier: GPL-2.0-or-later
// Violations of DCGM's policies, as they come. A policy that the site has set on a GPU stays as it
// is and its violations are told; where there is none, one that only notifies is set. Xids are left
// to the kernel log, which has their order and text.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "core/gpu_sample.h"
#include "sources/dcgm_library.h"

namespace acrf {

class DcgmPolicyWatch {
 public:
  explicit DcgmPolicyWatch(const DcgmLibrary& dcgm) : dcgm_(dcgm) {}

  // Registers with the engine behind `handle` for each GPU. What an older DCGM or a GPU does not
  // support is not watched. An engine that was registered with before has been left.
  void start(acrf_dcgm_handle_t handle, const std::vector<GpuSample>& gpus);

  // Adds what came since the last call to its GPUs' incidents.
  void take(std::vector<GpuSample>& gpus);

 private:
  struct Violation {
    std::uint64_t gpu;
    HealthIncident incident;
  };
  // A group of one GPU says which GPU it is: DCGM 3 does not name it in a violation.
  struct Registration {
    DcgmPolicyWatch* watch;
    std::uint64_t gpu;
  };

  unsigned conditions_of(acrf_dcgm_handle_t handle, acrf_dcgm_group_t group) const;
  void watch(acrf_dcgm_handle_t handle, const GpuSample& gpu);
  static int receive(acrf_dcgm_violation* violation, std::uint64_t registration);  // DCGM's thread

  const DcgmLibrary& dcgm_;
  std::vector<std::unique_ptr<Registration>> registrations_;  // kept: DCGM has their addresses
  std::mutex mutex_;
  std::vector<Violation> violations_;
};

}  // namespace acrf
