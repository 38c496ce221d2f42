// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/replicas.h"

#include <gmock/gmock.h>

namespace acrf {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

NodeSet set_of(const std::vector<int>& positions) {
  NodeSet set(6);
  for (const int position : positions) set.set(position);
  return set;
}

// Three leaves of two nodes.
std::vector<int> avoided(const std::vector<int>& candidates, const std::vector<int>& siblings) {
  const auto topology = *Topology::parse(
      "SwitchName=l1 Nodes=n[1-2]\nSwitchName=l2 Nodes=n[3-4]\nSwitchName=l3 Nodes=n[5-6]\n"
      "SwitchName=top Switches=l[1-3]\n",
      "topology.conf", {"n1", "n2", "n3", "n4", "n5", "n6"});
  NodeSet avoid(6);
  keep_apart(topology, set_of(candidates), set_of(siblings), avoid);
  std::vector<int> positions;
  avoid.each([&](int position) {
    positions.push_back(position);
    return true;
  });
  return positions;
}

TEST(KeepApart, TheFirstReplicaMayGoAnywhere) {
  EXPECT_THAT(avoided({0, 1, 2, 3, 4, 5}, {}), IsEmpty());
}

TEST(KeepApart, ALeafWithASiblingIsAvoidedWhileAnotherHasRoom) {
  EXPECT_THAT(avoided({1, 2, 3, 4, 5}, {0}), ElementsAre(0, 1));
  EXPECT_THAT(avoided({1, 3, 4, 5}, {0, 2}), ElementsAre(0, 1, 2, 3));
}

TEST(KeepApart, WhenAllHaveOneTheFewestCount) {
  EXPECT_THAT(avoided({1, 3, 5}, {0, 2, 4}), ElementsAre(0, 2, 4));
  EXPECT_THAT(avoided({3, 5}, {0, 1, 2, 4}), ElementsAre(0, 1, 2, 4));
}

TEST(KeepApart, ALeafWithoutRoomSetsNoMeasure) {
  EXPECT_THAT(avoided({1, 3}, {0, 2}), ElementsAre(0, 2));
}

}  // namespace
}  // namespace acrf
