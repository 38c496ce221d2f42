// SPDX-License-Identifier: GPL-2.0-or-later
// What the samples say: which GPUs the node has, and which of them the driver has lost.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/result.h"
#include "core/xid.h"

namespace acrf {

struct GpuSample {
  PciAddress address;
  std::string uuid;
  bool lost = false;
};

// One answer line of the NVML probe. GPUs whose identity is unknown are left out.
Result<std::vector<GpuSample>> parse_samples(const std::string& answer);

class GpuInventory {
 public:
  // Takes a sample in; gives the GPUs that two samples in a row call lost, each once.
  std::vector<GpuSample> update(const std::vector<GpuSample>& samples);

  // Empty while unknown.
  std::string uuid_at(const PciAddress& address) const;
  std::size_t size() const { return gpus_.size(); }

 private:
  struct Known {
    std::string uuid;
    int lost_in_a_row = 0;
  };
  std::map<PciAddress, Known> gpus_;
};

}  // namespace acrf
