// SPDX-License-Identifier: GPL-2.0-or-later
#include <gmock/gmock.h>

#include "build_paths.h"
#include "temporary_directory.h"
#include "tools/acrf/place.h"

namespace acrf {
namespace {

using nlohmann::ordered_json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

PlaceOptions two_pods() {
  PlaceOptions options;
  options.state = ACRF_TEST_DATA "/state/alike.json";
  options.topology = ACRF_TEST_DATA "/state/topology.conf";
  return options;
}

ordered_json answer_to(const Result<ordered_json>& answer) {
  EXPECT_TRUE(answer.ok()) << answer.error().sentence;
  return answer ? *answer : ordered_json{{"fits", false}};
}

ordered_json placed(const std::string& request, PlaceOptions options = two_pods()) {
  options.request = request;
  return answer_to(place_job(options));
}

ordered_json replaced(const std::string& job, const std::string& lost,
                      PlaceOptions options = two_pods()) {
  options.job = job;
  options.lost = lost;
  return answer_to(replace_lost(options));
}

std::vector<std::string> names(const ordered_json& answer) {
  std::vector<std::string> found;
  if (!answer["fits"].get<bool>()) return found;
  for (const auto& node : answer["nodes"]) found.push_back(node["name"].get<std::string>());
  return found;
}

TEST(PlaceCommand, PlacesWholeHealthyNodesOnTheTightestLeaf) {
  const auto answer = placed("nodes=3,gpus-per-node=8");
  EXPECT_THAT(names(answer), ElementsAre("n0", "n2", "n3"));
  EXPECT_EQ(answer["cost"], 0);
  EXPECT_EQ(answer["leaves"], 1);
  EXPECT_EQ(answer["pods"], 1);
  EXPECT_EQ(answer["certified"], true);
  EXPECT_EQ(answer["nodes"][2]["rank"], 2);
  EXPECT_EQ(answer["nodes"][2]["leaf"], "l0");
  EXPECT_EQ(answer["nodes"][2]["gpus"], ordered_json({0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(PlaceCommand, PlacesAFewGpusOnANodeInUse) {
  const auto answer = placed("gpus=4");
  EXPECT_THAT(names(answer), ElementsAre("n9"));
  EXPECT_EQ(answer["nodes"][0]["gpus"], ordered_json({4, 5, 6, 7}));
}

TEST(PlaceCommand, KeepsToTheListsOfNodes) {
  auto options = two_pods();
  options.require = "n15";
  options.exclude = "n14";
  EXPECT_THAT(names(placed("nodes=2,gpus-per-node=8", options)), ElementsAre("n13", "n15"));
  options.avoid = "n13";
  EXPECT_THAT(names(placed("nodes=2,gpus-per-node=8", options)), ElementsAre("n8", "n15"));
}

TEST(PlaceCommand, NoRoomIsAnAnswer) {
  EXPECT_EQ(placed("nodes=16,gpus-per-node=8")["fits"], false);
  EXPECT_EQ(replaced("n[0-15]", "n3")["fits"], false);
}

TEST(PlaceCommand, WithoutTopologyAllNodesAreOnOneSwitch) {
  auto options = two_pods();
  options.topology.clear();
  EXPECT_EQ(placed("nodes=10,gpus-per-node=8", options)["leaves"], 1);
}

TEST(PlaceCommand, ReplacesALostNodeNextToItsNeighbours) {
  const auto answer = replaced("n[8,10-11,14]", "n10");
  // n9 is in use; n12 and n13 of the next leaf are suspect and at risk.
  EXPECT_THAT(names(answer), ElementsAre("n8", "n13", "n11", "n14"));
  EXPECT_EQ(answer["nodes"][1]["replaces"], "n10");
  EXPECT_EQ(answer["nodes"][1]["new"], true);
  EXPECT_EQ(answer["nodes"][0]["new"], false);
  EXPECT_EQ(answer["cost_before"], 2);
  EXPECT_EQ(answer["cost"], 4);
  EXPECT_EQ(answer["lower_bound"], 4);
  EXPECT_EQ(answer["certified"], true);
}

TEST(PlaceCommand, ReplacesWithPartOfANodeIfThatIsWhatTheJobHas) {
  auto options = two_pods();
  options.request = "gpus-per-node=4";
  const auto answer = replaced("n[8,10-11]", "n10", options);
  EXPECT_THAT(names(answer), ElementsAre("n8", "n9", "n11"));
  EXPECT_EQ(answer["nodes"][1]["gpus"], ordered_json({4, 5, 6, 7}));
}

TEST(PlaceCommand, CostsOfPlacingAndReplacingAreTheSame) {
  const auto before = placed("nodes=6,gpus-per-node=8,shape=spread");
  std::string job;
  for (const auto& name : names(before)) job += (job.empty() ? "" : ",") + name;
  EXPECT_EQ(replaced(job, "")["cost"], before["cost"]);
}

TEST(PlaceCommand, NewRanksAreInDepthFirstOrder) {
  auto options = two_pods();
  options.new_ranks = true;
  EXPECT_THAT(names(replaced("n[14,8,11]", "n14", options)), ElementsAre("n8", "n10", "n11"));
}

TEST(PlaceCommand, HostFileHasOneLinePerRank) {
  const auto answer = placed("nodes=2,gpus-per-node=8,shape=block");
  EXPECT_EQ(hostfile_text(answer, 1), names(answer)[0] + "\n" + names(answer)[1] + "\n");
  EXPECT_EQ(hostfile_text(placed("gpus=4"), 2), "n9\nn9\n");
}

TEST(PlaceCommand, TextSaysWhatTheAnswerSays) {
  const auto text = place_text(replaced("n[8,10-11,14]", "n10"));
  EXPECT_THAT(text, HasSubstr("1  n13"));
  EXPECT_THAT(text, HasSubstr("GPUs 0-7  replaces n10\n"));
  EXPECT_THAT(text, HasSubstr("cost 4, before the loss 2, on 2 leaves in 1 pods, proven"));
}

std::string error_of(const PlaceOptions& options, bool replace = false) {
  const auto answer = replace ? replace_lost(options) : place_job(options);
  return answer ? "" : answer.error().sentence;
}

TEST(PlaceCommand, ErrorsNameTheOption) {
  auto options = two_pods();
  for (const auto* request : {"nodes=0", "nodes=3-2", "nodes=x", "gpus-per-node=17", "colour=red",
                              "shape=round", "exclusive=7", "gpus=8,gpus-per-node=8", ""}) {
    options.request = request;
    EXPECT_THAT(error_of(options), HasSubstr("--request: ")) << request;
  }
  options.request = "gpus=8";
  options.exclude = "n99";
  EXPECT_EQ(error_of(options), "--exclude: node n99 is not in the cluster");
  options = two_pods();
  options.job = "n[0-3]";
  options.lost = "n7";
  EXPECT_EQ(error_of(options, true), "--lost: node n7 is not one of the job's");
  options.job = "n1,n1";
  EXPECT_EQ(error_of(options, true), "--job: node n1 is named twice");
  options.request = "gpus=8";
  options.state = "/nonexistent/state.json";
  EXPECT_THAT(error_of(options), HasSubstr("/nonexistent/state.json"));
}

TEST(PlaceCommand, ErrorsInTheTopologyNameItsLine) {
  TemporaryDirectory files;
  files.write("topology.conf", "SwitchName=a Nodes=n[0-15]\nSwitchName=b Nodes=x7\n");
  files.write("weights.conf", "Switch=l9 Weight=2\n");
  auto options = two_pods();
  options.request = "gpus=8";
  options.weights = files.path("weights.conf");
  EXPECT_THAT(error_of(options), HasSubstr("weights.conf:1: "));
  options.topology = files.path("topology.conf");
  EXPECT_THAT(error_of(options), HasSubstr("topology.conf:2: "));
}

}  // namespace
}  // namespace acrf
