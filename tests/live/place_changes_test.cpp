// SPDX-License-Identifier: GPL-2.0-or-later
// What changes while jobs run: jobs that grow, nodes and switches that are configured anew, tokens,
// and the log of decisions that is full.
#include <filesystem>

#include "common/file.h"
#include "place_cluster.h"

namespace acrf::minicluster {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

class PlaceChanges : public Place {
 protected:
  // Jobs may grow.
  ClusterOptions growing(int nodes) const {
    auto options = flat(nodes);
    options.slurm_conf =
        "SchedulerParameters=batch_sched_delay=0,bf_interval=1,permit_job_expansion\n";
    return options;
  }
  // As salloc's manual has it: a second allocation, which is then merged into the first.
  std::string reserve_to_grow(const std::string& id, const std::vector<std::string>& options) {
    std::vector<std::string> command{"salloc", "--no-shell", "--dependency=expand:" + id};
    command.insert(command.end(), options.begin(), options.end());
    const auto granted = cluster().run(command);
    EXPECT_TRUE(granted.ok()) << granted.errors;
    const std::string mark = "job allocation ";
    const auto at = granted.errors.rfind(mark);
    if (at == std::string::npos) return "";
    const auto from = at + mark.size();
    return granted.errors.substr(from, granted.errors.find_first_not_of("0123456789", from) - from);
  }

  // RET what was seen of it: what the job got in addition, and has afterwards.
  std::string grow(const std::string& id, const std::vector<std::string>& options) {
    const auto more = reserve_to_grow(id, options);
    EXPECT_TRUE(runs(more));
    auto seen = "more: " + gres(more);
    const auto merged = cluster().run({"scontrol", "update", "JobId=" + more, "NumNodes=0"});
    return seen + (merged.ok() ? "grown: " : "refused: ") + gres(id);
  }
};

TEST_F(PlaceChanges, JobsGrowAsTheyDoWithoutAcrf) {
  auto options = growing(3);
  std::string grown[2], refused[2];
  for (const bool acrf : {false, true}) {
    options.select = acrf ? SelectInstall::kDropIn : SelectInstall::kStock;
    start(options);
    EXPECT_EQ(placed({"-N1", "--gpus-per-node=4", "--nodelist=n1"}), Nodes{"n1"});
    const auto with_gpus = last_;
    EXPECT_EQ(placed({"-N1", "-n2", "--nodelist=n1"}), Nodes{"n1"});
    const auto growing = last_;
    grown[acrf] = grow(growing, {"-N1", "-n2", "--nodelist=n2"});
    EXPECT_EQ(job(growing).nodes, (Nodes{"n1", "n2"}));
    // Room for this is beside the grown job.
    EXPECT_THAT(placed({"-N2", "--gpus-per-node=8"}), ElementsAre("n2", "n3"));
    if (acrf) {
      EXPECT_THAT(decision(last_), HasSubstr("\"outcome\":\"placed\""));
    }
    cancel(last_);
    // cons_tres moves no GPUs from job to job.
    refused[acrf] = grow(with_gpus, {"-N1", "--gpus-per-node=8", "--nodelist=n2"});
    EXPECT_THAT(gres_used("n1"), HasSubstr("gpu:h100:4(IDX:0-3)"));
  }
  EXPECT_THAT(grown[0], HasSubstr("grown: "));
  EXPECT_EQ(grown[1], grown[0]);
  EXPECT_THAT(refused[0], HasSubstr("refused: Nodes=n1 CPU_IDs=0 Mem=10 GRES=gpu:h100:4(IDX:0-3)"));
  EXPECT_EQ(refused[1], refused[0]);
}

TEST_F(PlaceChanges, WhatAJobWouldGrowByIsNoGpuInQuarantine) {
  start(growing(2));
  EXPECT_EQ(placed({"-N1", "--gpus-per-node=8"}), Nodes{"n1"});
  set_health("n2", "acrf:gpus=0+1");
  const auto more = reserve_to_grow(last_, {"-N1", "--gpus-per-node=6"});
  ASSERT_TRUE(runs(more));
  EXPECT_THAT(gres(more), HasSubstr("IDX:2-7"));
  EXPECT_THAT(gres_used("n2"), HasSubstr("gpu:h100:6(IDX:2-7)"));
}

TEST_F(PlaceChanges, SwitchesAndWeightsThatChangeUnderRunningJobsAreUsed) {
  start(clos());
  EXPECT_THAT(placed({"-N2", "--gpus-per-node=8", "--nodelist=n[1-2]"}), SizeIs(2));
  const auto topology = cluster().path("etc/topology.conf");
  const std::string above =
      "SwitchName=p1 Switches=l[1-2]\nSwitchName=p2 Switches=l[3-4]\n"
      "SwitchName=core Switches=p[1-2]\n";
  ASSERT_TRUE(write_file(topology,
                         "SwitchName=l1 Nodes=n[1-2]\nSwitchName=l2 Nodes=n[3,8]\n"
                         "SwitchName=l3 Nodes=n[4,6]\nSwitchName=l4 Nodes=n[5,7]\n" +
                             above)
                  .ok());
  admin({"reconfigure"});
  EXPECT_THAT(placed({"-N2", "--gpus-per-node=8"}),
              AnyOf(ElementsAre("n3", "n8"), ElementsAre("n4", "n6"), ElementsAre("n5", "n7")));
  cancel(last_);
  EXPECT_EQ(placed({"--gpus=4", "--nodelist=n3"}), Nodes{"n3"});
  admin({"update", "NodeName=n[3,5-8]", "Weight=100"});
  EXPECT_EQ(placed({"--gpus=4"}), Nodes{"n4"});  // n3 would be fuller, but is to be spared
  // Switches that do not match the node table: plain cons_tres until they do.
  ASSERT_TRUE(write_file(topology, "SwitchName=l1 Nodes=n[1-9]\n").ok());
  admin({"reconfigure"});
  EXPECT_THAT(placed({"--gpus=1"}), SizeIs(1));
  EXPECT_THAT(decision(last_), HasSubstr("\"outcome\":\"no-engine\""));
  EXPECT_THAT(text_of(cluster().path("log/slurmctld.log")),
              HasSubstr("topology.conf:1: node n9 is not in the cluster's node table"));
}

TEST_F(PlaceChanges, JobsThatAskForOneSwitchWaitForIt) {
  start(clos());
  Nodes first;
  for (const char* node : {"n1", "n3", "n5", "n7"}) {
    placed({"--gpus=8", std::string("--nodelist=") + node});
    first.push_back(last_);
  }
  const auto picky = submit({"-N2", "--switches=1", "--gpus-per-node=8"});
  decision(picky);
  // One that does not ask gets two leaves, of one pod; as many nodes as there are, not more.
  EXPECT_THAT(placed({"--nodes=1-2", "--gpus-per-node=8"}),
              AnyOf(ElementsAre("n2", "n4"), ElementsAre("n6", "n8")));
  EXPECT_THAT(decision(last_), AllOf(HasSubstr("\"leaves\":2"), HasSubstr("\"pods\":1")));
  const auto pair = job(last_).nodes;
  EXPECT_THAT(placed({"--nodes=1-6", "--gpus-per-node=8"}), AllOf(SizeIs(2), Not(pair)));
  cancel(last_);
  EXPECT_EQ(job(picky).state, "PENDING");
  const std::size_t freed = pair == Nodes{"n2", "n4"} ? 2 : 0;
  cancel(first[freed]);
  ASSERT_TRUE(runs(picky));
  EXPECT_EQ(job(picky).nodes, (freed ? Nodes{"n5", "n6"} : Nodes{"n1", "n2"}));
}

// Tokens are read again only where a node's comment has changed.
TEST_F(PlaceChanges, EveryChangeOfATokenIsSeenByTheNextJob) {
  start(flat(2));
  const auto all_but = [&](int gpu) {
    set_health("n1", fmt::format("rack 7 acrf:gpus={}", gpu));
    placed({"-N1", "--gpus-per-node=7", "--nodelist=n1"});
    const auto given = gres(last_);
    cancel(last_);
    return given;
  };
  EXPECT_THAT(all_but(3), HasSubstr("IDX:0-2,4-7"));
  EXPECT_THAT(all_but(4), HasSubstr("IDX:0-3,5-7"));
  const auto whole_node = [&](const std::string& comment) {
    set_health("n1", comment);
    const auto nodes = placed({"-N1", "--gpus-per-node=8"});
    cancel(last_);
    return nodes;
  };
  EXPECT_EQ(whole_node("rack 7 acrf:gpus=4"), Nodes{"n2"});  // the same word again
  EXPECT_EQ(whole_node("rack 7"), Nodes{"n1"});
  EXPECT_EQ(whole_node("rack 7 acrf:suspect"), Nodes{"n2"});
  EXPECT_EQ(whole_node(""), Nodes{"n1"});
}

TEST_F(PlaceChanges, LargeJobsKeepOffRiskyNodesWithoutAsking) {
  auto options = flat(3);
  options.acrf_conf += "RiskJobGpus=16\n";
  start(options);
  set_health("n1", "acrf:risk=60");
  EXPECT_EQ(placed({"-N2", "--gpus-per-node=8"}), (Nodes{"n2", "n3"}));
  cancel(last_);
  EXPECT_EQ(placed({"-N1", "--gpus-per-node=8"}), Nodes{"n1"});  // 8 GPUs are not many
}

TEST_F(PlaceChanges, DecisionsAreKeptAcrossRestartsAndTheirLogIsBounded) {
  start(flat(2));
  placed({"--gpus=3"});
  const auto early = last_;
  decision(early);
  restart_slurmctld();
  const auto log = cluster().path("state/acrf-decisions");
  std::filesystem::resize_file(log, 16 << 20);  // full
  placed({"--gpus=2"});
  decision(last_);
  EXPECT_TRUE(std::filesystem::exists(log + ".old"));
  EXPECT_LT(std::filesystem::file_size(log), 1u << 20);
  for (const auto& id : {early, last_})
    EXPECT_THAT(cluster().run({"acrf", "explain", id}).output,
                AllOf(HasSubstr("placed as planned"), HasSubstr("health  all nodes"),
                      HasSubstr("runner-up none")));
}

}  // namespace
}  // namespace acrf::minicluster
