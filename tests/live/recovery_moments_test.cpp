// SPDX-License-Identifier: GPL-2.0-or-later
// A fault at a bad moment: while its job starts, while it ends, while it still leaves another
// broken node, right after its restart. Whatever the moment, the job runs again from its newest
// complete checkpoint, away from the fault, and nothing of it runs twice.
#include <gmock/gmock.h>

#include "common/file.h"
#include "locked_ranks.h"

namespace acrf::minicluster {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class RecoveryMoments : public LockedRanks {
 protected:
  // A cluster whose prologs or epilogs wait for as long as their node's gate is closed.
  ClusterOptions gated(const std::string& script) {
    const auto path =
        program("gate", "gate=" + programs() +
                            "/closed-$SLURMD_NODENAME\n[ ! -e $gate ] || touch " + programs() +
                            "/waits-$SLURMD_NODENAME\n"
                            "while [ -e $gate ]; do sleep 0.05; done\n");
    auto options = small();
    options.slurm_conf += script + "=" + path + "\n";
    return options;
  }
  std::string gate(const std::string& node) const { return programs() + "/closed-" + node; }
  void close_gate(const std::string& node) { ASSERT_TRUE(write_file(gate(node), "").ok()); }
  void open_gate(const std::string& node) { fs::remove(gate(node)); }
  bool waits_at_gate(const std::string& node) {
    return wait_until([&] { return fs::exists(programs() + "/waits-" + node); });
  }

  // Once, elsewhere, from the complete checkpoint, to the end.
  void expect_restarted_once(const std::string& id, const std::vector<std::string>& broken) {
    ASSERT_TRUE(began(1)) << job(id).state << " " << text_of(output());
    EXPECT_TRUE(began_from(1, 7)) << text_of(root_ + "/from-1");
    for (const auto& node : broken) EXPECT_THAT(job(id).nodes, Not(Contains(node)));
    for (const auto& name : broken) {
      ASSERT_TRUE(healthd_says(name, "closed: node drained"));
      EXPECT_TRUE(node(name).drained) << name;
    }
    EXPECT_EQ(job(id).restarts, 1);
    EXPECT_EQ(lines_in("began-2"), 0U);
    EXPECT_TRUE(completes(id)) << job(id).state;
    EXPECT_EQ(twice(), "");
  }
};

// The first node has the job's script too, the last one only a rank.
class FaultDuringStart : public RecoveryMoments, public testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(Nodes, FaultDuringStart, testing::Bool(),
                         [](const auto& node) { return node.param ? "OfTheScript" : "OfARank"; });

TEST_P(FaultDuringStart, TheJobStartsElsewhereInItsPlace) {
  start(gated("Prolog"));
  for (const auto& name : cluster().nodes()) close_gate(name);
  const auto id = submit_with_checkpoints();
  ASSERT_TRUE(wait_until([&] { return job(id).state == "RUNNING"; }));
  const auto nodes = job(id).nodes;
  const auto broken = GetParam() ? nodes.front() : nodes.back();
  for (const auto& name : cluster().nodes())
    if (name != broken) open_gate(name);
  ASSERT_TRUE(waits_at_gate(broken)) << text_of(output());
  inject(broken);
  ASSERT_TRUE(healthd_says(broken, "requeueing job " + id));
  open_gate(broken);
  expect_restarted_once(id, {broken});
  EXPECT_LE(lines_in("began-0"), 2U);
}

TEST_F(RecoveryMoments, AJobThatHasDoneItsWorkWhenItsNodeFailsIsNotRunAgain) {
  start(gated("Epilog"));
  const auto id = submit_with_checkpoints();
  ASSERT_TRUE(began(0)) << text_of(output());
  const auto broken = job(id).nodes.back();
  close_gate(broken);
  ASSERT_TRUE(write_file(root_ + "/finish", "").ok());
  ASSERT_TRUE(waits_at_gate(broken));
  inject(broken);
  ASSERT_TRUE(healthd_says(broken, "closed: node drained"));
  open_gate(broken);
  ASSERT_TRUE(wait_until([&] { return job(id).state == "COMPLETED"; })) << job(id).state;
  EXPECT_EQ(job(id).restarts, 0);
  EXPECT_EQ(lines_in("began-1"), 0U);
  EXPECT_TRUE(node(broken).drained);
  // Nor later: nothing of it is left in the queue.
  EXPECT_TRUE(wait_until([&] {
    return cluster().run({"squeue", "-h", "-j", id, "-t", "PD,R,CG", "-o", "%T"}).output.empty();
  }));
}

TEST_F(RecoveryMoments, TwoNodesThatFailAtOnceCostTheirJobOneRestart) {
  start(small());
  const auto id = submit_with_checkpoints();
  ASSERT_TRUE(began(0)) << text_of(output());
  const auto broken = job(id).nodes;
  for (const auto& name : broken) inject(name);
  expect_restarted_once(id, broken);
}

TEST_F(RecoveryMoments, ASecondNodeThatFailsWhileTheJobLeavesTheFirstCostsNoRestartOfItsOwn) {
  start(gated("Epilog"));
  const auto id = submit_with_checkpoints();
  ASSERT_TRUE(began(0)) << text_of(output());
  const auto broken = job(id).nodes;
  for (const auto& name : broken) close_gate(name);
  inject(broken.front());
  for (const auto& name : broken) ASSERT_TRUE(waits_at_gate(name));
  inject(broken.back());
  ASSERT_TRUE(wait_until([&] { return node(broken.back()).drained; }));
  for (const auto& name : broken) open_gate(name);
  expect_restarted_once(id, broken);
}

TEST_F(RecoveryMoments, AFaultRightAfterTheRestartIsAnotherRestartFromWhatIsNewestThen) {
  start(small());
  const auto id = submit_with_checkpoints();
  ASSERT_TRUE(began(0)) << text_of(output());
  const auto first = job(id).nodes.back();
  inject(first);
  ASSERT_TRUE(runs_again(id, 1));
  const auto second = job(id).nodes.front();
  EXPECT_NE(second, first);
  complete_checkpoint(8);
  make_checkpoint(9);
  inject(second);
  ASSERT_TRUE(began(2)) << job(id).state << " " << text_of(output());
  EXPECT_TRUE(began_from(2, 8)) << text_of(root_ + "/from-2");
  EXPECT_THAT(job(id).nodes, Not(Contains(first)));
  EXPECT_THAT(job(id).nodes, Not(Contains(second)));
  for (const auto& name : {first, second})
    ASSERT_TRUE(healthd_says(name, "closed: node drained")) << name;
  EXPECT_EQ(job(id).restarts, 2);
  EXPECT_LE(lines_in("began-1"), 2U);
  EXPECT_TRUE(completes(id)) << job(id).state;
  EXPECT_EQ(twice(), "");
}

}  // namespace
}  // namespace acrf::minicluster
