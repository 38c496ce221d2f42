// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/topology.h"

#include <gmock/gmock.h>

#include "core/hostlist.h"

namespace acrf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> names(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back("n" + std::to_string(i));
  return names;
}

std::string problem(std::string_view text, int nodes = 8) {
  const auto topology = Topology::parse(text, "topology.conf", names(nodes));
  return topology ? "none" : topology.error().sentence;
}

TEST(Hostlist, ExpandsAndCompresses) {
  EXPECT_THAT(*expand_hostlist("n[1-3,7]"), ElementsAre("n1", "n2", "n3", "n7"));
  EXPECT_THAT(*expand_hostlist("a, r[01-02]c[1-2]"),
              ElementsAre("a", "r01c1", "r01c2", "r02c1", "r02c2"));
  EXPECT_EQ(compress_hostlist({"n8", "n9", "n10", "n12", "a", "x01", "x02"}),
            "n[8-10,12],a,x[01-02]");
  for (const auto* bad : {"n[1-", "n[a]", "n[3-1]", "a,,b", "", "n[1-99999999]"})
    EXPECT_FALSE(expand_hostlist(bad)) << bad;
}

TEST(Topology, SwitchesAreRangesOfPositions) {
  const auto topology = *Topology::parse(
      "# racks\nSwitchName=a Nodes=n[4-5]\nSwitchName=b \\\n Nodes=n[0-1],n7 LinkSpeed=400\n"
      "switchname=top switches=a,b\n",
      "topology.conf", names(8));
  ASSERT_EQ(topology.leaves().size(), 3u);  // and one for the nodes that no switch names
  for (const auto& leaf : topology.leaves()) {
    const auto& there = topology.switches()[static_cast<std::size_t>(leaf)];
    for (int at = there.first; at < there.end; ++at)
      EXPECT_EQ(&topology.leaf(topology.leaf_of(at)), &there);
  }
  for (int node = 0; node < 8; ++node)
    EXPECT_EQ(topology.node_at(topology.position_of(node)), node);
  const auto distance = [&](int a, int b) {
    return topology.distance(topology.position_of(a), topology.position_of(b));
  };
  EXPECT_EQ(distance(4, 5), 0);
  EXPECT_EQ(distance(4, 7), 2);
  EXPECT_GT(distance(4, 3), 2);
  EXPECT_FALSE(topology.is_identity());
}

TEST(Topology, BlocksAreLeaves) {
  const auto topology = *Topology::parse(
      "BlockName=b1 Nodes=n[0-3]\nBlockName=b2 Nodes=n[4-7]\nBlockSizes=4,8\n", "t", names(8));
  EXPECT_EQ(topology.leaves().size(), 2u);
  EXPECT_TRUE(topology.is_identity());
}

TEST(Topology, KnowsWhatNoSwitchJoins) {
  auto two = *Topology::parse("SwitchName=a Nodes=n[0-1]\nSwitchName=b Nodes=n[2-3]\n",
                              "topology.conf", names(5));
  const auto joined = [&](int a, int b) {
    return two.are_joined(two.position_of(a), two.position_of(b));
  };
  const auto expect = [&] {
    EXPECT_TRUE(joined(0, 1));
    EXPECT_TRUE(joined(2, 2));
    EXPECT_FALSE(joined(1, 2));
    EXPECT_FALSE(joined(4, 4));  // below no switch at all
  };
  expect();
  ASSERT_TRUE(two.refine("Domain=d Nodes=n[0-1]\n", "acrf-topology.conf", names(5)).ok());
  expect();
  const auto one = *Topology::parse(
      "SwitchName=a Nodes=n0\nSwitchName=b Nodes=n1\nSwitchName=top Switches=a,b\n",
      "topology.conf", names(2));
  EXPECT_TRUE(one.are_joined(0, 1));
}

TEST(Topology, NoFileIsOneLeaf) {
  EXPECT_EQ(Topology::flat(5).leaves().size(), 1u);
  EXPECT_EQ(Topology::parse("# nothing\n", "t", names(5))->leaves().size(), 1u);
}

TEST(Topology, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(problem("SwitchName=a Nodes=n[0-9]"), HasSubstr("topology.conf:1: node n8"));
  EXPECT_THAT(problem("\nSwitchName=a"), HasSubstr("topology.conf:2: SwitchName needs"));
  EXPECT_THAT(problem("SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2"),
              HasSubstr(":2: a is defined"));
  EXPECT_THAT(problem("SwitchName=a Nodes=n1\nSwitchName=b Nodes=n1"),
              HasSubstr("below a already"));
  EXPECT_THAT(problem("SwitchName=a Switches=b"), HasSubstr("switch b is not defined"));
  EXPECT_THAT(problem("SwitchName=a Switches=b\nSwitchName=b Switches=a"), HasSubstr("loop"));
  EXPECT_THAT(problem("SwitchName=a Nodes=n[1"), HasSubstr("not closed"));
  EXPECT_THAT(problem("Hello world"), HasSubstr("not of the form"));
}

TEST(Topology, IsRefinedByWeightsDomainsAndRails) {
  auto topology = *Topology::parse(
      "SwitchName=a Nodes=n[0-3]\nSwitchName=b Nodes=n[4-7]\n"
      "SwitchName=top Switches=a,b\n",
      "t", names(8));
  ASSERT_TRUE(
      topology.refine("Level=0 Weight=5\nSwitch=b Weight=9 Rails=yes\n"
                      "Domain=nvl1 Nodes=n[2-3] Weight=2\n",
                      "acrf-topology.conf", names(8)));
  const auto at = [&](int node) { return topology.position_of(node); };
  EXPECT_EQ(topology.distance(at(2), at(3)), 0);
  EXPECT_EQ(topology.distance(at(0), at(2)), 3);  // both leave their part of the leaf
  EXPECT_EQ(topology.distance(at(0), at(4)), 1 + 5 + 9);
  EXPECT_TRUE(topology.leaf(topology.leaf_of(at(4))).rails);
  const auto before = topology.switches().size();
  for (const auto* bad : {"Domain=x Nodes=n0,n4", "Switch=zz Weight=1", "Level=0 Weight=0",
                          "Level=0", "Domain=x", "Rails=yes", "Switch=a Rails=maybe"}) {
    const auto refined = topology.refine(bad, "acrf-topology.conf", names(8));
    ASSERT_FALSE(refined) << bad;
    EXPECT_THAT(refined.error().sentence, HasSubstr("acrf-topology.conf:1: "));
  }
  EXPECT_EQ(topology.switches().size(), before);
}

}  // namespace
}  // namespace acrf
