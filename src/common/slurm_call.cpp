// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm_call.h"

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include <cerrno>
#include <thread>

namespace acrf {
namespace {

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

}  // namespace

int ask_controller(const std::function<int()>& call, std::chrono::milliseconds pause) {
  constexpr int kTries = 20;
  for (int tries = 1;; ++tries) {
    errno = 0;
    const int code = call();
    const bool stands_by = code != SLURM_SUCCESS &&
                           (code == ESLURM_IN_STANDBY_MODE || errno == ESLURM_IN_STANDBY_MODE);
    if (!stands_by || tries == kTries) return code;
    std::this_thread::sleep_for(pause);
  }
}

Error slurm_error(const std::string& doing, int slurm_errno) {
  return {code_of(slurm_errno), doing + ": " + slurm_strerror(slurm_errno)};
}

}  // namespace acrf
