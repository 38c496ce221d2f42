// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/placement.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>

#include "random.h"

namespace acrf {
namespace {

using testing::ElementsAre;

// 4 leaves of 4 nodes, two pods, 8 GPUs a node: two groups of four, tightly linked inside.
class PlacementTest : public testing::Test {
 protected:
  PlacementTest() {
    std::vector<std::vector<int>> links(8, std::vector<int>(8, 1));
    for (std::size_t i = 0; i < 8; ++i)
      for (std::size_t j = 0; j < 8; ++j)
        if (i / 4 == j / 4) links[i][j] = 18;
    kind_ = inventory_.add_kind(GpuGroups(8, links));
    for (int node = 0; node < 16; ++node) use(node, 0);
  }

  static Topology two_pods() {
    std::vector<std::string> nodes;
    for (int i = 0; i < 16; ++i) nodes.push_back("n" + std::to_string(i));
    return *Topology::parse(
        "SwitchName=l0 Nodes=n[0-3]\nSwitchName=l1 Nodes=n[4-7]\n"
        "SwitchName=l2 Nodes=n[8-11]\nSwitchName=l3 Nodes=n[12-15]\n"
        "SwitchName=p0 Switches=l[0-1]\nSwitchName=p1 Switches=l[2-3]\n"
        "SwitchName=core Switches=p[0-1]\n",
        "topology.conf", nodes);
  }

  NodeState state(GpuMask busy) const {
    NodeState state;
    state.gpus = 0xff;
    state.free = 0xff & ~busy;
    state.type = 7;
    state.kind = kind_;
    state.cpus = 64;
    state.free_cpus = 64 - 8 * static_cast<unsigned>(std::popcount(busy));
    state.memory_mb = state.free_memory_mb = 1000;
    return state;
  }
  void use(int node, GpuMask busy) { inventory_.set(node, state(busy)); }
  void put_health(int node, NodeHealth health, GpuMask busy = 0) {
    auto changed = state(busy);
    changed.health = health;
    inventory_.set(node, changed);
  }

  bool place(const PlaceRequest& request) {
    NodeSet all(16);
    for (int i = 0; i < 16; ++i) all.set(i);
    for (const int node : excluded_) all.clear(node);
    return placement_.place(request, all, required_, avoid_, plan_);
  }
  std::vector<int> placed(const PlaceRequest& request) {
    if (!place(request)) return {};
    std::vector<int> positions;
    for (const auto& node : plan_.nodes) positions.push_back(node.position);
    return positions;
  }
  static PlaceRequest nodes(int count, int gpus = 8) {
    PlaceRequest request;
    request.min_nodes = request.max_nodes = count;
    request.gpus_per_node = gpus;
    return request;
  }
  static PlaceRequest total(int gpus) {
    PlaceRequest request;
    request.max_nodes = 1000;
    request.total_gpus = gpus;
    return request;
  }

  Topology topology_ = two_pods();
  Inventory inventory_{16};
  Placement placement_{topology_, inventory_};
  int kind_ = 0;
  std::vector<int> excluded_;
  const NodeSet* required_ = nullptr;
  const NodeSet* avoid_ = nullptr;
  Plan plan_;
};

TEST_F(PlacementTest, WholeNodesGoToTheTightestLeaf) {
  use(4, 1);
  use(5, 1);
  EXPECT_THAT(placed(nodes(2)), ElementsAre(6, 7));
  EXPECT_TRUE(plan_.certified);
  EXPECT_EQ(plan_.cost, 0);
  EXPECT_THAT(placed(nodes(6)), ElementsAre(0, 1, 2, 3, 6, 7));
  EXPECT_EQ(plan_.leaves, 2);
  EXPECT_EQ(plan_.pods, 1);
}

TEST_F(PlacementTest, SmallJobsFillNodesThatAreInUse) {
  use(9, 0x0f);
  EXPECT_THAT(placed(nodes(1, 2)), ElementsAre(9));
  EXPECT_EQ(plan_.nodes[0].gpus, 0x30u);
  EXPECT_THAT(placed(total(4)), ElementsAre(9));
  EXPECT_EQ(plan_.nodes[0].gpus, 0xf0u);
}

TEST_F(PlacementTest, GroupsOfGpusAreTheBestLinked) {
  for (int node = 0; node < 16; ++node) use(node, 0xff);
  use(3, 0b11000110);  // free: 0, 3 of the one group and 4, 5 of the other
  EXPECT_THAT(placed(nodes(1, 2)), ElementsAre(3));
  EXPECT_EQ(inventory_.groups(kind_).weight_inside(plan_.nodes[0].gpus), 18);
  use(5, 0b00001111);  // a whole group is free here
  EXPECT_THAT(placed(nodes(1, 3)), ElementsAre(5));
  EXPECT_EQ(inventory_.groups(kind_).weight_inside(plan_.nodes[0].gpus), 3 * 18);
}

TEST_F(PlacementTest, TotalsUseWholeNodesAndOneForTheRest) {
  use(2, 0x0f);
  EXPECT_THAT(placed(total(20)), ElementsAre(0, 1, 2));
  EXPECT_EQ(std::popcount(plan_.nodes[2].gpus), 4);
  EXPECT_THAT(placed(total(128 - 4)).size(), 16u);
  EXPECT_FALSE(place(total(128)));
}

TEST_F(PlacementTest, TotalsAreGatheredFromNodesInUseWhenNoneIsWhole) {
  for (int node = 0; node < 16; ++node) use(node, node / 4 == 2 ? 0x0f : 0x7f);
  EXPECT_THAT(placed(total(12)), ElementsAre(8, 9, 10));
  int gpus = 0;
  for (const auto& node : plan_.nodes) gpus += std::popcount(node.gpus);
  EXPECT_EQ(gpus, 12);
  auto by_task = total(12);
  by_task.gpu_step = 4;
  EXPECT_THAT(placed(by_task), ElementsAre(8, 9, 10));
}

TEST_F(PlacementTest, TiersComeBeforeCost) {
  put_health(0, {0b1, false, 0});
  put_health(1, {0, true, 0});
  EXPECT_THAT(placed(nodes(4, 4)), ElementsAre(4, 5, 6, 7));
  excluded_ = {4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  EXPECT_THAT(placed(nodes(2, 4)), ElementsAre(2, 3));
  EXPECT_THAT(placed(nodes(3, 4)), ElementsAre(0, 2, 3));  // a sick GPU before a doubtful node
  EXPECT_EQ(plan_.nodes[0].gpus & 1, 0u);
  EXPECT_EQ(plan_.avoidable, 1);
  EXPECT_THAT(placed(nodes(4, 4)), ElementsAre(0, 1, 2, 3));
  EXPECT_TRUE(placed(nodes(4, 8)).empty());  // only three nodes have eight healthy GPUs
}

TEST_F(PlacementTest, RiskMattersToThoseWhoSaySo) {
  put_health(0, {0, false, 60});
  excluded_ = {4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  EXPECT_THAT(placed(nodes(1)), ElementsAre(0));
  auto careful = nodes(1);
  careful.risk_limit = 50;
  EXPECT_THAT(placed(careful), ElementsAre(1));
}

TEST_F(PlacementTest, NodesOnProbationAreForSmallJobs) {
  for (int node = 0; node < 15; ++node) use(node, 0xff);
  use(3, 0);
  put_health(15, {0, false, 0, true}, 0b1);
  EXPECT_THAT(placed(nodes(1, 4)), ElementsAre(15));  // tightest: a small job does not mind
  auto careful = nodes(1, 4);
  careful.risk_limit = 50;
  EXPECT_THAT(placed(careful), ElementsAre(3));
  use(4, 0b11);
  const auto pair = placed(nodes(2, 4));
  EXPECT_EQ(std::count(pair.begin(), pair.end(), 15), 0);
  use(4, 0xff);
  EXPECT_THAT(placed(nodes(2, 4)), testing::UnorderedElementsAre(3, 15));  // nothing else fits
}

TEST_F(PlacementTest, TheNodeThatKilledTheJobIsTheLastResort) {
  NodeSet guilty(16);
  guilty.set(0);
  guilty.set(1);
  avoid_ = &guilty;
  excluded_ = {4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  EXPECT_THAT(placed(nodes(2)), ElementsAre(2, 3));
  EXPECT_EQ(placed(nodes(3)).size(), 3u);
}

TEST_F(PlacementTest, LighterNodesComeFirst) {
  for (int node = 0; node < 16; ++node) {
    auto heavy = state(0);
    heavy.weight = node == 3 || node == 9 ? 1 : 10;
    inventory_.set(node, heavy);
  }
  EXPECT_THAT(placed(nodes(1)), ElementsAre(3));
  EXPECT_THAT(placed(nodes(2)), ElementsAre(3, 9));
}

TEST_F(PlacementTest, RequiredNodesAreTakenAndJoined) {
  NodeSet wanted(16);
  wanted.set(13);
  required_ = &wanted;
  EXPECT_THAT(placed(nodes(3)), testing::AllOf(testing::SizeIs(3), testing::Contains(13),
                                               testing::Each(testing::Ge(12))));
  use(13, 1);
  EXPECT_FALSE(place(nodes(3)));
}

TEST_F(PlacementTest, SpreadUsesEveryFailureDomainEvenly) {
  auto request = nodes(8);
  request.shape = Shape::kSpread;
  ASSERT_TRUE(place(request));
  for (const auto& share : plan_.shares) EXPECT_EQ(share.count, 2);
  EXPECT_EQ(plan_.shares.size(), 4u);
  for (const int node : {0, 1, 2}) use(node, 1);  // one node is left on the first leaf
  ASSERT_TRUE(place(request));
  EXPECT_EQ(plan_.shares[0].count, 1);
  EXPECT_EQ(plan_.shares[1].count, 3);
}

TEST_F(PlacementTest, AnyKeepsLeavesWhole) {
  for (const int node : {0, 1, 8}) use(node, 1);
  auto request = nodes(5);
  request.shape = Shape::kAny;
  EXPECT_THAT(placed(request), ElementsAre(2, 3, 9, 10, 11));
}

TEST_F(PlacementTest, RailsKeepTheSameGpusOnAllNodes) {
  for (int node = 0; node < 16; ++node) use(node, node == 0 ? 0b1 : node == 1 ? 0b10 : 0xff);
  place(nodes(2, 2));
  EXPECT_NE(plan_.nodes[0].gpus, plan_.nodes[1].gpus);
  std::vector<std::string> names;
  for (int i = 0; i < 16; ++i) names.push_back("n" + std::to_string(i));
  ASSERT_TRUE(topology_.refine("Switch=p0 Rails=yes\n", "t", names));
  Placement placement(topology_, inventory_);
  NodeSet all(16);
  all.set(0);
  all.set(1);
  ASSERT_TRUE(placement.place(nodes(2, 2), all, nullptr, nullptr, plan_));
  EXPECT_EQ(plan_.nodes[0].gpus, 0b1100u);
  EXPECT_EQ(plan_.nodes[1].gpus, 0b1100u);
}

TEST_F(PlacementTest, CpusAndMemoryCount) {
  auto request = nodes(1, 1);
  request.total_cpus = 60;
  use(0, 1);  // 56 CPUs are left there
  EXPECT_THAT(placed(request), testing::Not(ElementsAre(0)));
  request.total_cpus = 50;
  EXPECT_THAT(placed(request), ElementsAre(0));
  request.memory_per_node_mb = 1001;
  EXPECT_FALSE(place(request));
}

TEST_F(PlacementTest, EverIgnoresWhatIsInUse) {
  for (int node = 0; node < 16; ++node) use(node, 0xff);
  auto request = nodes(16);
  EXPECT_FALSE(place(request));
  request.ever = true;
  EXPECT_TRUE(place(request));
  request.min_nodes = request.max_nodes = 17;
  EXPECT_FALSE(place(request));
}

TEST_F(PlacementTest, NodesAreGivenUpToTheMost) {
  auto request = nodes(2);
  request.max_nodes = 20;
  EXPECT_EQ(placed(request).size(), 16u);
  request.whole_nodes = true;
  for (int node = 3; node < 16; ++node) use(node, 1);
  EXPECT_THAT(placed(request), ElementsAre(0, 1, 2));
}

// Nodes lose GPUs and get others: what one mask stood for it stands for no more.
TEST_F(PlacementTest, WholeNodesGiveTheGpusThatTheyHave) {
  Random random(12);
  for (int i = 0; i < 200; ++i) {
    Inventory inventory(16);
    Placement placement(topology_, inventory);
    for (int step = 0; step < 25; ++step) {
      auto changed = state(0);
      if (step >= 16) changed.gpus = random.one_in(2) ? 0xf0 : 0x0f;
      changed.free = random.one_in(4) ? 0 : changed.gpus;
      changed.kind = 0;
      changed.plannable = !random.one_in(5);
      if (random.one_in(5)) changed.gpus = changed.free = 0;
      inventory.set(step < 16 ? step : random.below(2), changed);
      NodeSet all(16);
      for (int node = 0; node < 16; ++node) all.set(node);
      const auto request = nodes(1 + random.below(3), random.one_in(2) ? 4 : 8);
      if (!placement.place(request, all, nullptr, nullptr, plan_)) continue;
      for (const auto& node : plan_.nodes) {
        ASSERT_EQ(node.gpus & ~inventory.node(node.position).healthy_free(), 0u);
        ASSERT_EQ(std::popcount(node.gpus), request.gpus_per_node);
      }
    }
  }
}

TEST_F(PlacementTest, NeverGivesWhatIsBusyOrQuarantined) {
  Random random(11);
  for (int i = 0; i < 5000; ++i) {
    for (int node = 0; node < 16; ++node)
      put_health(node,
                 {random.below(4) ? 0 : GpuMask{1} << random.below(8), random.below(8) == 0, 0},
                 random.below(2) ? 0 : static_cast<GpuMask>(random.below(256)));
    auto request = random.below(2) ? nodes(1 + random.below(6), 1 + random.below(8))
                                   : total(1 + random.below(40));
    request.shape = static_cast<Shape>(random.below(4));
    if (!place(request)) continue;
    int gpus = 0;
    for (const auto& node : plan_.nodes) {
      const auto& there = inventory_.node(node.position);
      ASSERT_EQ(node.gpus & ~there.healthy_free(), 0u);
      gpus += std::popcount(node.gpus);
      if (request.gpus_per_node) {
        ASSERT_EQ(std::popcount(node.gpus), request.gpus_per_node);
      }
    }
    if (request.total_gpus) {
      ASSERT_EQ(gpus, request.total_gpus);
    }
    ASSERT_TRUE(std::adjacent_find(plan_.nodes.begin(), plan_.nodes.end(), [](auto& a, auto& b) {
                  return a.position == b.position;
                }) == plan_.nodes.end());
  }
}

}  // namespace
}  // namespace acrf
