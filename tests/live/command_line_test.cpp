// SPDX-License-Identifier: GPL-2.0-or-later
// The command line on a real cluster: what it says of nodes and GPUs with a hub and without, to
// root and to others, and what an admin does with it.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "common/file.h"
#include "live_cluster.h"

namespace acrf::minicluster {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class CommandLineLive : public LiveCluster {
 protected:
  CommandResult acrf(std::vector<std::string> words) {
    words.insert(words.begin(), "acrf");
    return cluster().run(words);
  }
  CommandResult acrf_as_user(std::vector<std::string> words) {
    words.insert(words.begin(),
                 {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "acrf"});
    return cluster().run(words);
  }
  json parsed(const std::vector<std::string>& words) {
    const auto said = acrf(words);
    auto object = json::parse(said.output, nullptr, false);
    EXPECT_FALSE(object.is_discarded()) << said.output << said.errors;
    return object;
  }
  // One log for all nodes' acts here.
  std::string log() const { return root_ + "/admin"; }
};

TEST_F(CommandLineLive, TellsOfAFaultWithoutAHub) {
  auto options = small();
  options.acrf_conf = "TestProgram=none\nRebootProgram=none\n";
  start(options);
  const auto fine = acrf({"status"});
  EXPECT_EQ(fine.status, 0) << fine.output;
  EXPECT_THAT(fine.output, AllOf(StartsWith("ACRF OK - 0 of "), HasSubstr("as slurmctld says")));
  EXPECT_EQ(acrf({"node", "n1"}).status, 0);
  EXPECT_TRUE(wait_until(
      [&] { return acrf({"node", "n1"}).output.find("HEALTHY") != std::string::npos; }));

  inject("n1");
  ASSERT_TRUE(wait_until([&] { return node("n1").drained; }));
  const auto faulty = acrf({"status", "--critical", "50"});
  EXPECT_EQ(faulty.status, 1) << faulty.output;
  EXPECT_THAT(faulty.output,
              AllOf(StartsWith("ACRF WARNING - 1 of "), HasSubstr("n1 drained: ACRF")));
  EXPECT_EQ(acrf({"status"}).status, 2);
  EXPECT_EQ(parsed({"status", "--json"})["nodes"]["drained"], 1);
  const auto sick = acrf({"node", "n1"});
  EXPECT_EQ(sick.status, 2);
  EXPECT_THAT(sick.output, AllOf(StartsWith("node n1: drained"), HasSubstr("ACRF: gpu_lost"),
                                 HasSubstr("XID_CRITICAL_79")));
  EXPECT_EQ(parsed({"--json", "node", "n1"})["state"], "drained");
  EXPECT_THAT(acrf({"node", "--out"}).output, AllOf(HasSubstr("n1"), Not(HasSubstr("n2"))));
  EXPECT_EQ(acrf({"gpu", "n1:0"}).status, 2);
  EXPECT_EQ(acrf({"gpu", "n2:0"}).status, 0);
  EXPECT_EQ(parsed({"gpu", "n2:1", "--json"})["index"], 1);
}

TEST_F(CommandLineLive, AnybodyMayLookAndNobodyElseMayAct) {
  start(small());
  const auto status = acrf_as_user({"status"});
  EXPECT_EQ(status.status, 0) << status.output << status.errors;
  EXPECT_EQ(acrf_as_user({"gpu", "n1:0"}).status, 0);
  EXPECT_THAT(acrf_as_user({"top"}).output, AllOf(HasSubstr("n1"), Not(HasSubstr("\033"))));
  for (const char* act : {"drain", "return", "clear"}) {
    const auto refused = acrf_as_user({act, "n1"});
    EXPECT_EQ(refused.status, 1);
    EXPECT_THAT(refused.errors, HasSubstr(std::string(act) + " is for root"));
  }
  EXPECT_FALSE(node("n1").drained);
}

TEST_F(CommandLineLive, SaysWhatIsNotThere) {
  start(small());
  for (const auto& words : std::vector<std::vector<std::string>>{{"node", "nope"},
                                                                 {"node", "n[1-2],nope"},
                                                                 {"gpu", "nope:0"},
                                                                 {"gpu", "n1:63"},
                                                                 {"gpu", "GPU-unknown"},
                                                                 {"node", "n[1"}}) {
    const auto said = acrf(words);
    EXPECT_EQ(said.status, 3) << words[1];
    EXPECT_THAT(said.errors, StartsWith("acrf: ")) << words[1];
  }
  EXPECT_THAT(acrf({"node", "nope"}).errors, HasSubstr("slurmctld knows no node nope"));
  const auto drained = acrf({"drain", "--state-dir", log(), "nope"});
  EXPECT_EQ(drained.status, 1);
  EXPECT_THAT(drained.errors, HasSubstr("nope"));
  EXPECT_THAT(acrf({"quarantine", "n1"}).errors, HasSubstr("needs a GPU's number"));
  EXPECT_THAT(acrf({"drain", "n1:0"}).errors, HasSubstr("is of a node"));
}

TEST_F(CommandLineLive, WithoutSlurmctldNothingIsKnown) {
  start(small());
  ASSERT_TRUE(cluster().kill("slurmctld").ok());
  const auto status = acrf({"status"});
  EXPECT_EQ(status.status, 3);
  EXPECT_THAT(status.output, StartsWith("ACRF UNKNOWN - "));
  EXPECT_EQ(parsed({"status", "--json"})["word"], "UNKNOWN");
  const auto one = acrf({"node", "n1"});
  EXPECT_EQ(one.status, 3);
  EXPECT_THAT(one.errors, StartsWith("acrf: ask slurmctld"));
  EXPECT_EQ(acrf({"top"}).status, 3);
}

TEST_F(CommandLineLive, AnAdminsActsAreRecordedAndUndone) {
  start(small());
  const auto rehearsed = acrf({"drain", "n1", "--state-dir", log(), "--dry-run"});
  EXPECT_EQ(rehearsed.status, 0) << rehearsed.errors;
  EXPECT_THAT(rehearsed.output, HasSubstr("would be done"));
  EXPECT_FALSE(node("n1").drained);

  const auto drained =
      acrf({"drain", "n[1-2]", "--reason", "bad fan", "--state-dir", log(), "--json"});
  ASSERT_EQ(drained.status, 0) << drained.errors;
  EXPECT_TRUE(node("n1").drained);
  EXPECT_TRUE(node("n2").drained);
  EXPECT_THAT(record("n1"), HasSubstr("acrf drain: bad fan (admin "));
  const auto entry = json::parse(drained.output.substr(0, drained.output.find('\n')));
  EXPECT_EQ(entry["result"], "done");
  EXPECT_THAT(acrf({"audit", "--state-dir", log()}).output,
              AllOf(HasSubstr("admin drain n1 by admin "), HasSubstr("evidence bad fan")));
  EXPECT_EQ(acrf({"drain", "n1", "--state-dir", log()}).status, 1);  // it is already

  const auto undone =
      acrf({"undo", "--state-dir", log(), std::to_string(entry["audit"].get<int>())});
  EXPECT_EQ(undone.status, 0) << undone.errors;
  EXPECT_FALSE(node("n1").drained);
  EXPECT_EQ(acrf({"return", "n2", "--state-dir", log()}).status, 0);
  EXPECT_FALSE(node("n2").drained);
}

TEST_F(CommandLineLive, AGpuIsHiddenAndShownAgain) {
  start(small());
  ASSERT_EQ(acrf({"quarantine", "n1:1", "--state-dir", log()}).status, 0);
  EXPECT_THAT(record("n1"), HasSubstr("acrf:gpus=1"));
  const auto hidden = acrf({"gpu", "n1:1"});
  EXPECT_EQ(hidden.status, 1);
  EXPECT_THAT(hidden.output, HasSubstr("quarantined"));
  EXPECT_THAT(acrf({"gpu", "--out"}).output, AllOf(HasSubstr("n1:1"), Not(HasSubstr("n1:0"))));
  ASSERT_EQ(acrf({"clear", "n1:1", "--state-dir", log()}).status, 0);
  EXPECT_EQ(acrf({"gpu", "n1:1"}).status, 0);
}

TEST_F(CommandLineLive, AnothersDrainIsLeftAlone) {
  start(small());
  ASSERT_TRUE(
      cluster().run({"scontrol", "update", "NodeName=n2", "State=DRAIN", "Reason=mine"}).ok());
  const auto refused = acrf({"return", "n2", "--state-dir", log()});
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.errors, HasSubstr("drained by somebody else: mine"));
  EXPECT_TRUE(node("n2").drained);
}

TEST_F(CommandLineLive, AHubKnowsMore) {
  auto options = small();
  options.hubs = 1;
  start(options);
  ASSERT_TRUE(wait_until([&] { return acrf({"status"}).status == 0; }));
  EXPECT_THAT(acrf({"status"}).output, AllOf(HasSubstr("as hub " + cluster().hub_url()),
                                             HasSubstr("healthy"), HasSubstr("incidents")));
  const auto gpu = parsed({"gpu", "n1:0", "--json"});
  EXPECT_EQ(gpu["state"], "healthy");
  const auto uuid = gpu["uuid"].get<std::string>();
  ASSERT_NE(uuid, "");
  EXPECT_EQ(parsed({"gpu", uuid, "--json"})["node"], "n1");
  EXPECT_TRUE(wait_until([&] {
    return parsed({"gpu", uuid, "--json"})["temperature_c"].is_number();
  }));
  EXPECT_EQ(parsed({"gpu", "--json"})["gpus"].size(),
            static_cast<std::size_t>(options.nodes * options.gpus_per_node));
  EXPECT_EQ(acrf({"node", "nope"}).status, 3);

  const auto drained = acrf({"drain", "n1", "--hub", cluster().hub_url(), "--reason", "fan"});
  EXPECT_EQ(drained.status, 0) << drained.errors;
  EXPECT_THAT(record("n1"), HasSubstr("acrf drain: fan (user 0)"));
  EXPECT_THAT(acrf_as_user({"drain", "n2", "--hub", cluster().hub_url()}).errors,
              HasSubstr("is for root and SlurmUser"));
  EXPECT_FALSE(node("n2").drained);

  ASSERT_TRUE(cluster().kill("hub-1").ok());
  const auto without = acrf({"status"});
  EXPECT_THAT(without.output, AllOf(HasSubstr("as slurmctld says (hub "), HasSubstr("n1 drained")));
  EXPECT_EQ(acrf({"status", "--hub", cluster().hub_url()}).status, 3);
}

}  // namespace
}  // namespace acrf::minicluster
