// SPDX-License-Identifier: GPL-2.0-or-later
// The JSON that the feed and the API have in common.
#pragma once

#include <nlohmann/json.hpp>

#include "hub/model.h"

namespace acrf::hub {

struct NodeChange {
  int number = 0;
  std::string name;
  PartState state = PartState::kUnknown;
  std::string gpus;
};

// The event `fleet`.
std::string changes_to_json(std::uint64_t seq, const std::vector<NodeChange>& changes);

nlohmann::ordered_json to_json(const JobLook& job);
nlohmann::ordered_json to_json(const Stats& stats);
nlohmann::ordered_json to_json(const BrakeState& brake);

}  // namespace acrf::hub
