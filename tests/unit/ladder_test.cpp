// SPDX-License-Identifier: GPL-2.0-or-later
// The ladder as a list of transitions. What holds on every path is in ladder_paths_test.cpp.
#include "core/ladder.h"

#include <gmock/gmock.h>

namespace acrf {
namespace {

constexpr std::int64_t kNow = 1'800'000'000;
constexpr std::int64_t kDay = 86400;

Case sick_gpu(CaseState state, Action asked = Action::kResetGpu) {
  Case sick;
  sick.id = "n1-1";
  sick.node = "n1";
  sick.gpu_uuid = "GPU-a";
  sick.asked = asked;
  sick.state = state;
  sick.since_s = sick.contained_s = kNow - 10;
  sick.boot_id = "boot-1";
  sick.faults_s = {kNow - 10};
  return sick;
}

// Kept from jobs by us, empty, all GPUs there, fault gone.
PartView calm() {
  PartView view;
  view.now_s = kNow;
  view.boot_id = "boot-1";
  view.hold = Hold::kOurs;
  view.busy = false;
  view.fault = Sign::kGone;
  view.complete = true;
  view.gpu_in_place = "GPU-a";
  return view;
}

LadderStep step_of(const Case& sick, const PartView& view, std::vector<Case> past = {}) {
  return next_step(sick, view, past, {});
}

CaseState after(const Case& sick, const PartView& view, std::vector<Case> past = {}) {
  return step_of(sick, view, std::move(past)).state;
}

TEST(Ladder, WaitsForTheLastJob) {
  auto view = calm();
  view.busy = true;
  EXPECT_EQ(after(sick_gpu(CaseState::kDraining), view), CaseState::kDraining);
  EXPECT_EQ(after(sick_gpu(CaseState::kQuarantined), view), CaseState::kQuarantined);
  view.busy = false;
  EXPECT_EQ(after(sick_gpu(CaseState::kDraining), view), CaseState::kDrained);
  EXPECT_EQ(after(sick_gpu(CaseState::kQuarantined), view), CaseState::kDrained);
}

TEST(Ladder, JobsThatNeverEndAreForPeople) {
  auto view = calm();
  view.busy = true;
  view.now_s = kNow + 8 * kDay;
  EXPECT_EQ(after(sick_gpu(CaseState::kDraining), view), CaseState::kAttended);
}

TEST(Ladder, TheFaultSaysWhatIsTriedFirst) {
  EXPECT_EQ(after(sick_gpu(CaseState::kDrained, Action::kResetGpu), calm()), CaseState::kResetting);
  EXPECT_EQ(after(sick_gpu(CaseState::kDrained, Action::kRebootNode), calm()),
            CaseState::kRebooting);
  EXPECT_EQ(after(sick_gpu(CaseState::kDrained, Action::kRma), calm()), CaseState::kRma);
  EXPECT_EQ(after(sick_gpu(CaseState::kDrained, Action::kDrain), calm()), CaseState::kTesting);
}

TEST(Ladder, ANodeHasNothingToReset) {
  auto sick = sick_gpu(CaseState::kDrained, Action::kResetGpu);
  sick.gpu_uuid.clear();
  EXPECT_EQ(after(sick, calm()), CaseState::kRebooting);
}

TEST(Ladder, WhatDidNotCureIsFollowedByMore) {
  auto sick = sick_gpu(CaseState::kDrained, Action::kDrain);
  sick.tried = {{Remedy::kNone, kNow - 50}};
  EXPECT_EQ(after(sick, calm()), CaseState::kResetting);
  sick.tried.push_back({Remedy::kReset, kNow - 40});
  EXPECT_EQ(after(sick, calm()), CaseState::kRebooting);
  sick.tried.push_back({Remedy::kReboot, kNow - 30});
  EXPECT_EQ(after(sick, calm()), CaseState::kRma);
}

TEST(Ladder, WhatWasTriedInThirtyDaysOnThisGpuCounts) {
  auto past = sick_gpu(CaseState::kHealthy);
  past.tried = {{Remedy::kReset, kNow - 29 * kDay}};
  EXPECT_EQ(after(sick_gpu(CaseState::kDrained), calm(), {past}), CaseState::kRebooting);
  past.tried = {{Remedy::kReset, kNow - 31 * kDay}};
  EXPECT_EQ(after(sick_gpu(CaseState::kDrained), calm(), {past}), CaseState::kResetting);
  past.tried = {{Remedy::kReset, kNow - kDay}};
  past.gpu_uuid = "GPU-b";
  EXPECT_EQ(after(sick_gpu(CaseState::kDrained), calm(), {past}), CaseState::kResetting);
}

TEST(Ladder, FiveRemediesOfANodeInAWeekAreForPeople) {
  auto past = sick_gpu(CaseState::kHealthy);
  past.gpu_uuid = "GPU-b";
  for (int i = 0; i < 4; ++i) past.tried.push_back({Remedy::kReset, kNow - 100});
  EXPECT_EQ(after(sick_gpu(CaseState::kDrained), calm(), {past}), CaseState::kResetting);
  past.tried.push_back({Remedy::kReset, kNow - 100});
  EXPECT_EQ(after(sick_gpu(CaseState::kDrained), calm(), {past}), CaseState::kAttended);
  for (auto& each : past.tried) each.unix_s = kNow - 8 * kDay;
  EXPECT_EQ(after(sick_gpu(CaseState::kDrained), calm(), {past}), CaseState::kResetting);
}

TEST(Ladder, FiveFaultsOfAPartInADayAreForPeople) {
  auto sick = sick_gpu(CaseState::kDrained);
  sick.faults_s = {kNow, kNow, kNow, kNow, kNow};
  EXPECT_EQ(after(sick, calm()), CaseState::kAttended);
}

TEST(Ladder, AResetIsRunOnceAndNeverUnderAJob) {
  auto sick = sick_gpu(CaseState::kResetting);
  EXPECT_EQ(step_of(sick, calm()).act, Act::kRunReset);
  auto view = calm();
  view.busy = true;
  EXPECT_EQ(after(sick, view), CaseState::kDraining);
  sick.program_started = true;
  view = calm();
  view.program = ProgramState::kRunning;
  EXPECT_EQ(step_of(sick, view).act, Act::kNone);
  view.program = ProgramState::kPassed;
  EXPECT_EQ(after(sick, view), CaseState::kTesting);
  view.program = ProgramState::kFailed;
  EXPECT_EQ(after(sick, view), CaseState::kDrained);
  view.program = ProgramState::kNone;  // the daemon that ran it was killed
  EXPECT_EQ(after(sick, view), CaseState::kTesting);
}

TEST(Ladder, AQuarantinedGpusNodeIsEmptiedBeforeAReboot) {
  auto sick = sick_gpu(CaseState::kDrained);
  sick.whole_node = false;
  sick.tried = {{Remedy::kReset, kNow - 5}};
  const auto step = step_of(sick, calm());
  EXPECT_EQ(step.state, CaseState::kDraining);
  take_step(sick, step, calm());
  EXPECT_TRUE(sick.whole_node);
  auto view = calm();
  view.hold = Hold::kNone;  // the node is in service still
  EXPECT_EQ(step_of(sick, view).act, Act::kContain);
  EXPECT_EQ(step_of(sick, view).state, CaseState::kDraining);
}

TEST(Ladder, ANodeIsNotEmptiedForARebootThatNobodyCanMake) {
  auto sick = sick_gpu(CaseState::kDrained, Action::kRebootNode);
  sick.whole_node = false;
  LadderLimits limits;
  limits.can_reboot = false;
  EXPECT_EQ(next_step(sick, calm(), {}, limits).state, CaseState::kAttended);
}

TEST(Ladder, AReboot) {
  auto sick = sick_gpu(CaseState::kRebooting, Action::kRebootNode);
  EXPECT_EQ(step_of(sick, calm()).act, Act::kRunReboot);
  sick.program_started = true;
  EXPECT_EQ(after(sick, calm()), CaseState::kRebooting);
  auto view = calm();
  view.boot_id = "boot-2";
  EXPECT_EQ(after(sick, view), CaseState::kTesting);
  view = calm();
  view.now_s += 3600;
  EXPECT_EQ(after(sick, view), CaseState::kAttended);
  view = calm();
  view.program = ProgramState::kMissing;
  EXPECT_EQ(after(sick, view), CaseState::kAttended);
}

TEST(Ladder, ARebootOfWhichNothingCameWithItsDaemonIsAskedForOnceMore) {
  auto sick = sick_gpu(CaseState::kRebooting, Action::kRebootNode);
  take_step(sick, step_of(sick, calm()), calm());
  auto view = calm();  // of the next daemon: it knows of no program
  EXPECT_EQ(step_of(sick, view).act, Act::kNone);
  view.now_s += 600;
  view.program = ProgramState::kPassed;
  EXPECT_EQ(step_of(sick, view).act, Act::kNone) << "this daemon has asked itself";
  view.program = ProgramState::kNone;
  view.busy = true;
  EXPECT_EQ(step_of(sick, view).act, Act::kNone);
  view.busy = false;
  ASSERT_EQ(step_of(sick, view).act, Act::kRunReboot);
  take_step(sick, step_of(sick, view), view);
  view.now_s += 600;
  EXPECT_EQ(step_of(sick, view).act, Act::kNone);
  view.now_s += 3600;
  EXPECT_EQ(after(sick, view), CaseState::kAttended);
}

TEST(Ladder, ARebootByPeopleCounts) {
  auto sick = sick_gpu(CaseState::kDraining, Action::kRebootNode);
  auto view = calm();
  view.boot_id = "boot-2";
  take_step(sick, step_of(sick, view), view);
  ASSERT_EQ(sick.state, CaseState::kDrained);
  take_step(sick, step_of(sick, view), view);
  EXPECT_EQ(sick.state, CaseState::kTesting);
  ASSERT_EQ(sick.tried.size(), 1u);
  EXPECT_EQ(sick.tried[0].remedy, Remedy::kReboot);
}

TEST(Ladder, NothingReturnsWithoutProof) {
  auto sick = sick_gpu(CaseState::kTesting);
  EXPECT_EQ(step_of(sick, calm()).act, Act::kRunTest);
  auto view = calm();
  view.program = ProgramState::kPassed;
  EXPECT_EQ(step_of(sick, view).act, Act::kReturn);
  EXPECT_EQ(step_of(sick, view).state, CaseState::kProbation);
  for (const auto program : {ProgramState::kFailed, ProgramState::kLate}) {
    view.program = program;
    EXPECT_EQ(after(sick, view), CaseState::kDrained);
  }
  view.program = ProgramState::kMissing;
  EXPECT_EQ(after(sick, view), CaseState::kAttended);
  view.program = ProgramState::kPassed;
  view.fault = Sign::kUnknown;
  EXPECT_EQ(step_of(sick, view).act, Act::kNone);
  view.fault = Sign::kPresent;
  EXPECT_EQ(after(sick, view), CaseState::kDrained);
  view.fault = Sign::kGone;
  view.complete = false;
  EXPECT_EQ(step_of(sick, view).act, Act::kNone);
}

TEST(Ladder, ProbationEndsByTimeAlone) {
  const auto sick = sick_gpu(CaseState::kProbation);
  auto view = calm();
  view.hold = Hold::kNone;
  EXPECT_EQ(after(sick, view), CaseState::kProbation);
  view.now_s += 2 * kDay;
  EXPECT_EQ(step_of(sick, view).act, Act::kEndProbation);
  EXPECT_EQ(after(sick, view), CaseState::kHealthy);
}

TEST(Ladder, AReturnThatDidNotArriveIsMadeAgainUnlessTheNodeWasRebooted) {
  auto sick = sick_gpu(CaseState::kProbation);
  auto view = calm();
  view.boot_id = "boot-2";
  EXPECT_EQ(after(sick, view), CaseState::kTesting);
  view = calm();
  view.now_s += 2 * kDay;
  ASSERT_EQ(step_of(sick, view).act, Act::kReturn);
  take_step(sick, step_of(sick, view), view);
  view.hold = Hold::kNone;
  EXPECT_EQ(after(sick, view), CaseState::kProbation) << "which begins anew";
}

TEST(Ladder, AFaultOnProbationGoesUpAStep) {
  auto sick = sick_gpu(CaseState::kProbation);
  sick.tried = {{Remedy::kReset, kNow - 100}};
  const Verdict verdict{"ecc", Severity::kCritical, Scope::kGpu, Action::kResetGpu};
  ASSERT_TRUE(relapse(sick, "n1-2", verdict, true, kNow, "boot-1"));
  EXPECT_EQ(sick.state, CaseState::kDraining);
  EXPECT_EQ(sick.id, "n1-2");
  take_step(sick, step_of(sick, calm()), calm());
  EXPECT_EQ(after(sick, calm()), CaseState::kRebooting);
}

TEST(Ladder, AnAdminsWordEndsTheCase) {
  for (const auto state :
       {CaseState::kQuarantined, CaseState::kDraining, CaseState::kDrained, CaseState::kResetting,
        CaseState::kRebooting, CaseState::kTesting, CaseState::kRma, CaseState::kAttended}) {
    auto view = calm();
    view.hold = Hold::kNone;
    EXPECT_EQ(after(sick_gpu(state), view), CaseState::kTakenOver) << name_of(state);
    view.may_be_lost = true;
    EXPECT_EQ(step_of(sick_gpu(state), view).act, Act::kContain) << name_of(state);
    view.hold = Hold::kOthers;
    EXPECT_EQ(after(sick_gpu(state), view), CaseState::kTakenOver) << name_of(state);
    view.hold = Hold::kUnknown;
    EXPECT_EQ(after(sick_gpu(state), view), state) << name_of(state);
  }
}

TEST(Ladder, AReplacedGpuIsTestedAndHasNoPast) {
  for (const auto state : {CaseState::kRma, CaseState::kAttended, CaseState::kDrained}) {
    auto sick = sick_gpu(state);
    sick.tried = {{Remedy::kReboot, kNow - 100}};
    auto view = calm();
    view.gpu_in_place = "GPU-new";
    take_step(sick, step_of(sick, view), view);
    EXPECT_EQ(sick.state, CaseState::kTesting) << name_of(state);
    EXPECT_EQ(sick.gpu_uuid, "GPU-new");
    EXPECT_TRUE(sick.tried.empty());
    EXPECT_EQ(sick.asked, Action::kDrain);
    EXPECT_EQ(step_of(sick, view).act, Act::kRunTest);
  }
}

// By the time its new part is seen, a node that was off for it has mostly been called rebooted.
TEST(Ladder, APartThatIsReplacedBeforeItsTestIsTestedItself) {
  auto sick = sick_gpu(CaseState::kTesting);
  auto view = calm();
  view.gpu_in_place = "GPU-new";
  view.program = ProgramState::kRunning;
  EXPECT_EQ(after(sick, view), CaseState::kTesting);  // one program at a time
  view.program = ProgramState::kNone;
  for (int i = 0; i < 2; ++i) take_step(sick, step_of(sick, view), view);
  EXPECT_EQ(sick.state, CaseState::kTesting);
  EXPECT_EQ(sick.gpu_uuid, "GPU-new");
  EXPECT_EQ(step_of(sick, view).act, Act::kRunTest);
}

TEST(Ladder, TheReplacementIsAskedForOnce) {
  auto sick = sick_gpu(CaseState::kRma);
  const auto step = step_of(sick, calm());
  EXPECT_EQ(step.act, Act::kRunReplace);
  take_step(sick, step, calm());
  EXPECT_EQ(step_of(sick, calm()).act, Act::kNone);
}

TEST(Ladder, TheReplacementIsAskedForAgainWhenWhoAskedWasKilled) {
  auto sick = sick_gpu(CaseState::kRma);
  take_step(sick, step_of(sick, calm()), calm());
  EXPECT_FALSE(sick.program_ended);
  auto view = calm();
  view.program_lost = true;
  EXPECT_EQ(step_of(sick, view).act, Act::kRunReplace);
  sick.state = CaseState::kAttended;
  EXPECT_EQ(step_of(sick, view).act, Act::kNone);
}

// The GPU was hidden while its node served on; now the node is drained for it.
TEST(Ladder, AFaultThatTakesTheNodeTakesTheCaseOfItsGpuAlong) {
  for (const auto state : {CaseState::kQuarantined, CaseState::kResetting, CaseState::kTesting,
                           CaseState::kProbation, CaseState::kAttended}) {
    auto sick = sick_gpu(state);
    sick.whole_node = false;
    sick.program_started = true;
    EXPECT_TRUE(relapse(sick, "n1-2", {"pcie_fatal", Severity::kFatal, Scope::kGpu, Action::kDrain},
                        true, kNow, "boot-1"));
    EXPECT_TRUE(sick.whole_node);
    EXPECT_EQ(sick.state, CaseState::kDraining);
    EXPECT_EQ(sick.id, "n1-2");
    EXPECT_FALSE(sick.program_started);
  }
  auto drained = sick_gpu(CaseState::kTesting);
  EXPECT_FALSE(relapse(drained, "n1-2", {"pcie_fatal"}, true, kNow, "boot-1"));
  EXPECT_EQ(drained.state, CaseState::kTesting);
}

TEST(Ladder, AProgramThatRunsWhenTheNodeIsTakenComesToItsEndFirst) {
  auto view = calm();
  view.program = ProgramState::kRunning;
  EXPECT_EQ(after(sick_gpu(CaseState::kDraining), view), CaseState::kDraining);
  view.program = ProgramState::kPassed;
  EXPECT_EQ(after(sick_gpu(CaseState::kDraining), view), CaseState::kDrained);
}

}  // namespace
}  // namespace acrf
