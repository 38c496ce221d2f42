// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/peer_watch.h"

#include <algorithm>

#include "core/text.h"

namespace acrf {
namespace {

constexpr std::size_t kEachSide = 2;
constexpr std::size_t kMostAsked = 16;  // on each side

void order_as_ring(std::vector<std::string>& names) {
  std::vector<std::pair<std::string, std::string>> ring;
  for (auto& name : names) {
    auto place = fingerprint(name);
    ring.emplace_back(std::move(place), std::move(name));
  }
  std::sort(ring.begin(), ring.end());
  ring.erase(std::unique(ring.begin(), ring.end()), ring.end());
  names.clear();
  for (auto& [place, name] : ring) names.push_back(std::move(name));
}

}  // namespace

void Silence::note(bool answers, std::int64_t at_ms) {
  if (answers) looks_ = 0;
  if (answers) return;
  if (looks_++ == 0) since_ms_ = at_ms;
  last_ms_ = at_ms;
}

PeerVerdict PeerRecord::note(const PeerSigns& signs) {
  if (signs.healthd_answers) {
    heard_ms_ = signs.at_ms;
    slurmd_ = {};
    slurmd_answered_ = false;
    return PeerVerdict::kAlive;
  }
  if (!heard_ms_) return PeerVerdict::kUnheard;
  if (silent_ms(signs.at_ms) < times_.fresh_ms) return PeerVerdict::kAlive;
  const auto patience_ms = signs.said_farewell ? times_.farewell_ms : times_.silence_ms;
  if (silent_ms(signs.at_ms) < patience_ms) return PeerVerdict::kUnknown;
  if (signs.slurmd_answers) {
    slurmd_answered_ = *signs.slurmd_answers;
    slurmd_.note(*signs.slurmd_answers, signs.at_ms);
  }
  return slurmd_.holds(times_.confirm_ms, times_.looks) ? PeerVerdict::kDead
                                                        : PeerVerdict::kSuspect;
}

std::vector<PeerVerdict> judge_peers(std::vector<PeerVerdict> verdicts) {
  const auto count = [&](PeerVerdict wanted) {
    return std::count(verdicts.begin(), verdicts.end(), wanted);
  };
  const auto heard = static_cast<std::ptrdiff_t>(verdicts.size()) - count(PeerVerdict::kUnheard);
  const auto silent = heard - count(PeerVerdict::kAlive);
  if (2 * silent <= heard) return verdicts;
  for (auto& verdict : verdicts)
    if (verdict == PeerVerdict::kSuspect || verdict == PeerVerdict::kDead)
      verdict = PeerVerdict::kUnknown;
  return verdicts;
}

std::vector<Neighbour> neighbours_of(std::vector<std::string> names, const std::string& self,
                                     const std::function<bool(const std::string&)>& takes_part) {
  order_as_ring(names);
  const auto at = std::find(names.begin(), names.end(), self);
  if (at == names.end()) return {};
  const auto place = static_cast<std::size_t>(at - names.begin());
  const auto is_known = [](const std::vector<Neighbour>& list, const std::string& name) {
    return std::any_of(list.begin(), list.end(),
                       [&](const Neighbour& other) { return other.name == name; });
  };
  std::vector<Neighbour> sides[2];  // after it, before it
  for (std::size_t i = 1; i < names.size() && i <= kMostAsked; ++i)
    for (int side = 0; side < 2; ++side) {
      const auto& name = names[(side == 0 ? place + i : place + names.size() - i) % names.size()];
      if (sides[side].size() == kEachSide || is_known(sides[1 - side], name)) continue;
      if (!takes_part(name)) continue;
      // Of the two watchers at one distance, who comes before the node goes first.
      sides[side].push_back({name, static_cast<int>(2 * sides[side].size()) + side});
    }
  std::vector<Neighbour> neighbours = std::move(sides[0]);
  neighbours.insert(neighbours.end(), sides[1].begin(), sides[1].end());
  return neighbours;
}

}  // namespace acrf
