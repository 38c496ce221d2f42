// SPDX-License-Identifier: GPL-2.0-or-later
// acrf job: what a user sees of a job that lost a node.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "live_cluster.h"

namespace acrf::minicluster {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

class JobLifeLive : public LiveCluster {};

TEST_F(JobLifeLive, TheTimelineTellsFaultRequeueCheckpointAndWhatWasLost) {
  start(small());
  const auto id = train();
  ASSERT_TRUE(
      wait_until([&] { return !text_of(checkpoints() + "/step-5/acrf-manifest").empty(); }));
  const auto broken = job(id).nodes.back();
  inject(broken);
  ASSERT_TRUE(runs_again(id, 1));
  ASSERT_TRUE(wait_until([&] { return !resumptions(output()).empty(); }));
  // The first run may have been too short to be of use; the second one is, after a while.
  CommandResult shown;
  nlohmann::json life;
  ASSERT_TRUE(wait_until([&] {
    shown = cluster().run({"acrf", "job", id, "--json"});
    if (!shown.ok()) return false;
    life = nlohmann::json::parse(shown.output);
    return life["ettr"] > 0.0;
  })) << shown.output
      << shown.errors;
  std::vector<std::string> events;
  for (const auto& event : life["events"])
    events.push_back(event["what"].get<std::string>() + ": " + event["text"].get<std::string>());
  EXPECT_THAT(events, Contains("submitted: policy requeue")) << shown.output;
  EXPECT_THAT(events, Contains(HasSubstr("placed: placed as planned")));
  EXPECT_THAT(events, Contains("started: run 0"));
  EXPECT_THAT(events, Contains(AllOf(HasSubstr("fault: gpu_lost on " + broken))));
  EXPECT_THAT(events, Contains(HasSubstr("act: drain " + broken)));
  EXPECT_THAT(events, Contains(HasSubstr("act: requeue job " + id)));
  EXPECT_THAT(events, Contains("requeued: run 0 ended, cause hardware, node " + broken));
  EXPECT_THAT(events, Contains(HasSubstr("resumed: run 1 from step-")));
  EXPECT_EQ(life["restarts"], 1);
  EXPECT_LT(life["ettr"], 1.0);
  EXPECT_THAT(cluster().run({"acrf", "job", id}).output,
              AllOf(HasSubstr("job " + id + ": RUNNING"), HasSubstr("ETTR ")));
  EXPECT_EQ(cluster().run({"acrf", "job", "999"}).status, 1);
}

}  // namespace
}  // namespace acrf::minicluster
