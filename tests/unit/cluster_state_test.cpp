// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/cluster_state.h"

#include <gmock/gmock.h>

#include "build_paths.h"
#include "common/file.h"

namespace acrf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

Result<ClusterState> load(const std::string& name) {
  const auto text = read_file(ACRF_TEST_DATA "/state/" + name);
  EXPECT_TRUE(text.ok()) << name;
  return parse_cluster_state(*text, name);
}

TEST(ClusterState, NodesOneByOne) {
  const auto state = load("nodes.json");
  ASSERT_TRUE(state.ok()) << state.error().sentence;
  EXPECT_THAT(state->names, ElementsAre("n0", "n1", "n2"));
  EXPECT_EQ(state->nodes[0].gpus, 0b1111u);
  EXPECT_EQ(state->nodes[0].free, 0b1110u);
  EXPECT_EQ(state->kinds[static_cast<std::size_t>(state->nodes[0].kind)].best(0b1110, 2), 0b1100u);
  EXPECT_EQ(state->nodes[1].health, (NodeHealth{0b1000, true, 20}));
  EXPECT_EQ(state->nodes[1].free, 0b1111u);
  EXPECT_EQ(state->nodes[2].gpus, 0u);
}

TEST(ClusterState, NodesAllAlikeButForExceptions) {
  const auto state = load("alike.json");
  ASSERT_TRUE(state.ok()) << state.error().sentence;
  EXPECT_EQ(state->names.size(), 16u);
  EXPECT_EQ(state->nodes[0].free, 0xffu);
  EXPECT_EQ(state->nodes[4].free, 0xfcu);
  EXPECT_EQ(state->nodes[1].health.quarantined, 0x80u);
  EXPECT_TRUE(state->nodes[12].health.suspect);
  EXPECT_EQ(state->nodes[13].health.risk, 60);
}

TEST(ClusterState, NodesThatAreLinkedAlikeShareAKind) {
  const auto state = parse_cluster_state(
      R"({"nodes":[{"name":"a","gpus":2},{"name":"b","gpus":2},{"name":"c","gpus":4}]})", "x");
  ASSERT_TRUE(state.ok());
  EXPECT_EQ(state->kinds.size(), 2u);
}

TEST(ClusterState, InventoryIsByPosition) {
  const auto state = parse_cluster_state(
      R"({"nodes":"n[0-3]","gpus":8,"busy":{"n1":[0,1,2,3,4,5,6,7]},"suspect":"n0"})", "x");
  ASSERT_TRUE(state.ok());
  const auto topology = Topology::parse("SwitchName=a Nodes=n[2-3]\nSwitchName=b Nodes=n[0-1]\n",
                                        "topology.conf", state->names);
  ASSERT_TRUE(topology.ok());
  Inventory inventory(4);
  fill_inventory(*state, *topology, inventory);
  EXPECT_FALSE(inventory.with_free(1).test(topology->position_of(1)));
  EXPECT_TRUE(inventory.with_free(8).test(topology->position_of(2)));
  EXPECT_TRUE(inventory.suspect().test(topology->position_of(0)));
}

TEST(ClusterState, ErrorsNameFileAndField) {
  const std::pair<const char*, const char*> cases[] = {
      {"no-json.json", "no-json.json:3: "},
      {"unknown-field.json", "unknown-field.json: nodes[0].colour: "},
      {"no-such-gpu.json", "no-such-gpu.json: nodes[1].free: GPU 4"},
      {"twice.json", "twice.json: nodes[1].name: node n0 is named twice"},
      {"no-gpus.json", "no-gpus.json: nodes[0].gpus: "},
      {"no-name.json", "no-name.json: nodes[0].name: "},
      {"one-way-link.json", "one-way-link.json: nodes[0].links[1]: differs"},
      {"short-links.json", "short-links.json: nodes[0].links: must be 2 lists"},
      {"risk.json", "risk.json: nodes[0].risk: "},
      {"suspect.json", "suspect.json: nodes[0].suspect: "},
      {"busy-stranger.json", "busy-stranger.json: busy: node n9 is not among"},
      {"open-bracket.json", "open-bracket.json: nodes: "},
      {"nodes-number.json", "nodes-number.json: nodes: "},
      {"no-object.json", "no-object.json: nodes: "},
  };
  for (const auto& [name, start] : cases) {
    const auto state = load(name);
    ASSERT_FALSE(state.ok()) << name;
    EXPECT_THAT(state.error().sentence, StartsWith(start));
  }
}

TEST(ClusterState, AnyBrokenTextIsAnError) {
  for (const auto* text :
       {"", "{", "null", "7", "{\"nodes\":{}}", "{\"nodes\":[]}", "{\"nodes\":\"\",\"gpus\":8}",
        "{\"nodes\":[7]}", "{\"nodes\":\"\",\"gpus\":-1}", "{\"nodes\":\"n1\",\"gpus\":1.5}",
        "{\"nodes\":\"n1\",\"gpus\":99999999999999999999}", "{\"nodes\":\"n1\",\"gpus\":65}",
        "{\"nodes\":\"n1\",\"gpus\":2,\"suspect\":7}", "{\"nodes\":\"n1\",\"gpus\":2,\"risk\":7}",
        "{\"nodes\":\"n1\",\"gpus\":2,\"busy\":{\"n1\":0}}",
        "{\"nodes\":\"n1\",\"gpus\":2,\"quarantined\":{\"n1\":[2]}}",
        "{\"nodes\":\"\xff\",\"gpus\":2}"})
    EXPECT_FALSE(parse_cluster_state(text, "x").ok()) << text;
}

}  // namespace
}  // namespace acrf
