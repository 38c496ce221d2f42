// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm_call.h"

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

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

Error slurm_error(const std::string& doing, int slurm_errno) {
  return {code_of(slurm_errno), doing + ": " + slurm_strerror(slurm_errno)};
}

}  // namespace acrf
