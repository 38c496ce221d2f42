// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/peer_watch.h"

#include <algorithm>

namespace acrf {
namespace {

// Jobs that complete on a dead node never will; slurmctld gives up on them in its own time.
constexpr std::int64_t kCompletingSeconds = 60;

}  // namespace

PeerVerdict PeerRecord::note(const PeerSigns& signs) {
  if (signs.healthd_answers) {
    heard_ms_ = signs.at_ms;
    slurmd_silent_ms_ = -1;
    looks_ = 0;
    return PeerVerdict::kAlive;
  }
  if (silent_ms(signs.at_ms) < times_.silence_ms) return PeerVerdict::kUnknown;
  if (!signs.slurmd_answers) return PeerVerdict::kSuspect;
  if (*signs.slurmd_answers) {
    slurmd_silent_ms_ = -1;
    looks_ = 0;
    return PeerVerdict::kSuspect;
  }
  if (slurmd_silent_ms_ < 0) slurmd_silent_ms_ = signs.at_ms;
  ++looks_;
  const bool confirmed =
      looks_ >= times_.looks && signs.at_ms - slurmd_silent_ms_ >= times_.confirm_ms;
  return confirmed ? PeerVerdict::kDead : PeerVerdict::kSuspect;
}

std::vector<PeerVerdict> judge_peers(std::vector<PeerVerdict> verdicts) {
  const bool hears_nobody = verdicts.size() > 1 &&
                            std::none_of(verdicts.begin(), verdicts.end(), [](PeerVerdict verdict) {
                              return verdict == PeerVerdict::kAlive;
                            });
  if (hears_nobody) std::fill(verdicts.begin(), verdicts.end(), PeerVerdict::kUnknown);
  return verdicts;
}

std::vector<std::string> peers_of(const std::vector<std::string>& table, const std::string& self,
                                  int count) {
  std::vector<std::string> peers;
  const auto at = std::find(table.begin(), table.end(), self);
  if (at == table.end()) return peers;
  const auto first = static_cast<std::size_t>(at - table.begin());
  for (std::size_t i = 1; i < table.size() && peers.size() < static_cast<std::size_t>(count); ++i)
    peers.push_back(table[(first + i) % table.size()]);
  return peers;
}

DeadNodeStep plan_dead_node(const DeadNodeView& node) {
  if (!node.in_service) return DeadNodeStep::kNothing;
  if (!node.draining) return DeadNodeStep::kDrain;
  if (node.down) return DeadNodeStep::kNothing;
  if (node.completing_jobs > 0 && node.drained_for_s < kCompletingSeconds)
    return DeadNodeStep::kWait;
  return DeadNodeStep::kDown;
}

}  // namespace acrf
