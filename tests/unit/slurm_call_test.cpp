// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm_call.h"

#include <gtest/gtest.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include <algorithm>
#include <cerrno>
#include <vector>

namespace acrf {
namespace {

using std::chrono::milliseconds;

// Gives the answers one after the other, the last one for ever; counts how often it was asked.
struct Controller {
  std::vector<int> answers;
  std::size_t asked = 0;
  int answer() {
    const int code = answers[std::min(asked++, answers.size() - 1)];
    errno = code;
    return code == SLURM_SUCCESS ? SLURM_SUCCESS : SLURM_ERROR;
  }
};

int ask(Controller& controller) {
  return ask_controller([&] { return controller.answer(); }, milliseconds(0));
}

TEST(SlurmCall, AControllerThatStandsByIsAskedUntilItHasTakenOver) {
  Controller backup{{ESLURM_IN_STANDBY_MODE, ESLURM_IN_STANDBY_MODE, SLURM_SUCCESS}};
  EXPECT_EQ(ask(backup), SLURM_SUCCESS);
  EXPECT_EQ(backup.asked, 3u);
}

TEST(SlurmCall, ARefusalIsAnAnswer) {
  Controller controller{{ESLURM_ACCESS_DENIED, SLURM_SUCCESS}};
  EXPECT_EQ(ask(controller), SLURM_ERROR);
  EXPECT_EQ(controller.asked, 1u);
  EXPECT_EQ(slurm_error("drain", ESLURM_ACCESS_DENIED).code, ErrorCode::kDenied);
}

TEST(SlurmCall, OneThatStandsByForEverIsNoAnswer) {
  Controller backup{{ESLURM_IN_STANDBY_MODE}};
  EXPECT_EQ(ask(backup), SLURM_ERROR);
  EXPECT_EQ(slurm_error("drain", errno).code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace acrf
