// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/braked_act.h"

#include <chrono>
#include <optional>

namespace acrf {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{30};

class Attempt {
 public:
  Attempt(SlurmClient& slurm, const Config& config, const BrakedAct& wanted)
      : slurm_(slurm), config_(config), wanted_(wanted), gives_up_(Clock::now() + kPatience) {}

  Result<BrakeDecision> run() {
    while (true) {
      const auto fleet = slurm_.fleet(wanted_.slurm_directory);
      if (!fleet) return fleet.error();
      const auto decision = ask_brakes(config_, *fleet, wanted_.wish);
      switch (decision.permission) {
        case Permission::kAct:
          if (is_claimed(*fleet)) return act(decision, fleet->now_unix_s);
          if (const auto done = claim(fleet->now_unix_s); !done) return done.error();
          continue;  // looks again at once: the claim counts from now on
        case Permission::kHeld:
          if (const auto done = hold(fleet->now_unix_s); !done) return done.error();
          return decision;
        case Permission::kWait:
          if (is_claimed(*fleet)) break;
          [[fallthrough]];
        case Permission::kYield:
          if (const auto done = withdraw(); !done) return done.error();
          break;
      }
      if (Clock::now() < gives_up_ && wanted_.pause(static_cast<int>(kClaimPause_ms))) continue;
      if (const auto done = withdraw(); !done) return done.error();
      return decision;
    }
  }

 private:
  // A claim of an earlier life of this program is none: nobody knows how old it is. One that
  // somebody else has written over counts for nobody.
  bool is_claimed(const Fleet& fleet) const {
    const auto* node = fleet.find(wanted_.wish.node);
    return claimed_ && Clock::now() - *claimed_ < std::chrono::seconds(kClaimUse_s) && node &&
           is_claimed_by(node->token, wanted_.wish.speaker);
  }

  Status claim(std::int64_t now_unix_s) {
    claimed_ = Clock::now();
    return slurm_.change_token(wanted_.wish.node, [&](NodeToken& token) {
      set_claim(token, wanted_.wish.fault_class, now_unix_s, wanted_.wish.speaker);
    });
  }

  Status withdraw() {
    claimed_.reset();
    return slurm_.change_token(
        wanted_.wish.node, [&](NodeToken& token) { withdraw_claim(token, wanted_.wish.speaker); });
  }

  Status hold(std::int64_t now_unix_s) {
    return slurm_.change_token(wanted_.wish.node, [&](NodeToken& token) {
      set_braked(token, wanted_.wish.fault_class, now_unix_s, wanted_.wish.speaker);
    });
  }

  Result<BrakeDecision> act(const BrakeDecision& decision, std::int64_t now_unix_s) {
    const auto done = wanted_.act(
        [&](NodeToken& token) { set_acted(token, wanted_.wish.fault_class, now_unix_s); });
    if (!done) return done.error();
    return decision;
  }

  SlurmClient& slurm_;
  const Config& config_;
  const BrakedAct& wanted_;
  Clock::time_point gives_up_;
  std::optional<Clock::time_point> claimed_;  // when it was about to be written
};

}  // namespace

Result<BrakeDecision> act_within_brakes(SlurmClient& slurm, const Config& config,
                                        const BrakedAct& wanted) {
  return Attempt(slurm, config, wanted).run();
}

}  // namespace acrf
