// SPDX-License-Identifier: GPL-2.0-or-later
#include "actions/neighbourhood.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "common/munge.h"
#include "core/peer_watch.h"

namespace acrf {
namespace {

using std::chrono::seconds;

constexpr seconds kRetry{10};
// Not all nodes of a cluster at the same time.
constexpr int kAgainAfter_s = 3600;
constexpr int kSpread_s = 600;

}  // namespace

Neighbourhood::Clock::time_point Neighbourhood::step(Clock::time_point now) {
  if (now < due_) return due_;
  auto found = ask();
  if (!found) {
    if (found.error().sentence != last_problem_)
      spdlog::warn("neighbours of this node: {}; trying again", found.error().sentence);
    last_problem_ = found.error().sentence;
    return due_ = now + kRetry;
  }
  last_problem_.clear();
  places_.clear();
  tell_(*found);
  return due_ = now + seconds(kAgainAfter_s + static_cast<int>(random_() % kSpread_s));
}

Result<NodePlace> Neighbourhood::place_of(const std::string& name) {
  const auto known = places_.find(name);
  if (known != places_.end()) return known->second;
  auto place = slurm_.place_of_node(name);
  if (place) places_.emplace(name, *place);
  return place;
}

Result<Neighbourhood::Found> Neighbourhood::ask() {
  const auto self = place_of(node_);
  if (!self) return self.error();
  const int offset = config_.peer_port_offset;
  const auto at = [&](const std::string& name, const NodePlace& place, int rank) {
    return PeerPlace{name, place.address, place.slurmd_port + offset, place.slurmd_port, rank};
  };
  Found found;
  found.self = at(node_, *self, 0);
  if (offset == 0) return found;
  auto names = slurm_.node_names();
  if (!names) return names.error();
  const auto info = slurm_.auth_info();
  if (!info) return info.error();
  found.munge_socket = munge_socket_in(*info);
  std::optional<Error> problem;
  const auto neighbours = neighbours_of(std::move(*names), node_, [&](const std::string& name) {
    const auto place = problem ? Result<NodePlace>(*problem) : place_of(name);
    if (!place && place.error().code == ErrorCode::kUnavailable) problem = place.error();
    return place && place->has_gpus;
  });
  if (problem) return *problem;
  for (const auto& neighbour : neighbours)
    found.peers.push_back(at(neighbour.name, places_.at(neighbour.name), neighbour.rank));
  return found;
}

}  // namespace acrf
