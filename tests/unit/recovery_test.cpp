// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/recovery.h"

#include <gtest/gtest.h>

#include "core/failover.h"

namespace acrf {
namespace {

Incident incident_in(Phase phase) {
  Incident incident;
  incident.id = "n1-0123456789";
  incident.node = "n1";
  incident.phase = phase;
  incident.root.verdict = classify_lost_gpu();
  incident.root.unix_s = 1000;
  incident.drained_unix_s = phase == Phase::kSeen ? 0 : 1001;
  return incident;
}

constexpr std::int64_t kLongAgo = 10;
const std::string kOwnReason = "ACRF: gpu_lost 0000:00:00 reboot_node [n1-0123456789]";

DrainStep plan(const Incident& incident, const NodeView& node) {
  return plan_drain(incident, node, {}, 1010);
}

TEST(PlanDrain, DrainsAHealthyNodeOnce) {
  EXPECT_EQ(plan(incident_in(Phase::kSeen), {false, "", kLongAgo}), DrainStep::kDrain);
  EXPECT_EQ(plan(incident_in(Phase::kDrained), {true, kOwnReason, kLongAgo}), DrainStep::kOurs);
  // Crashed between the drain and writing it down.
  EXPECT_EQ(plan(incident_in(Phase::kSeen), {true, kOwnReason, kLongAgo}), DrainStep::kOurs);
}

TEST(PlanDrain, NeverTouchesAnothersDrain) {
  for (const auto phase : {Phase::kSeen, Phase::kDrained}) {
    EXPECT_EQ(plan(incident_in(phase), {true, "bad fan", kLongAgo}), DrainStep::kOthers);
    EXPECT_EQ(plan(incident_in(phase), {true, "", kLongAgo}), DrainStep::kOthers);
    EXPECT_EQ(plan(incident_in(phase), {true, "ACRF: x [other]", kLongAgo}), DrainStep::kOthers);
  }
}

TEST(PlanDrain, AnAdminsResumeEndsTheCase) {
  EXPECT_EQ(plan(incident_in(Phase::kDrained), {false, "", kLongAgo}), DrainStep::kTakenOver);
}

TEST(PlanDrain, AControllerThatForgotTheDrainIsToldAgain) {
  EXPECT_EQ(plan(incident_in(Phase::kDrained), {false, "", 1002}), DrainStep::kDrain);
  EXPECT_EQ(plan(incident_in(Phase::kDrained), {false, "", 1001}), DrainStep::kDrain);
}

TEST(PlanDrain, ABackupThatTookOverWithoutTheDrainIsToldAgain) {
  EXPECT_EQ(plan_drain(incident_in(Phase::kDrained), {false, "", kLongAgo}, {true}, 1010),
            DrainStep::kDrain);
}

// The mark of the act came with the drain: a controller that has one had the other.
TEST(PlanDrain, AnAdminsResumeAfterATakeoverEndsTheCase) {
  NodeView node{false, "", 1005};
  node.token.acted = HealthMark{1000, "gpu_lost"};
  EXPECT_EQ(plan_drain(incident_in(Phase::kDrained), node, {true, 1000}, 1010),
            DrainStep::kTakenOver);
  // The mark of an earlier drain says nothing about this one, and neither does one not seen before.
  EXPECT_EQ(plan_drain(incident_in(Phase::kDrained), node, {true, 1001}, 1010), DrainStep::kDrain);
  EXPECT_EQ(plan_drain(incident_in(Phase::kDrained), node, {true, 0}, 1010), DrainStep::kDrain);
}

TEST(PlanDrain, ADrainThatIsMissingForLongWasTakenAway) {
  EXPECT_EQ(plan_drain(incident_in(Phase::kDrained), {false, "", 1500}, {true}, 1700),
            DrainStep::kTakenOver);
}

TEST(PlanDrain, AnAdminsReasonOnADownNodeStays) {
  EXPECT_FALSE(may_replace_reason("PSU swap"));
  EXPECT_TRUE(may_replace_reason(""));
  EXPECT_TRUE(may_replace_reason("ACRF: old"));
}

JobView job_in(JobState state) {
  JobView job;
  job.id = JobId{7};
  job.state = state;
  job.on_node = true;
  job.end_unix_s = 1003;
  job.admin_comment = "acrf:policy=requeue,max-requeues=2";
  return job;
}

TEST(PlanJob, RequeuesWhatRunsOnTheNodeOrDiedOfTheFault) {
  const auto incident = incident_in(Phase::kDrained);
  EXPECT_EQ(plan_job(incident, job_in(JobState::kRunning)), JobStep::kRequeue);
  EXPECT_EQ(plan_job(incident, job_in(JobState::kSuspended)), JobStep::kRequeue);
  EXPECT_EQ(plan_job(incident, job_in(JobState::kFailed)), JobStep::kRequeue);
  EXPECT_EQ(plan_job(incident, job_in(JobState::kNodeFailed)), JobStep::kRequeue);
}

TEST(PlanJob, LeavesWhatIsNotHitOrNotOurs) {
  const auto incident = incident_in(Phase::kDrained);
  EXPECT_EQ(plan_job(incident, job_in(JobState::kPending)), JobStep::kLeave);
  EXPECT_EQ(plan_job(incident, job_in(JobState::kOther)), JobStep::kLeave);
  auto elsewhere = job_in(JobState::kRunning);
  elsewhere.on_node = false;
  EXPECT_EQ(plan_job(incident, elsewhere), JobStep::kLeave);
  for (const auto comment : {"", "acrf:policy=none,max-requeues=2", "policy=requeue"}) {
    auto job = job_in(JobState::kRunning);
    job.admin_comment = comment;
    EXPECT_EQ(plan_job(incident, job), JobStep::kLeave) << comment;
  }
}

TEST(IsLeaving, AJobThatComesBackAndIsStillWaitedForHere) {
  auto job = job_in(JobState::kPending);
  EXPECT_FALSE(is_leaving(job));
  job.completing = true;
  EXPECT_TRUE(is_leaving(job));
  job.on_node = false;
  EXPECT_FALSE(is_leaving(job));
  job.on_node = true;
  job.admin_comment = "";
  EXPECT_FALSE(is_leaving(job));
  auto ended = job_in(JobState::kFailed);
  ended.completing = true;
  EXPECT_FALSE(is_leaving(ended));
}

TEST(PlanJob, AFailureBeforeOrLongAfterTheFaultIsTheJobsOwn) {
  const auto incident = incident_in(Phase::kDrained);
  auto job = job_in(JobState::kFailed);
  job.end_unix_s = 989;
  EXPECT_EQ(plan_job(incident, job), JobStep::kLeave);
  job.end_unix_s = 1301;
  EXPECT_EQ(plan_job(incident, job), JobStep::kLeave);
  job.end_unix_s = 990;
  EXPECT_EQ(plan_job(incident, job), JobStep::kRequeue);
}

TEST(PlanJob, HoldsAJobThatHasUsedUpItsRestarts) {
  auto job = job_in(JobState::kRunning);
  const auto policy = job.admin_comment;
  job.restarts = 9;  // for whatever reasons
  job.admin_comment = policy + " acrf-requeues:seen=9,hardware=1,preemption=8";
  EXPECT_EQ(plan_job(incident_in(Phase::kDrained), job), JobStep::kRequeue);
  job.admin_comment = policy + " acrf-requeues:seen=9,hardware=2,preemption=7";
  EXPECT_EQ(plan_job(incident_in(Phase::kDrained), job), JobStep::kRequeueHeld);
}

TEST(PlanJob, LeavesAJobThatSaidDoNotRequeue) {
  auto job = job_in(JobState::kFailed);
  job.end_unix_s = 1000;
  EXPECT_EQ(plan_job(incident_in(Phase::kDrained), job), JobStep::kRequeue);
  job.exit_status = 93;
  EXPECT_EQ(plan_job(incident_in(Phase::kDrained), job), JobStep::kLeave);
}

TEST(PlanJob, AJobWhoseLauncherCanDoWithoutTheNodeIsLeftToItForSomeSeconds) {
  auto incident = incident_in(Phase::kDrained);
  incident.drained_unix_s = 2000;
  auto job = job_in(JobState::kRunning);
  job.admin_comment = "acrf:policy=failover,max-requeues=2,spares=1";
  job.seen_unix_s = 2001;
  EXPECT_EQ(plan_job(incident, job), JobStep::kRequeue) << "no launcher";
  job.comment = "mine acrf-run:can-lose=1";
  EXPECT_EQ(plan_job(incident, job), JobStep::kLeave);
  job.seen_unix_s = 2005;
  EXPECT_EQ(plan_job(incident, job), JobStep::kRequeue) << "it did nothing";
  job.comment = "acrf-run:can-lose=0,without=" + incident.node;
  EXPECT_EQ(plan_job(incident, job), JobStep::kLeave) << "it does without the node";
  job.comment = "acrf-run:can-lose=0";
  job.seen_unix_s = 2001;
  EXPECT_EQ(plan_job(incident, job), JobStep::kRequeue) << "no spare left";
  job.comment = "acrf-run:can-lose=1";
  job.state = JobState::kSuspended;
  EXPECT_EQ(plan_job(incident, job), JobStep::kRequeue);
  job.state = JobState::kRunning;
  job.admin_comment = "acrf:policy=requeue,max-requeues=2";
  EXPECT_EQ(plan_job(incident, job), JobStep::kRequeue) << "the policy says so";
}

const std::string kLostReason = "ACRF: node_lost node drain [n1-0123456789]";

Incident lost_node() {
  auto incident = incident_in(Phase::kDrained);
  incident.root.verdict = classify_lost_node();
  return incident;
}

JobView job_there(const std::string& admin_comment) {
  JobView job;
  job.id = JobId{7};
  job.state = JobState::kRunning;
  job.on_node = true;
  job.admin_comment = admin_comment;
  job.seen_unix_s = 1002;
  return job;
}

const std::string kComesBack = "acrf:policy=requeue,max-requeues=2";

TEST(PlanDown, ASilentNodeGoesDownForTheJobsThatComeBack) {
  auto job = job_there(kComesBack);
  NodeView node{true, kLostReason, kLongAgo};
  EXPECT_EQ(plan_down(lost_node(), node, {job}), DownStep::kDown);
  EXPECT_EQ(plan_down(lost_node(), node, {}), DownStep::kNothing) << "nobody waits for it";
  node.down = true;
  EXPECT_EQ(plan_down(lost_node(), node, {job}), DownStep::kNothing);
}

TEST(PlanDown, NeverWithoutADrainOfItsOwn) {
  const auto job = job_there(kComesBack);
  EXPECT_EQ(plan_down(lost_node(), {false, "", kLongAgo}, {job}), DownStep::kNothing);
  EXPECT_EQ(plan_down(lost_node(), {true, "bad fan", kLongAgo}, {job}), DownStep::kNothing);
}

TEST(PlanDown, JobsThatOptedOutAreLeftToSlurmsTimeLimit) {
  EXPECT_EQ(plan_down(lost_node(), {true, kLostReason, kLongAgo}, {job_there("")}),
            DownStep::kNothing);
}

TEST(PlanDown, WaitsForAJobThatCompletes) {
  auto job = job_there(kComesBack);
  auto ending = job;
  ending.state = JobState::kPending;
  ending.completing = true;
  const NodeView node{true, kLostReason, kLongAgo};
  EXPECT_EQ(plan_down(lost_node(), node, {job, ending}), DownStep::kWait);
  job.seen_unix_s = 1001 + 60;
  EXPECT_EQ(plan_down(lost_node(), node, {job, ending}), DownStep::kDown);
}

TEST(PlanDown, AJobWhoseLauncherDoesWithoutTheNodeGoesOn) {
  auto job = job_there("acrf:policy=failover");
  const NodeView node{true, kLostReason, kLongAgo};
  job.comment = with_launcher("", LauncherWord{1, {}});
  EXPECT_EQ(plan_down(lost_node(), node, {job}), DownStep::kWait);
  job.seen_unix_s = 1010;
  EXPECT_EQ(plan_down(lost_node(), node, {job}), DownStep::kDown) << "it has not got rid of it";
  job.comment = with_launcher("", LauncherWord{0, {"n1"}});
  EXPECT_EQ(plan_down(lost_node(), node, {job}), DownStep::kNothing);
}

TEST(DrainedFor, ReadsWhatAReasonSays) {
  const auto lost = drained_for(kLostReason);
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->id, "n1-0123456789");
  EXPECT_EQ(lost->verdict.fault_class, "node_lost");
  EXPECT_FALSE(lost->gpu);
  const auto gpu = drained_for("ACRF: gpu_lost 0000:60:00 reboot_node [n4-38e6b710ce]");
  ASSERT_TRUE(gpu);
  EXPECT_EQ(gpu->verdict.fault_class, "gpu_lost");
  EXPECT_EQ(gpu->verdict.action, Action::kRebootNode);
  ASSERT_TRUE(gpu->gpu);
  EXPECT_EQ(to_string(*gpu->gpu), "0000:60:00");
  for (const auto* other : {"node_lost [x]", "ACRF: node_lost node drain", "ACRF: a b c [x]",
                            "ACRF admin: bad fan (user 0)", "ACRF: node_lost node drain []"})
    EXPECT_FALSE(drained_for(other)) << other;
}

}  // namespace
}  // namespace acrf
