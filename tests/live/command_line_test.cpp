// SPDX-License-Identifier: GPL-2.0-or-later
// The command line on a real cluster: what it says of nodes and GPUs with a hub and without, to
// root and to others, and what an admin does with it.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "common/file.h"
#include "core/text.h"
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
  static std::vector<std::string> with_json(std::vector<std::string> words) {
    words.push_back("--json");
    return words;
  }
  // What is no JSON is a failure of the test.
  std::vector<json> lines_of_json(const std::vector<std::string>& words) {
    const auto said = acrf(words);
    auto whole = json::parse(said.output, nullptr, false);
    if (!whole.is_discarded()) return {whole};
    std::vector<json> all;
    if (said.output.empty()) return all;
    for (const auto line : split(trim(said.output), '\n')) {
      all.push_back(json::parse(line, nullptr, false));
      EXPECT_FALSE(all.back().is_discarded()) << words[0] << ": " << said.output << said.errors;
    }
    return all;
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
  EXPECT_TRUE(wait_until([&] {
    return acrf({"node", "n1"}).output.find("HEALTHY") != std::string::npos;
  }));
  // The node's own daemon has the readings.
  EXPECT_TRUE(wait_until([&] {
    return parsed({"gpu", "n2:1", "--json"})["temperature_c"].is_number();
  }));
  EXPECT_EQ(parsed({"gpu", "n2:1", "--json"})["state"], "healthy");
  EXPECT_THAT(acrf({"gpu", "n2:1"}).output, HasSubstr("GPU-"));

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
  if (const auto why = closed_to_users(); !why.empty()) GTEST_SKIP() << why;
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

TEST_F(CommandLineLive, AWrongCommandLineIsSaidAndIsNoGoodCheck) {
  start(small());
  struct {
    std::vector<std::string> words;
    int status;  // 0: any but that
    std::string sentence;
  } const cases[] = {{{"stauts"}, 0, "acrf: stauts: no such command"},
                     {{"checkpoint", "lst"}, 0, "acrf: lst: no such command"},
                     {{"status", "--critical", "many"}, 3, "--critical"},
                     {{"node", "--no-such"}, 3, "--no-such"},
                     {{"gpu", "n1:0", "n2:0"}, 3, "n2:0"},
                     {{"job", "abc"}, 0, "JOBID"},
                     {{"job", "99999"}, 1, "acrf: ask slurmctld about job 99999"},
                     {{"explain", "99999"}, 1, "no decision about job 99999"},
                     {{"inject", "--node", "nope", "--xid", "79"}, 1, "node nope has no fake GPUs"},
                     {{"inject", "--node", "n1", "--gpu", "9", "--xid", "79"}, 1, "--gpu 9"},
                     {{"checkpoint", "list", "/nowhere"}, 1, "/nowhere: no such directory"},
                     {{"classify", "/nowhere"}, 1, "/nowhere"},
                     {{"place"}, 1, "needs --request or --replace"},
                     {{"audit", "--since", "soon"}, 1, "--since soon"},
                     {{"-f", "/nowhere", "conf", "check"}, 1, "/nowhere"}};
  for (const auto& one : cases) {
    const auto said = acrf(one.words);
    EXPECT_THAT(said.errors, HasSubstr(one.sentence));
    EXPECT_EQ(said.output, "");
    EXPECT_NE(said.status, 0) << one.sentence;
    if (one.status != 0) {
      EXPECT_EQ(said.status, one.status) << one.sentence;
    }
  }
}

// Everything that can be asked, with a hub and without: --json is one JSON value or one a line.
TEST_F(CommandLineLive, JsonIsJsonWithAHubAndWithout) {
  auto options = small();
  options.hubs = 1;
  options.acrf_conf = "TestProgram=none\nRebootProgram=none\nReportInterval=1\n";
  start(options);
  const auto id = train();
  inject("n1");
  ASSERT_TRUE(runs_again(id, 1));
  ASSERT_TRUE(wait_until([&] { return !lines_of_json({"audit", "--json"}).empty(); }));
  const std::vector<std::vector<std::string>> questions = {{"status"},
                                                           {"top"},
                                                           {"top", "--jobs", "--count", "2"},
                                                           {"node"},
                                                           {"node", "n1"},
                                                           {"gpu"},
                                                           {"gpu", "n1:0"},
                                                           {"job", id},
                                                           {"events", "--node", "n1"},
                                                           {"audit", "--node", "n1"}};
  for (auto words : questions)
    for (const auto& hub : {cluster().hub_url(), std::string("none")}) {
      words.insert(words.end(), {"--json", "--hub", hub});
      EXPECT_FALSE(lines_of_json(words).empty()) << words[0] << " " << hub;
      words.resize(words.size() - 3);
    }
  for (const auto& words :
       std::vector<std::vector<std::string>>{{"explain", id},
                                             {"conf", "show"},
                                             {"conf", "check"},
                                             {"checkpoint", "list", checkpoints()},
                                             {"place", "--request", "nodes=1,gpus-per-node=1"},
                                             {"drain", "n2", "--dry-run"},
                                             {"brakes"}})
    EXPECT_FALSE(lines_of_json(with_json(words)).empty()) << words[0];
}

TEST_F(CommandLineLive, AHubTellsOfAllNodesWhatEachHasWrittenDown) {
  auto options = small();
  options.hubs = 1;
  options.acrf_conf = "TestProgram=none\nRebootProgram=none\nReportInterval=1\n";
  start(options);
  const auto id = train();
  // slurmctld's thread has to have seen the run, to know whom to blame.
  const auto started = std::time(nullptr);
  ASSERT_TRUE(wait_until([&] { return std::time(nullptr) > started + 2; }));
  inject("n1");
  ASSERT_TRUE(runs_again(id, 1));
  EXPECT_TRUE(wait_until([&] {
    return acrf({"audit"}).output.find("act requeue job " + id) != std::string::npos;
  })) << acrf({"audit"}).output;
  // As the node itself has it, entry by entry.
  EXPECT_TRUE(wait_until([&] {
    return acrf({"audit", "--node", "n1"}).output ==
           acrf({"audit", "--node", "n1", "--hub", "none"}).output;
  })) << acrf({"audit", "--node", "n1"}).output;
  const auto all = acrf({"events"}).output;
  EXPECT_THAT(all, AllOf(HasSubstr(" opened: fatal gpu_lost"), HasSubstr("act drain n1")));
  EXPECT_EQ(acrf({"events", "--node", "n4"}).status, 1);
  // What comes while somebody follows is told once.
  const auto followed = cluster().run(
      {"sh", "-c", "timeout 12 acrf events -f & sleep 2; acrf inject --node n3 --xid 79; wait"});
  const auto news = followed.output.find("drain n3");
  ASSERT_NE(news, std::string::npos) << followed.output;
  EXPECT_EQ(followed.output.find("done: act drain n3", news + 1), std::string::npos)
      << followed.output;
  // Where the nodes' own files are not within reach the hub's word stands in.
  ASSERT_TRUE(
      cluster().run({"sh", "-c", "mv " + root_ + "/nodes/n1/acrf " + root_ + "/away"}).ok());
  const auto life = acrf({"job", id}).output;
  EXPECT_THAT(life, AllOf(HasSubstr("fault       gpu_lost on n1"), HasSubstr("requeue job " + id),
                          Not(HasSubstr("audit log of n1"))));
  EXPECT_THAT(acrf({"job", id, "--hub", "none"}).output, HasSubstr("not read: audit log of n1"));
  ASSERT_TRUE(cluster().kill("hub-1").ok());
  const auto alone = acrf({"audit", "--node", "n3"});
  EXPECT_EQ(alone.status, 0);
  EXPECT_THAT(alone.errors, HasSubstr("what follows is of this host alone"));
  EXPECT_THAT(alone.output, HasSubstr("drain n3"));
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
