// SPDX-License-Identifier: GPL-2.0-or-later
// Where select/acrf puts jobs: what users and admins see with scontrol, squeue and acrf explain.
#include <gmock/gmock.h>

#include <ctime>

#include "common/file.h"
#include "place_cluster.h"

namespace acrf::minicluster {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::ContainsRegex;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

TEST_F(Place, JobsGoWhereTheirTrafficIsCheapest) {
  start(clos());
  EXPECT_THAT(placed({"--gpus=4"}), ElementsAre("n1"));
  // Not n2 and n3: one leaf has room for both.
  EXPECT_THAT(placed({"-N2", "--gpus-per-node=8"}),
              AnyOf(ElementsAre("n3", "n4"), ElementsAre("n5", "n6"), ElementsAre("n7", "n8")));
  EXPECT_THAT(decision(last_), AllOf(HasSubstr("\"outcome\":\"placed\""), HasSubstr("\"cost\":0")));
  cancel(last_);
  // A pod for four, though the other pod's nodes come first.
  EXPECT_THAT(placed({"-N4", "--gpus-per-node=8"}), ElementsAre("n5", "n6", "n7", "n8"));
  // Part of a node: beside the job that runs there already.
  EXPECT_THAT(placed({"--gpus=2"}), ElementsAre("n1"));
  EXPECT_THAT(placed({"--gpus=16"}), ElementsAre("n3", "n4"));
  decision(last_);
  const auto told = cluster().run({"acrf", "explain", last_});
  EXPECT_THAT(told.output, AllOf(HasSubstr("placed as planned"), HasSubstr("l2:2"),
                                 HasSubstr("proven to be the least"), HasSubstr("; runner-up "),
                                 ContainsRegex("time +[0-9.]+ ms, [0-9.]+ ms of it in cons_tres")))
      << told.errors;
  const auto json = cluster().run({"acrf", "--json", "explain", last_});
  EXPECT_THAT(json.output, HasSubstr("\"outcome\":\"placed\""));
  EXPECT_FALSE(cluster().run({"acrf", "explain", "999999"}).ok());
}

TEST_F(Place, ShapesAreHonoured) {
  start(clos());
  const auto leaf_of = [](const std::string& node) { return (std::stoi(node.substr(1)) - 1) / 2; };
  std::vector<int> leaves;
  for (const auto& node : placed({"-N4", "--gpus-per-node=8", "--acrf-topology=spread"}))
    leaves.push_back(leaf_of(node));
  EXPECT_THAT(leaves, ElementsAre(0, 1, 2, 3));
  cancel(last_);
  const auto single = placed({"--gpus=8"});
  ASSERT_THAT(single, SizeIs(1));
  ASSERT_THAT(placed({"-N1", "--gpus-per-node=8", "--acrf-topology=any"}), SizeIs(1));
  EXPECT_EQ(leaf_of(job(last_).nodes[0]), leaf_of(single[0]));  // fills the leaf that is in use
  ASSERT_THAT(placed({"-N2", "--gpus-per-node=8", "--acrf-topology=block"}), SizeIs(2));
  EXPECT_EQ(leaf_of(job(last_).nodes[0]), leaf_of(job(last_).nodes[1]));
  const auto refused = cluster().run({"sbatch", "--acrf-topology=ring", "--wrap=true"});
  EXPECT_FALSE(refused.ok());
  EXPECT_THAT(refused.errors,
              HasSubstr("--acrf-topology=ring: must be pack, spread, block or any"));
}

TEST_F(Place, GpusOfAJobAreTheBestLinkedOnes) {
  auto options = flat(1);
  options.gpu_islands = true;  // NVLink joins 0, 2, 4, 6 and 1, 3, 5, 7; sockets join 0-3 and 4-7
  start(options);
  EXPECT_EQ(placed({"--gpus=1"}), Nodes{"n1"});
  EXPECT_THAT(gres(last_), HasSubstr("IDX:0"));
  placed({"--gpus=4"});
  EXPECT_THAT(gres(last_), HasSubstr("IDX:1,3,5,7"));
  const auto step = cluster().run(
      {"srun", "--gpus=2", "-N1", "sh", "-c", "echo $SLURM_STEP_GPUS $SLURM_JOB_GPUS"});
  EXPECT_THAT(step.output, AnyOf(HasSubstr("2,4"), HasSubstr("2,6"), HasSubstr("4,6")))
      << step.errors;
}

TEST_F(Place, GpusOfOneLineOfGresConfAreNearEachOther) {
  auto options = flat(1);
  options.gpu_line_per_socket = true;
  start(options);
  placed({"--gpus=3"});
  EXPECT_THAT(gres(last_), HasSubstr("IDX:0-2"));
  placed({"--gpus=2"});  // and not 3 with one of the other socket
  EXPECT_THAT(gres(last_), HasSubstr("IDX:4-5"));
}

TEST_F(Place, GpusInQuarantineAreNeverGivenWhileTheirNodeServesOn) {
  start(flat(2));
  set_health("n1", "acrf:gpus=3");
  std::vector<std::string> jobs;
  for (int i = 0; i < 15; ++i) jobs.push_back(submit({"--gpus=1"}));
  for (const auto& id : jobs) ASSERT_TRUE(runs(id));
  const auto waiting = submit({"--gpus=1"});
  const auto expect_hidden = [&] {
    EXPECT_TRUE(wait_until([&] {
      return gres_used("n1").find("gpu:h100:7(IDX:0-2,4-7)") != std::string::npos &&
             gres_used("n2").find("gpu:h100:8(IDX:0-7)") != std::string::npos;
    })) << gres_used("n1")
        << gres_used("n2");
    EXPECT_EQ(job(waiting).state, "PENDING");
  };
  expect_hidden();
  ASSERT_TRUE(cluster().run({"scontrol", "reconfigure"}).ok());
  expect_hidden();
  restart_slurmctld();
  expect_hidden();
  cancel(jobs[0]);
  ASSERT_TRUE(runs(waiting));
  EXPECT_THAT(gres_used("n1"), HasSubstr("gpu:h100:7(IDX:0-2,4-7)"));
  set_health("n1", "");  // healed
  EXPECT_TRUE(runs(submit({"--gpus=1"})));
  EXPECT_THAT(gres_used("n1"), HasSubstr("gpu:h100:8(IDX:0-7)"));
}

TEST_F(Place, GpusInQuarantineAreHiddenFromConsTresAlone) {
  start(flat(2));
  set_health("n1", "acrf:gpus=0+1");
  // Not a request that is planned for: cons_tres chooses among all nodes.
  EXPECT_THAT(placed({"--use-min-nodes", "--gpus=4", "--nodelist=n1"}), ElementsAre("n1"));
  EXPECT_THAT(gres(last_), HasSubstr("gpu:h100:4"));
  EXPECT_THAT(gres(last_), Not(HasSubstr("IDX:0")));
  EXPECT_THAT(decision(last_), HasSubstr("\"outcome\":\"passed\""));
  const auto waiting = submit({"-N1", "--use-min-nodes", "--gpus=4", "--nodelist=n1"});
  EXPECT_EQ(placed({"--use-min-nodes", "--gpus=2"}).size(), 1u);
  EXPECT_EQ(job(waiting).state, "PENDING");
  set_health("n1", "acrf:suspect");
  EXPECT_EQ(placed({"--use-min-nodes", "--gpus=1"}), Nodes{"n2"});
}

TEST_F(Place, ExclusiveJobsKeepOffNodesWithAGpuInQuarantine) {
  start(flat(2));
  set_health("n1", "rack 7 acrf:gpus=0");
  EXPECT_EQ(placed({"-N1", "--exclusive", "--gpus-per-node=8"}), Nodes{"n2"});
  const auto waiting = submit({"-N1", "--exclusive"});
  EXPECT_EQ(placed({"--gpus=7"}), Nodes{"n1"});
  EXPECT_THAT(gres(last_), HasSubstr("IDX:1-7"));
  EXPECT_EQ(job(waiting).state, "PENDING");
}

TEST_F(Place, DoubtfulNodesAreTheLastResort) {
  start(flat(3));
  set_health("n1", "acrf:suspect");
  set_health("n2", "acrf:risk=60");
  EXPECT_EQ(placed({"--gpus=8", "--acrf-exclude-risk=medium"}), Nodes{"n3"});
  cancel(last_);
  EXPECT_EQ(placed({"--gpus=8", "--time=2-0"}), Nodes{"n3"});  // long jobs care without asking
  EXPECT_EQ(placed({"--gpus=8"}), Nodes{"n2"});
  EXPECT_EQ(placed({"--gpus=8"}), Nodes{"n1"});
  EXPECT_THAT(decision(last_), HasSubstr("\"avoidable\":1"));
}

TEST_F(Place, ANodeOnProbationGetsSmallJobs) {
  start(flat(3));
  set_health("n1", "acrf:probation,acted=1700000000:gpu_lost");
  EXPECT_THAT(placed({"-N2", "--gpus-per-node=2"}), ElementsAre("n2", "n3"));
  cancel(last_);
  EXPECT_EQ(placed({"--gpus=8", "--time=2-0"}), Nodes{"n2"});                  // long jobs care
  EXPECT_THAT(placed({"-N2", "--gpus-per-node=2"}), ElementsAre("n1", "n3"));  // nothing else fits
  cancel(last_);
  EXPECT_EQ(placed({"--gpus=4", "--nodelist=n1"}), Nodes{"n1"});
  EXPECT_EQ(placed({"--gpus=4"}), Nodes{"n1"});  // a small one fills it up
}

TEST_F(Place, RequeuedJobsKeepOffTheNodeThatKilledThem) {
  start(flat(2));
  EXPECT_EQ(placed({"--gpus=8", "--requeue", "--acrf-policy=requeue"}), Nodes{"n1"});
  const auto id = last_;
  admin({"update", "NodeName=n1", "State=DRAIN", "Reason=ACRF: gpu_lost GPU0 drain [x]"});
  admin({"requeue", id});
  admin({"hold", id});
  ASSERT_TRUE(wait_until([&] { return job(id).state == "PENDING"; }));
  admin({"update", "NodeName=n1", "State=RESUME"});
  EXPECT_THAT(cluster().run({"scontrol", "show", "job", id}).output, HasSubstr("acrf-avoid:n1"));
  admin({"release", id});
  ASSERT_TRUE(runs_again(id, 1));
  EXPECT_EQ(job(id).nodes, Nodes{"n2"});
  // The job needs both nodes now: better the guilty one than none.
  admin({"requeuehold", id});
  ASSERT_TRUE(wait_until([&] { return job(id).state == "PENDING"; }));
  admin({"update", "JobId=" + id, "NumNodes=2"});
  admin({"release", id});
  ASSERT_TRUE(runs_again(id, 2));
  EXPECT_EQ(job(id).nodes, (Nodes{"n1", "n2"}));
}

TEST_F(Place, GpusComeBackFromJobsWhoseNodesFailWhileTheyAreRequeued) {
  start(flat(2));
  placed({"-N2", "--gpus-per-node=4", "--requeue"});
  const auto id = last_;
  admin({"update", "NodeName=n[1-2]", "State=DOWN", "Reason=test"});
  ASSERT_TRUE(wait_until([&] { return job(id).state == "PENDING"; }));
  admin({"hold", id});
  for (const char* node : {"n1", "n2"})  // a node that answers is up again by itself
    cluster().run({"scontrol", "update", std::string("NodeName=") + node, "State=RESUME"});
  // Only now does slurmctld tell the slurmd to end the old run; no new one may start before.
  ASSERT_TRUE(wait_until([&] {
    return text_of(cluster().path("log/slurmd-n1.log")).find("done with ") != std::string::npos;
  }));
  const auto ended = std::time(nullptr);
  ASSERT_TRUE(wait_until([&] { return std::time(nullptr) > ended + 1; }));  // credentials: seconds
  admin({"update", "JobId=" + id, "StartTime=now"});
  admin({"release", id});
  ASSERT_TRUE(runs_again(id, 1));
  EXPECT_THAT(gres(id), HasSubstr("GRES=gpu:h100:4"));
  cancel(id);
  EXPECT_THAT(gres_used("n1"), HasSubstr("gpu:h100:0(IDX:N/A)"));
  EXPECT_THAT(gres_used("n2"), HasSubstr("gpu:h100:0(IDX:N/A)"));
}

TEST_F(Place, RequestsOfAllKindsAreHonoured) {
  auto options = clos();
  options.slurm_conf += "Licenses=sim:1\n";
  start(options);
  admin({"update", "NodeName=n6", "AvailableFeatures=fast", "ActiveFeatures=fast"});
  admin({"create", "reservation", "ReservationName=r", "Users=root", "Nodes=n8", "StartTime=now",
         "Duration=60"});
  EXPECT_THAT(placed({"-N1", "--exclusive"}), SizeIs(1));
  EXPECT_THAT(placed({"-N2", "--gpus-per-node=2", "--nodelist=n3"}),
              AllOf(SizeIs(2), Contains("n3")));
  EXPECT_THAT(placed({"-N1", "--gpus=2", "--exclude=n[1-4]"}), Each(AnyOf("n5", "n6", "n7")));
  EXPECT_EQ(placed({"--gpus=1", "--constraint=fast"}), Nodes{"n6"});
  EXPECT_EQ(placed({"--gpus=1", "--reservation=r"}), Nodes{"n8"});
  EXPECT_THAT(placed({"--gpus=1", "--licenses=sim:1"}), SizeIs(1));
  const auto unlicensed = submit({"--gpus=1", "--licenses=sim:1"});
  EXPECT_THAT(placed({"-n4", "--gpus-per-task=1", "--cpus-per-task=2"}), Not(Contains("n8")));
  EXPECT_THAT(gres(last_), HasSubstr("gpu:h100:4"));
  EXPECT_THAT(placed({"--nodes=1-2", "--gpus-per-node=2"}), SizeIs(2));
  EXPECT_THAT(placed({"-N2", "--switches=1", "--gpus-per-node=1"}), SizeIs(2));
  EXPECT_THAT(decision(last_), HasSubstr("\"leaves\":1"));
  EXPECT_THAT(placed({"--gpus=1", "--mem=500", "--cpus-per-gpu=3"}), SizeIs(1));
  EXPECT_THAT(placed({"-n2", "--spread-job", "--gpus=2"}), Not(IsEmpty()));  // ends plain 24.11.5
  EXPECT_EQ(job(unlicensed).state, "PENDING");
  EXPECT_FALSE(cluster().run({"sbatch", "--gpus-per-node=9", "--wrap=true"}).ok());
}

TEST_F(Place, ArraysHeterogeneousJobsSuspensionAndShrinkingPassThrough) {
  start(flat(4));
  const auto array = submit({"--array=1-3", "--gpus=2"});
  for (const char* task : {"_1", "_2", "_3"}) EXPECT_TRUE(runs(array + task));
  const auto het = cluster().run({"sbatch", "--parsable", "--gpus=2", ":", "--gpus=4",
                                  "--output=/dev/null", "--wrap=sleep 1000"});
  ASSERT_TRUE(het.ok()) << het.errors;
  EXPECT_TRUE(runs(std::string(trim(het.output)) + "+0"));
  EXPECT_TRUE(runs(std::string(trim(het.output)) + "+1"));
  const auto pair = placed({"-N2", "--gpus-per-node=8"});
  ASSERT_THAT(pair, SizeIs(2));
  const auto id = last_;
  admin({"suspend", id});
  EXPECT_EQ(job(id).state, "SUSPENDED");
  admin({"resume", id});
  EXPECT_TRUE(runs(id));
  const auto waiting = submit({"--gpus=8"});
  EXPECT_EQ(job(waiting).state, "PENDING");
  admin({"update", "JobId=" + id, "NumNodes=1"});
  ASSERT_TRUE(runs(waiting));
  EXPECT_EQ(job(waiting).nodes, Nodes{pair[1]});
}

TEST_F(Place, TestOnlyAndBackfillAndPreemptionFindPlaces) {
  auto options = flat(2);
  options.slurm_conf +=
      "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n"
      "PartitionName=high Nodes=ALL PriorityTier=10 State=UP\n";
  start(options);
  const auto test =
      cluster().run({"sbatch", "--test-only", "-N2", "--gpus-per-node=8", "--wrap=true"});
  EXPECT_TRUE(test.ok()) << test.errors;
  EXPECT_THAT(test.errors, HasSubstr("n[1-2]"));
  const auto low = placed({"--gpus=8", "--requeue", "--time=60"});
  const auto low_id = last_;
  const auto blocked = submit({"-N2", "--gpus-per-node=8", "--time=60"});
  EXPECT_THAT(placed({"--gpus=2", "--time=1"}), SizeIs(1));  // backfilled
  EXPECT_EQ(job(blocked).state, "PENDING");
  EXPECT_THAT(placed({"--partition=high", "-N2", "--gpus-per-node=8"}), SizeIs(2));
  EXPECT_EQ(job(low_id).state, "PENDING");
}

TEST_F(Place, NobodyIsPreemptedForAGpuInQuarantine) {
  auto options = flat(1);
  options.slurm_conf +=
      "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n"
      "PartitionName=high Nodes=ALL PriorityTier=10 State=UP\n";
  start(options);
  placed({"--gpus=8", "--requeue"});
  const auto low = last_;
  set_health("n1", "acrf:gpus=0");
  const auto high = submit({"--partition=high", "--gpus=8"});
  decision(high);
  decision(high, "will_run");
  EXPECT_EQ(job(high).state, "PENDING");
  EXPECT_EQ(job(low).state, "RUNNING");
  EXPECT_EQ(job(low).restarts, 0);
  set_health("n1", "");  // healed: now it is worth it
  EXPECT_TRUE(runs(high));
  EXPECT_EQ(job(low).state, "PENDING");
}

TEST_F(Place, ObserveOnlyLogs) {
  auto options = clos();
  options.enforce = false;
  start(options);
  set_health("n1", "acrf:gpus=0");
  EXPECT_THAT(placed({"--gpus=1"}), ElementsAre("n1"));
  EXPECT_THAT(gres(last_), HasSubstr("IDX:0"));
  EXPECT_THAT(decision(last_), HasSubstr("\"outcome\":\"observed\""));
}

TEST_F(Place, AnEngineOverItsBudgetIsLeftAloneForAWhile) {
  start(clos());
  ASSERT_TRUE(write_file(cluster().path("etc/acrf.conf"),
                         text_of(cluster().path("etc/acrf.conf")) + "PlacementBudget=1\n")
                  .ok());
  ASSERT_TRUE(cluster().run({"scontrol", "reconfigure"}).ok());
  EXPECT_THAT(placed({"-N2", "--gpus-per-node=8"}), SizeIs(2));
  // From now on cons_tres alone decides: jobs run, and GPUs in quarantine stay hidden.
  set_health("n3", "acrf:gpus=0");
  EXPECT_THAT(placed({"--gpus=1", "--nodelist=n3"}), ElementsAre("n3"));
  EXPECT_THAT(decision(last_), HasSubstr("\"outcome\":\"passed\""));
  EXPECT_THAT(gres(last_), Not(HasSubstr("IDX:0")));
  EXPECT_THAT(text_of(cluster().path("log/slurmctld.log")),
              HasSubstr("the placement engine took too long; plain cons_tres decides"));
}

TEST_F(Place, ReplacementsOfLostNodesAreTheNearestFreeOnes) {
  start(clos());
  EXPECT_THAT(placed({"-N3", "--gpus-per-node=8", "--nodelist=n[1-3]"}), SizeIs(3));
  const auto training = last_;
  const auto ask = [&] {
    return cluster().run({"acrf", "place", "--replace", "--job", training, "--lost", "n2"});
  };
  EXPECT_THAT(ask().output, ContainsRegex("n4 .*replaces n2")) << ask().errors;
  EXPECT_THAT(placed({"-N1", "--gpus-per-node=8", "--nodelist=n4"}), SizeIs(1));
  EXPECT_THAT(ask().output, AllOf(Not(HasSubstr("n4")), HasSubstr("replaces n2")));
  admin({"update", "NodeName=n[5-8]", "State=DRAIN", "Reason=test"});
  EXPECT_FALSE(ask().ok());
  EXPECT_THAT(ask().errors, HasSubstr("no room"));
}

}  // namespace
}  // namespace acrf::minicluster
