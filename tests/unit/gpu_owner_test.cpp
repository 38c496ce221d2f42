// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/gpu_owner.h"

#include <gtest/gtest.h>

namespace acrf {
namespace {

constexpr PciAddress kFirst{0, 0x1a, 0}, kSecond{0, 0x2b, 0};

GpuUse use(std::uint64_t job, std::int64_t since, std::vector<PciAddress> gpus) {
  return {job, 1000 + job, since, 0, false, std::move(gpus), {"batch"}};
}

// The job at that time; 0: not known.
std::uint64_t job_at(const GpuOwners& owners, std::int64_t at, const PciAddress& gpu = kFirst) {
  const auto owner = owners.owner_at(gpu, at);
  return owner ? owner->job : 0;
}

TEST(GpuOwners, AGpuIsTheJobsThatHasIt) {
  GpuOwners owners;
  owners.update({use(7, 1000, {kFirst})}, 1001);
  EXPECT_EQ(job_at(owners, 1500), 7u);
  EXPECT_EQ(owners.owner_at(kFirst, 1500)->user, 1007u);
  EXPECT_EQ(owners.owner_at(kFirst, 1500)->step, "batch");
  EXPECT_EQ(job_at(owners, 1500, kSecond), 0u);
  EXPECT_EQ(job_at(owners, 999), 0u) << "before it came";
}

TEST(GpuOwners, ItIsTheJobsForFiveMinutesAfterItsEnd) {
  GpuOwners owners;
  owners.update({use(7, 1000, {kFirst})}, 1001);
  owners.update({}, 2000);
  EXPECT_EQ(job_at(owners, 1999), 7u);
  EXPECT_EQ(job_at(owners, 2300), 7u);
  EXPECT_EQ(job_at(owners, 2301), 0u);
}

TEST(GpuOwners, TheNextJobEndsThat) {
  GpuOwners owners;
  owners.update({use(7, 1000, {kFirst})}, 1001);
  owners.update({}, 2000);
  owners.update({use(8, 2010, {kFirst})}, 2011);
  EXPECT_EQ(job_at(owners, 2005), 7u);
  EXPECT_EQ(job_at(owners, 2010), 8u);
  EXPECT_EQ(job_at(owners, 1500), 7u) << "a line that was read late";
}

TEST(GpuOwners, WhoEndedUnseenHadItUntilTheNextCame) {
  GpuOwners owners;
  owners.update({use(7, 1000, {kFirst}), use(6, 1000, {kSecond})}, 1001);
  owners.update({use(8, 1400, {kFirst})}, 2000);
  EXPECT_EQ(job_at(owners, 1399), 7u);
  EXPECT_EQ(job_at(owners, 1401), 8u);
  EXPECT_EQ(job_at(owners, 1401, kSecond), 6u);
}

TEST(GpuOwners, WhereTwoMayBeMeantNoneIs) {
  GpuOwners owners;
  owners.update({use(7, 1000, {kFirst}), use(8, 1000, {kFirst})}, 1001);
  EXPECT_EQ(job_at(owners, 1500), 0u) << "a shared GPU";
  owners.update({}, 2000);
  EXPECT_EQ(job_at(owners, 2100), 0u);
}

TEST(GpuOwners, ALaterLookThatFindsItAgainTakesItsEndBack) {
  GpuOwners owners;
  owners.update({use(7, 1000, {kFirst})}, 1001);
  owners.update({}, 1100);
  owners.update({use(7, 1000, {kFirst})}, 1102);
  EXPECT_EQ(job_at(owners, 9000), 7u);
}

TEST(GpuOwners, OfAllGpusNoAddressNeedBeKnown) {
  GpuOwners owners;
  auto all = use(7, 1000, {});
  all.has_all = true;
  owners.update({all}, 1001);
  EXPECT_EQ(job_at(owners, 1500, kSecond), 7u);
}

TEST(GpuOwners, TheStepIsToldWhenThereWasOnlyOne) {
  GpuOwners owners;
  auto job = use(7, 1000, {kFirst});
  job.steps = {"0", "extern"};
  owners.update({job}, 1001);
  EXPECT_EQ(owners.owner_at(kFirst, 1500)->step, "0");
  job.steps = {"1", "extern"};
  owners.update({job}, 1600);
  EXPECT_EQ(owners.owner_at(kFirst, 1700)->step, "") << "step 0 may be meant as well";
}

TEST(GpuOwners, SurviveARestartInTheSameBoot) {
  GpuOwners before;
  before.update({use(7, 1000, {kFirst, kSecond}), use(8, 1000, {})}, 1001);
  before.update({use(8, 1000, {})}, 2000);
  GpuOwners after;
  after.take_text(before.to_text("boot-a"), "boot-a");
  EXPECT_EQ(job_at(after, 2100), 7u);
  EXPECT_EQ(after.user_of(8), 1008u);
  EXPECT_EQ(after.to_text("boot-a"), before.to_text("boot-a"));
  GpuOwners rebooted;
  rebooted.take_text(before.to_text("boot-a"), "boot-b");
  EXPECT_EQ(job_at(rebooted, 2100), 0u);
}

TEST(GpuOwners, TakeNothingFromDamagedLines) {
  GpuOwners owners;
  owners.take_text(
      "boot b\n7 1000 5\n7 x 5 0 0 0000:1a:00 batch\n7 1 5 0 0 zz batch\n8 1 5 0 0 0000:1a:00 -\n",
      "b");
  EXPECT_EQ(owners.to_text("b"), "boot b\n8 1 5 0 0 0000:1a:00 -\n");
}

TEST(GpuOwners, ForgetWhatEndedLongAgo) {
  GpuOwners owners;
  owners.update({use(7, 1000, {kFirst})}, 1001);
  owners.update({}, 2000);
  owners.update({}, 2601);
  EXPECT_EQ(owners.to_text("b"), "boot b\n");
}

TEST(JobOfCgroup, SlurmsOwnGroupsTellJobAndStep) {
  const auto second = job_of_cgroup("0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_0\n");
  ASSERT_TRUE(second);
  EXPECT_EQ(second->job, 7u);
  EXPECT_EQ(second->step, "0");
  const auto first = job_of_cgroup(
      "12:cpuset:/\n11:devices:/slurm/uid_1000/job_12/step_batch/task_0\n1:name=systemd:/\n");
  ASSERT_TRUE(first);
  EXPECT_EQ(first->job, 12u);
  EXPECT_EQ(first->step, "batch");
  EXPECT_EQ(job_of_cgroup("0::/system.slice/n1_slurmstepd.scope/job_9/step_extern")->job, 9u);
  EXPECT_EQ(job_of_cgroup("4:memory:/slurm_n1/uid_0/job_9")->job, 9u);
}

TEST(JobOfCgroup, GroupsThatUsersNameDoNotCount) {
  for (const auto* text :
       {"0::/user.slice/user-1000.slice/user@1000.service/slurmstepd.scope/job_7/step_0",
        "0::/system.slice/sshd.service/job_7", "0::/system.slice/slurmstepd.scope/system",
        "0::/system.slice/xslurmstepd.scope/job_7", "0::/job_7/step_0", "0::/slurm/job_7",
        "0::/system.slice/slurmstepd.scope/job_7x/step_0", "", "::", "0::"})
    EXPECT_FALSE(job_of_cgroup(text)) << text;
  const auto nested =
      job_of_cgroup("0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_0/job_8/step_1");
  EXPECT_EQ(nested->job, 7u);
}

TEST(DescribeOwner, SaysWhatIsKnown) {
  Event event;
  EXPECT_EQ(describe_owner(event), "");
  event.job = 7;
  EXPECT_EQ(describe_owner(event), "job 7");
  event.user = 1000;
  event.step = "0";
  EXPECT_EQ(describe_owner(event), "job 7 step 0 of user 1000");
}

}  // namespace
}  // namespace acrf
