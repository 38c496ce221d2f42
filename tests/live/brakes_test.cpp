// SPDX-License-Identifier: GPL-2.0-or-later
// The brakes and the maintenance list on a real slurmctld: what admins see and can do.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "build_paths.h"
#include "common/file.h"
#include "core/text.h"
#include "live_cluster.h"

namespace acrf::minicluster {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Brakes : public LiveCluster {
 protected:
  ClusterOptions eight(const std::string& conf = "") const {
    auto options = small();
    options.nodes = 8;
    options.healthd = false;
    options.acrf_conf = conf;
    options.topology =
        "SwitchName=l1 Nodes=n[1-4]\nSwitchName=l2 Nodes=n[5-8]\nSwitchName=top Switches=l[1-2]\n";
    return options;
  }
  CommandResult update(const std::string& verb, const std::string& node,
                       const std::string& fault_class = "gpu_lost") {
    return cluster().run({ACRF_BUILD "/tests/node_update", verb, node, fault_class});
  }
  void admin(std::vector<std::string> words) {
    words.insert(words.begin(), "scontrol");
    const auto done = cluster().run(words);
    EXPECT_TRUE(done.ok()) << done.errors;
  }
  CommandResult brakes() { return cluster().run({"acrf", "brakes", "--json"}); }
  json brake(const std::string& name, const std::string& group) {
    const auto all = json::parse(brakes().output, nullptr, false);
    for (const auto& one : all.value("brakes", json::array()))
      if (one["brake"] == name && one["group"] == group) return one;
    return {};
  }
  int drained() {
    int count = 0;
    for (const auto& name : cluster().nodes())
      count += record(name).find("DRAIN") != std::string::npos;
    return count;
  }
};

TEST_F(Brakes, ADrainAndItsMarkAreOneUpdateThatKeepsOtherWords) {
  start(eight());
  admin({"update", "NodeName=n1", "Comment=rack 7 acrf:risk=5,colour=blue"});
  const auto done = update("drain", "n1");
  ASSERT_TRUE(done.ok()) << done.errors;
  EXPECT_THAT(record("n1"), AllOf(HasSubstr("DRAIN"), HasSubstr("Reason=ACRF: gpu_lost node drain"),
                                  HasSubstr("Comment=rack 7 acrf:risk=5,acted="),
                                  HasSubstr(":gpu_lost,colour=blue")));
  EXPECT_EQ(brake("partition-hour", "main")["nodes"], "n1");
  EXPECT_EQ(brake("partition-drained", "main")["counted"], 1);
  ASSERT_TRUE(update("resume", "n1").ok());
  EXPECT_THAT(record("n1"), AllOf(Not(HasSubstr("DRAIN")), HasSubstr("probation,acted=")));
  EXPECT_EQ(brake("partition-drained", "main")["counted"], 0);
  ASSERT_TRUE(cluster().restart_slurmctld().ok());
  EXPECT_EQ(brake("partition-hour", "main")["counted"], 1);
  EXPECT_EQ(brakes().status, 0);
}

TEST_F(Brakes, EightNodesAtOnceCannotPassTheBudget) {
  start(eight("CommonCauseNodes=0\nMaxDrainsPerHour=3\nMaxDrained=100%\nMinHealthy=0%\n"));
  std::vector<std::thread> askers;
  std::vector<CommandResult> results(8);
  for (std::size_t i = 0; i < 8; ++i)
    askers.emplace_back([&, i] {
      results[i] = update("act", "n" + std::to_string(i + 1), "class" + std::to_string(i));
    });
  for (auto& asker : askers) asker.join();
  int done = 0;
  for (const auto& result : results) done += result.ok();
  EXPECT_EQ(drained(), 3);
  EXPECT_EQ(done, 3);
  EXPECT_EQ(brakes().status, 2) << brakes().output;
  EXPECT_THAT(cluster().run({"acrf", "brakes"}).output,
              HasSubstr("3 of 8 nodes of partition main acted on in the last hour, limit 3"));
}

TEST_F(Brakes, OneFaultOnEightNodesFreezesUntilAReset) {
  start(eight("MaxDrainsPerHour=100%\nMaxDrained=100%\nMinHealthy=0%\n"));
  for (const auto* name : {"n1", "n2"}) ASSERT_TRUE(update("act", name).ok());
  const auto third = update("act", "n5");
  EXPECT_EQ(third.status, 2) << third.errors;
  EXPECT_THAT(third.output, HasSubstr("3 nodes with gpu_lost within 600 s (n[1-2,5])"));
  EXPECT_THAT(record("n5"), AllOf(Not(HasSubstr("DRAIN")), HasSubstr("acrf:braked=")));
  EXPECT_EQ(brakes().status, 2);
  if (closed_to_users().empty()) {
    const auto user =
        cluster().run({"setpriv", "--reuid=65534", "--clear-groups", "acrf", "brakes", "reset"});
    EXPECT_FALSE(user.ok());
    EXPECT_THAT(user.errors, HasSubstr("n1"));
  }
  const auto other = cluster().run({"acrf", "brakes", "reset", "--class", "gsp"});
  EXPECT_THAT(other.output, HasSubstr("nothing was counted or held")) << other.errors;
  const auto reset = cluster().run({"acrf", "brakes", "reset", "--class", "gpu_lost"});
  EXPECT_THAT(reset.output, HasSubstr("no longer counted or held: n[1-2,5]")) << reset.errors;
  EXPECT_THAT(record("n1"), HasSubstr("DRAIN"));  // a reset returns nobody
  EXPECT_TRUE(update("act", "n5").ok());
  EXPECT_THAT(record("n5"), HasSubstr("DRAIN"));
}

TEST_F(Brakes, TheFloorCountsEveryOwnersDrainsAndOutlastsAReset) {
  start(eight());
  admin({"update", "NodeName=n[1-2]", "State=DRAIN", "Reason=new cables"});
  const auto held = update("act", "n5");
  EXPECT_EQ(held.status, 2) << held.errors;
  EXPECT_THAT(held.output, HasSubstr("2 of 8 GPU nodes of the cluster out of service, limit 2"));
  ASSERT_TRUE(cluster().run({"acrf", "brakes", "reset"}).ok());
  EXPECT_EQ(update("act", "n5").status, 2);
  admin({"update", "NodeName=n1", "State=RESUME"});
  ASSERT_TRUE(wait_until([&] { return record("n1").find("NOT_RESPONDING") == std::string::npos; }));
  const auto done = update("act", "n5");
  EXPECT_TRUE(done.ok()) << done.output << done.errors << record("n1");
}

TEST_F(Brakes, MaintenanceIsAReservationThatScontrolShows) {
  start(eight("Maintenance=n8 Reason=\"slow disk\"\n"));
  const auto added = cluster().run({"acrf", "maintenance", "add", "n[1-2]", "--duration", "30"});
  ASSERT_TRUE(added.ok()) << added.errors;
  const std::string name(trim(added.output));
  EXPECT_THAT(cluster().run({"scontrol", "show", "reservation", name}).output,
              AllOf(HasSubstr("Nodes=n[1-2]"), HasSubstr("MAINT")));
  const auto list = cluster().run({"acrf", "maintenance", "list"});
  EXPECT_THAT(list.output, AllOf(HasSubstr(name), HasSubstr("n[1-2]"), HasSubstr("acrf.conf:"),
                                 HasSubstr("slow disk")))
      << list.errors;
  EXPECT_THAT(cluster().run({"acrf", "maintenance", "remove", "others"}).errors,
              HasSubstr("was not made by acrf maintenance"));
  ASSERT_TRUE(cluster().run({"acrf", "maintenance", "remove", name}).ok());
  EXPECT_THAT(cluster().run({"acrf", "maintenance", "list"}).output, Not(HasSubstr(name)));
  EXPECT_FALSE(cluster().run({"acrf", "maintenance", "add", "nowhere", "--duration", "30"}).ok());
  EXPECT_FALSE(cluster().run({"acrf", "maintenance", "add", "n1"}).ok());
}

}  // namespace
}  // namespace acrf::minicluster
