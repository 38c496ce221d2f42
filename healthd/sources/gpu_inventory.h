// SPDX-License-Identifier: GPL-2.0-or-later
// Which GPUs the node has, as the samples say.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/gpu_sample.h"

namespace acrf {

class GpuInventory {
 public:
  void update(const std::vector<GpuSample>& samples) {
    for (const auto& sample : samples)
      if (!sample.uuid.empty()) uuids_[sample.address] = sample.uuid;
  }

  // Empty while unknown.
  std::string uuid_at(const PciAddress& address) const {
    const auto found = uuids_.find(address);
    return found == uuids_.end() ? "" : found->second;
  }
  std::size_t size() const { return uuids_.size(); }

 private:
  std::map<PciAddress, std::string> uuids_;
};

}  // namespace acrf
