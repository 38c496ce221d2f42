// SPDX-License-Identifier: GPL-2.0-or-later
// The cluster as an acrf-hub knows it.
#pragma once

#include "cluster_source.h"
#include "hub_client.h"

namespace acrf {

class HubSource : public ClusterSource {
 public:
  explicit HubSource(HubClient hub) : hub_(std::move(hub)) {}

  Result<StatusFacts> status() override;
  Result<std::vector<NodeShown>> nodes() override;
  Result<NodeDetails> node(const std::string& name) override;
  Result<std::vector<GpuView>> gpus() override;
  Result<GpuView> gpu(const std::string& uuid) override;
  Result<std::vector<JobShown>> jobs() override;

 private:
  Result<nlohmann::json> get(const std::string& path) const;

  HubClient hub_;
};

// A GPU as a hub shows it, and acrf-healthd in its verdict.
GpuView gpu_from_json(const nlohmann::json& object, const std::string& node);

}  // namespace acrf
