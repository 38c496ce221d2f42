// SPDX-License-Identifier: GPL-2.0-or-later
#include "hub/ingest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <set>

#include "hub/adviser.h"
#include "hub/history.h"
#include "hub/layout.h"
#include "unit/temporary_directory.h"

namespace acrf::hub {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kNow = 1'800'000'000'000;

// Credentials that say what they hold; each opens once.
class HubIngest : public testing::Test {
 protected:
  HubIngest()
      : store_({directory_.path("hub/history.db"), {}}), ingest_(model_, store_, seals(), 64030) {
    ClusterLook look;
    look.layout = layout_of(Topology::flat(2), {"n1", "n2"}, {1, 1});
    for (const char* name : {"n1", "n2"}) {
      FleetNode node;
      node.name = name;
      look.fleet.nodes.push_back(node);
      look.slurm_states.push_back("IDLE");
      look.addresses.push_back(name == std::string("n1") ? "127.0.0.7" : "10.0.0.2");
      look.busy.push_back(false);
    }
    model_.take_cluster(std::move(look));
  }

  Seals seals() {
    return {[](const std::string& text) { return text; },
            [this](const std::string& credential) -> Result<SealedText> {
              if (!opened_.insert(credential).second)
                return Error{ErrorCode::kDenied, "Replayed credential"};
              return SealedText{credential, user_};
            }};
  }
  static std::string body(const std::string& node, const std::string& items = "") {
    return "{\"node\":\"" + node + "\",\"stream\":\"s\",\"first\":1,\"items\":[" + items + "]}";
  }
  Answer send(const std::string& node, const std::string& text, const std::string& peer) {
    return ingest_.take("Munge acrf-report " + node + " " + sha256_hex(text), text, peer, kNow);
  }

  const TemporaryDirectory directory_;
  Model model_{"observe"};
  Store store_;
  Ingest ingest_;
  std::set<std::string> opened_;
  std::uint32_t user_ = 0;
};

TEST_F(HubIngest, TakesAReportOfTheNodeItIsFrom) {
  const auto answer =
      send("n1", body("n1", R"({"seq":1,"ms":1,"kind":"sample","gpus":[[61]]})"), "127.0.0.1");
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_THAT(answer.body, HasSubstr("\"accepted\":1"));
  EXPECT_EQ(send("n2", body("n2"), "10.0.0.2").status, 200);
  EXPECT_EQ(send("n2", body("n2", ""), "::ffff:10.0.0.2").status, 401);  // the same credential
}

TEST_F(HubIngest, ACredentialOpensOnceAndForOneBody) {
  const auto text = body("n1");
  EXPECT_EQ(send("n1", text, "127.0.0.1").status, 200);
  EXPECT_EQ(send("n1", text, "127.0.0.1").status, 401);
  const auto other = ingest_.take("Munge acrf-report n1 " + sha256_hex("x"), text, "127.0.0.1", 1);
  EXPECT_EQ(other.status, 401);
  EXPECT_EQ(ingest_.take("Bearer abc", text, "127.0.0.1", 1).status, 401);
  EXPECT_EQ(ingest_.take("", text, "127.0.0.1", 1).status, 401);
  EXPECT_EQ(ingest_.take("Munge acrf-action x", text, "127.0.0.1", 1).status, 401);
}

TEST_F(HubIngest, NoNodeSpeaksForAnother) {
  EXPECT_EQ(send("n1", body("n2"), "127.0.0.1").status, 403);
  EXPECT_EQ(send("n2", body("n2"), "127.0.0.1").status, 403);  // n2 is elsewhere
  EXPECT_EQ(send("n1", body("n1"), "10.0.0.2").status, 403);
  EXPECT_EQ(send("n9", body("n9"), "127.0.0.1").status, 403);
  EXPECT_EQ(model_.stats(kNow).hub.refused, 4u);
}

TEST_F(HubIngest, NoNodeChangesAnIncidentThatAnotherReported) {
  const auto item = [](int seq, const std::string& about, const std::string& outcome) {
    return "{\"seq\":" + std::to_string(seq) +
           R"(,"ms":1,"kind":"incident","incident":{"id":"n1-1","node":")" + about +
           R"(","class":"gpu_lost","opened_ms":5,"outcome":")" + outcome + "\"}}";
  };
  const auto known = [&] {
    EXPECT_TRUE(store_.flush(std::chrono::seconds(20)));
    auto all = *History(directory_.path("hub/history.db"), {}).incidents({});
    for (const auto& one : model_.recent_incidents()) all.push_back(one.json);
    return all;
  };
  EXPECT_EQ(send("n1", body("n1", item(1, "n1", "first")), "127.0.0.1").status, 200);
  EXPECT_EQ(send("n2", body("n2", item(1, "n1", "forged")), "10.0.0.2").status, 200);
  EXPECT_EQ(send("n2", body("n2", item(2, "n2", "forged")), "10.0.0.2").status, 200);
  const auto told = model_.feed().last();
  EXPECT_THAT(known(), testing::AllOf(testing::SizeIs(2), testing::Each(HasSubstr("first"))));
  EXPECT_EQ(send("n1", body("n1", item(2, "n1", "drained")), "127.0.0.1").status, 200);
  EXPECT_EQ(model_.feed().last(), told + 1);
  EXPECT_THAT(known(), testing::AllOf(testing::SizeIs(2), testing::Each(HasSubstr("drained"))));
}

// One that is dead cannot speak for itself.
TEST_F(HubIngest, ANodeReportsThatItsNeighbourIsLost) {
  const auto item = [](int seq, int closed_ms) {
    return "{\"seq\":" + std::to_string(seq) +
           R"(,"ms":1,"kind":"incident","incident":{"id":"n2-1","node":"n2","class":"node_lost",)" +
           R"("opened_ms":5,"closed_ms":)" + std::to_string(closed_ms) + "}}";
  };
  EXPECT_EQ(send("n1", body("n1", item(1, 0)), "127.0.0.1").status, 200);
  EXPECT_EQ(model_.stats(kNow).incidents_open, 1u);
  EXPECT_EQ(send("n1", body("n1", item(2, 9)), "127.0.0.1").status, 200);
  EXPECT_EQ(model_.stats(kNow).incidents_open, 0u);
}

TEST_F(HubIngest, OnlyRootAndSlurmUserReport) {
  user_ = 1000;
  EXPECT_EQ(send("n1", body("n1"), "127.0.0.1").status, 401);
  user_ = 64030;
  EXPECT_EQ(send("n1", body("n1") + " ", "127.0.0.1").status, 200);
}

TEST_F(HubIngest, WhatIsMalformedIsRefusedWithASentence) {
  for (
      const char* text :
      {"", "x", "[]", "{}", R"({"node":"n1","stream":"s"})",
       R"({"node":"n1","stream":"s","items":[{"seq":0,"ms":1,"kind":"sample","gpus":[]}]})",
       R"({"node":"n1","stream":"s","items":[{"seq":2,"ms":1,"kind":"x"},{"seq":2,"ms":1,"kind":"x"}]})",
       R"({"node":"n1","stream":"s","items":[{"seq":1,"ms":1,"kind":"sample","gpus":[[1,2,3,4,5,6,7,8,9]]}]})",
       R"({"node":"n1","stream":"s","items":[{"seq":1,"ms":"now","kind":"sample","gpus":[]}]})",
       R"({"node":"n1","stream":"s","items":[{"seq":1,"ms":1,"kind":"incident","incident":{}}]})"}) {
    const auto answer = send("n1", text, "127.0.0.1");
    EXPECT_EQ(answer.status, 400) << text;
    EXPECT_THAT(answer.body, HasSubstr("{\"error\":\""));
  }
}

TEST_F(HubIngest, CountsEachActOnce) {
  const auto act = [](int seq, const char* what, const char* result) {
    return "{\"seq\":" + std::to_string(seq) +
           R"(,"ms":1,"kind":"audit","audit":{"id":1,"kind":"act",)" + R"("what":")" + what +
           R"(","decided_by":"gpu_lost","result":")" + result + "\"}}";
  };
  const auto counts = [&] {
    MetricText text;
    model_.acts().add_to(text, "acrf_actions_total", "acrf_drains_total");
    return text.to_string();
  };
  // Begun and done; the answer gets lost, so that all comes again with what is new.
  const auto first = act(1, "drain", "pending") + "," + act(2, "drain", "done");
  EXPECT_EQ(send("n1", body("n1", first), "127.0.0.1").status, 200);
  const auto again = first + "," + act(3, "requeue", "failed");
  EXPECT_EQ(send("n1", body("n1", again), "127.0.0.1").status, 200);
  EXPECT_THAT(counts(),
              testing::AllOf(HasSubstr("acrf_drains_total{class=\"gpu_lost\"} 1\n"),
                             HasSubstr("acrf_actions_total{action=\"drain\",result=\"done\"} 1\n"),
                             HasSubstr("{action=\"requeue\",result=\"failed\"} 1\n")));
  EXPECT_THAT(counts(), testing::Not(HasSubstr("pending")));
}

TEST_F(HubIngest, GivesAdviceWithTheReply) {
  model_.advise("n1", "lemon", R"({"kind":"lemon","text":"t"})");
  EXPECT_THAT(send("n1", body("n1"), "127.0.0.1").body,
              HasSubstr(R"("advice":[{"kind":"lemon","text":"t"}])"));
  EXPECT_THAT(send("n2", body("n2"), "10.0.0.2").body, HasSubstr("\"advice\":[]"));
}

TEST_F(HubIngest, AdvisesAllNodesWhoseFaultsHaveACommonCause) {
  const auto fault = [](const std::string& node) {
    return R"({"seq":1,"ms":1,"kind":"incident","incident":{"id":")" + node + R"(-1","node":")" +
           node + R"(","class":"gpu_lost","action":"reboot_node","severity":"critical",)" +
           R"("opened_ms":)" + std::to_string(std::time(nullptr) * 1000) + "}}";
  };
  const auto advised = [&](const std::string& node) { return !model_.advice_for(node).empty(); };
  Config config;
  config.common_cause_nodes = 2;
  const History history(directory_.path("hub/history.db"));
  const Adviser adviser(model_, history, config, std::chrono::milliseconds(10));
  send("n1", body("n1", fault("n1")), "127.0.0.1");
  send("n2", body("n2", fault("n2")), "10.0.0.2");
  for (int i = 0; i < 500 && !(advised("n1") && advised("n2")); ++i) ::usleep(20'000);
  const auto reply = send("n1", body("n1"), "127.0.0.1").body;
  EXPECT_THAT(reply,
              HasSubstr(R"("advice":[{"kind":"common-cause","text":"2 nodes have gpu_lost)"));
  EXPECT_TRUE(advised("n2"));
}

TEST(HubAdviser, CountsWhatTakesANodeOutOfServiceAndNothingElse) {
  const auto fault = [](const char* action, const char* severity) {
    return fault_of(R"({"node":"n1","class":"c","driver":"550","opened_ms":7000,"job":12,)"
                    R"("action":")" +
                    std::string(action) + R"(","severity":")" + severity + "\"}");
  };
  const auto known = fault("drain", "critical");
  ASSERT_TRUE(known);
  EXPECT_EQ(known->node, "n1");
  EXPECT_EQ(known->fault_class, "c");
  EXPECT_EQ(known->driver, "550");
  EXPECT_EQ(known->unix_s, 7);
  EXPECT_EQ(known->job, 12u);
  EXPECT_TRUE(known->acting);
  EXPECT_FALSE(fault("drain", "warning")->acting);
  EXPECT_FALSE(fault("restart_app", "critical")->acting);
  EXPECT_FALSE(fault("of a later version", "critical")->acting);
  for (const char* text : {"", "[]", "{}", R"({"node":5})", R"({"node":"n1","class":"c"})"})
    EXPECT_FALSE(fault_of(text)) << text;
}

}  // namespace
}  // namespace acrf::hub
