// SPDX-License-Identifier: GPL-2.0-or-later
// What DCGM counts itself, where NVML has no such sum or a site has DCGM alone: errors of all
// NVLinks, those of NVLink 5 among them, and how Fabric Manager stands.
#pragma once

#include <vector>

#include "core/gpu_sample.h"
#include "sources/dcgm_library.h"

namespace acrf {

class DcgmFields {
 public:
  explicit DcgmFields(const DcgmLibrary& dcgm) : dcgm_(dcgm) {}

  // Finds out, on one GPU, which of the fields the engine behind `handle` knows: one that it does
  // not know would fail a request for all.
  void learn(acrf_dcgm_handle_t handle, unsigned gpu);

  // Adds to the sample what the engine tells of its GPU. What is blank stays unknown.
  void read(acrf_dcgm_handle_t handle, GpuSample& sample) const;

 private:
  using Values = std::vector<acrf_dcgm_field_value>;

  // Empty when the engine refuses.
  Values ask(acrf_dcgm_handle_t handle, unsigned gpu, std::vector<unsigned short> fields) const;

  const DcgmLibrary& dcgm_;
  std::vector<unsigned short> known_;
};

}  // namespace acrf
