// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm_call.h"

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include <atomic>
#include <cerrno>
#include <thread>

namespace acrf {
namespace {

using Clock = std::chrono::steady_clock;

// slurmctld's own refusals have numbers of their own; all else (the network, authentication, a
// controller that stands by) is no answer and worth another try.
ErrorCode code_of(int slurm_errno) {
  constexpr int kFirstRefusal = 2000;
  constexpr int kLastRefusal = 2999;
  switch (slurm_errno) {
    case ESLURM_INVALID_NODE_NAME:
    case ESLURM_RESERVATION_INVALID:
    case ESLURM_INVALID_JOB_ID: return ErrorCode::kNotFound;
    case ESLURM_USER_ID_MISSING:
    case ESLURM_ACCESS_DENIED: return ErrorCode::kDenied;
    case ESLURM_IN_STANDBY_MODE:
    case ESLURM_TRANSITION_STATE_NO_UPDATE: return ErrorCode::kUnavailable;
    default:
      return slurm_errno >= kFirstRefusal && slurm_errno <= kLastRefusal ? ErrorCode::kInvalid
                                                                         : ErrorCode::kUnavailable;
  }
}

// When another controller may have begun to answer, in Clock's own ticks; 0: never.
std::atomic<Clock::rep> last_trouble{0};

void note_trouble() { last_trouble = Clock::now().time_since_epoch().count(); }

}  // namespace

bool controller_may_be_another() {
  constexpr std::chrono::seconds kLooksAgainWithin{10};
  const Clock::time_point then{Clock::duration{last_trouble.load()}};
  return last_trouble != 0 && Clock::now() - then < kLooksAgainWithin;
}

int ask_controller(const std::function<int()>& call, std::chrono::milliseconds pause) {
  constexpr int kTries = 20;
  const auto asked = Clock::now();
  for (int tries = 1;; ++tries) {
    errno = 0;
    const int code = call();
    const bool stands_by = code != SLURM_SUCCESS &&
                           (code == ESLURM_IN_STANDBY_MODE || errno == ESLURM_IN_STANDBY_MODE);
    if (stands_by || Clock::now() - asked > kSuspiciouslySlow) note_trouble();
    if (!stands_by || tries == kTries) return code;
    std::this_thread::sleep_for(pause);
  }
}

Result<std::int64_t> controller_start() {
  slurm_conf_t* conf = nullptr;
  if (ask_controller([&] { return slurm_load_ctl_conf(0, &conf); }) != SLURM_SUCCESS)
    return slurm_error("ask slurmctld for its start time", errno);
  const std::int64_t started = conf->boot_time;
  slurm_free_ctl_conf(conf);
  return started;
}

Error slurm_error(const std::string& doing, int slurm_errno) {
  return {code_of(slurm_errno), doing + ": " + slurm_strerror(slurm_errno)};
}

}  // namespace acrf
