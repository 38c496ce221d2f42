// SPDX-License-Identifier: GPL-2.0-or-later
// Finds out from slurmctld which nodes this one watches, and where they are. Called by the
// responder's thread alone: its calls block.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "common/slurm_client.h"
#include "core/config.h"
#include "peers/peer_link.h"

namespace acrf {

class Neighbourhood {
 public:
  using Clock = std::chrono::steady_clock;

  struct Found {
    PeerPlace self;
    std::vector<PeerPlace> peers;
    std::string munge_socket;
  };

  Neighbourhood(const Config& config, SlurmClient& slurm, std::string node,
                std::function<void(const Found&)> tell)
      : config_(config), slurm_(slurm), node_(std::move(node)), tell_(std::move(tell)) {}

  // Asks when it is due; says when to call again.
  Clock::time_point step(Clock::time_point now);

 private:
  Result<Found> ask();
  Result<NodePlace> place_of(const std::string& name);

  const Config& config_;
  SlurmClient& slurm_;
  std::string node_;
  std::function<void(const Found&)> tell_;
  std::minstd_rand random_{std::random_device{}()};
  Clock::time_point due_{};
  std::map<std::string, NodePlace> places_;  // of this hour
  std::string last_problem_;
};

}  // namespace acrf
