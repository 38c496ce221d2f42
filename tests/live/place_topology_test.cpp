// SPDX-License-Identifier: GPL-2.0-or-later
// What select/acrf makes of topology.conf and acrf-topology.conf.
#include <slurm/slurm_version.h>

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

class PlaceByTopology : public Place {
 protected:
  // As an admin does it.
  void refine(const std::string& text) {
    ASSERT_TRUE(write_file(cluster().path("etc/acrf-topology.conf"), text).ok());
    admin({"reconfigure"});
  }
};

TEST_F(PlaceByTopology, JobsTakeTheLighterLinks) {
  start(clos());
  refine("Switch=l1 Weight=50\n");  // three nodes need both leaves of a pod
  EXPECT_THAT(placed({"-N3", "--gpus-per-node=8"}), Each(AnyOf("n5", "n6", "n7", "n8")));
  cancel(last_);
  refine("Switch=l3 Weight=50\n");
  EXPECT_THAT(placed({"-N3", "--gpus-per-node=8"}), Each(AnyOf("n1", "n2", "n3", "n4")));
}

TEST_F(PlaceByTopology, NodesThatNvlinkJoinsAreTakenTogether) {
  auto options = flat(6);
  options.topology = "SwitchName=l1 Nodes=n[1-6]\n";
  start(options);
  refine("Domain=a Nodes=n[2,5]\nDomain=b Nodes=n[1,3-4,6]\n");
  EXPECT_THAT(placed({"-N2", "--gpus-per-node=8"}), ElementsAre("n2", "n5"));
  EXPECT_THAT(placed({"-N3", "--gpus-per-node=8"}), Each(AnyOf("n1", "n3", "n4", "n6")));
}

TEST_F(PlaceByTopology, OnRailsAJobGetsTheSameGpusOnAllItsNodes) {
  auto options = flat(2);
  options.topology = "SwitchName=l1 Nodes=n[1-2]\n";
  start(options);
  refine("Switch=l1 Rails=yes\n");
  placed({"--gpus=4", "--nodelist=n1"});
  EXPECT_THAT(gres(last_), HasSubstr("IDX:0-3"));
  EXPECT_THAT(placed({"-N2", "--gpus-per-node=2"}), SizeIs(2));
  EXPECT_THAT(gres(last_), AllOf(HasSubstr("IDX:4-5"), Not(HasSubstr("IDX:0"))));
}

TEST_F(PlaceByTopology, ABadTopologyLeavesAllToConsTres) {
  start(flat(2));
  refine("Switch=nowhere Weight=3\n");
  for (int i = 0; i < 4; ++i) {
    EXPECT_THAT(placed({"--gpus=2"}), SizeIs(1));
    EXPECT_THAT(decision(last_), HasSubstr("\"outcome\":\"no-engine\""));
  }
  // A typing error gives out no GPU that is in quarantine.
  set_health("n2", "acrf:gpus=0");
  EXPECT_THAT(placed({"--gpus=1", "--nodelist=n2"}), ElementsAre("n2"));
  EXPECT_THAT(decision(last_), HasSubstr("\"outcome\":\"no-engine\""));
  EXPECT_THAT(gres(last_), Not(HasSubstr("IDX:0")));
  const auto log = text_of(cluster().path("log/slurmctld.log"));
  EXPECT_THAT(
      log, HasSubstr("acrf-topology.conf:1: switch nowhere is not in topology.conf; leaving all"));
  const std::string fallback =
      "no placement engine for this node table and topology; plain cons_tres";
  const auto said = log.find(fallback);
  ASSERT_NE(said, std::string::npos);
  EXPECT_EQ(log.find(fallback, said + 1), std::string::npos);  // once a minute
  refine("Level=0 Weight=3\n");
  EXPECT_THAT(placed({"--gpus=4"}), SizeIs(1));
  EXPECT_THAT(decision(last_), HasSubstr("\"outcome\":\"placed\""));
}

TEST_F(PlaceByTopology, NoJobSpansSwitchesThatNothingJoins) {
  auto options = flat(4);
  options.topology = "SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[3-4]\n";
  start(options);
  EXPECT_THAT(placed({"-N2", "--gpus-per-node=4"}),
              AnyOf(ElementsAre("n1", "n2"), ElementsAre("n3", "n4")));
  // As without ACRF: topology/tree finds no place for three.
  EXPECT_FALSE(cluster().run({"sbatch", "-N3", "--gpus-per-node=4", "--wrap=true"}).ok());
}

TEST_F(PlaceByTopology, JobsStayWithinSlurmsBlocks) {
  if (SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(23, 11, 0))
    GTEST_SKIP() << "this Slurm has no topology/block";
  auto options = flat(8);
  options.topology = "BlockName=b1 Nodes=n[1-4]\nBlockName=b2 Nodes=n[5-8]\nBlockSizes=4,8\n";
  start(options);
  placed({"--gpus=8", "--nodelist=n1"});
  // A whole block for four, though the other one's nodes come first.
  EXPECT_THAT(placed({"-N4", "--gpus-per-node=8"}), ElementsAre("n5", "n6", "n7", "n8"));
  EXPECT_THAT(decision(last_),
              AllOf(HasSubstr("\"outcome\":\"placed\""), HasSubstr("\"leaves\":1")));
  cancel(last_);
  // Two stay together, in the block that is in use already.
  EXPECT_THAT(placed({"-N2", "--gpus-per-node=8"}), Each(AnyOf("n2", "n3", "n4")));
  EXPECT_THAT(decision(last_), HasSubstr("\"outcome\":\"placed\""));
  // More than one block has free; and a shape that only Slurm knows is left to it.
  EXPECT_THAT(placed({"-N5", "--gpus-per-node=8"}), SizeIs(5));
  EXPECT_THAT(decision(last_), HasSubstr("\"leaves\":2"));
  cancel(last_);
  EXPECT_THAT(placed({"-N4", "--gpus-per-node=8", "--segment=2"}), SizeIs(4));
  EXPECT_THAT(decision(last_), HasSubstr("\"outcome\":\"passed\""));
}

TEST_F(PlaceByTopology, JobsLearnTheBestOrderOfTheirRanks) {
  auto options = clos();
  options.topology =  // leaves that do not follow the numbers of the nodes
      "SwitchName=l1 Nodes=n[1,3]\nSwitchName=l2 Nodes=n[2,4]\nSwitchName=top Switches=l[1-2]\n"
      "SwitchName=far Nodes=n[5-8]\n";
  start(options);
  const auto out = cluster().path("order.out");
  const auto done =
      cluster().run({"sbatch", "--wait", "-N4", "--ntasks-per-node=2", "--gpus-per-node=8",
                     "--nodelist=n[1-4]", "--output=" + out,
                     "--wrap=echo order $ACRF_RANK_ORDER; acrf rank-order --tasks-per-node 2 > "
                     "$SLURM_JOB_ID.hosts;"
                     " SLURM_HOSTFILE=$SLURM_JOB_ID.hosts srun -n8 --distribution=arbitrary sh -c "
                     "'echo rank $SLURM_PROCID $SLURMD_NODENAME' | sort; rm $SLURM_JOB_ID.hosts"});
  EXPECT_TRUE(done.ok()) << done.errors;
  EXPECT_THAT(text_of(out),
              AllOf(HasSubstr("order n[1,3,2,4]"), HasSubstr("rank 2 n3"), HasSubstr("rank 4 n2")));
}

}  // namespace
}  // namespace acrf::minicluster
