// SPDX-License-Identifier: GPL-2.0-or-later
// GPUs that are too hot, on a real cluster: less power while it lasts, and nothing but an alert
// when half a switch is.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "fakegpu/state.h"
#include "live_cluster.h"

namespace acrf::minicluster {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Heat : public LiveCluster {
 protected:
  ClusterOptions hot_cluster(const std::string& more) {
    // Sets what the stand-in library says, as a vendor's program would.
    const auto cap = program(
        "cap", "echo \"$@\" >> " + programs() + "/arguments\n" +
                   "exec python3 - \"$@\" <<'END'\n"
                   "import json, os, sys\n"
                   "node, uuid, watts = sys.argv[1], sys.argv[2], int(sys.argv[6])\n"
                   "path = '" +
                   root_ +
                   "/nodes/' + node + '/gpus.json'\n"
                   "state = json.load(open(path))\n"
                   "for gpu in state['gpus']:\n"
                   "    if gpu['uuid'] == uuid: gpu['readings']['power_limit_mw'] = watts * 1000\n"
                   "json.dump(state, open(path + '.new', 'w'))\n"
                   "os.rename(path + '.new', path)\n"
                   "print('set to', watts)\n"
                   "END\n");
    auto options = small();
    options.acrf_conf = "HeatTime=1\nPowerCapProgram=" + cap + "\n" + more;
    return options;
  }
  std::string state_file(const std::string& node) {
    return root_ + "/nodes/" + node + "/gpus.json";
  }
  std::uint64_t limit_w(const std::string& node) {
    const auto state = fakegpu::load_state(state_file(node));
    return state ? state->gpus[0].reading("power_limit_mw", 700'000) / 1000 : 0;
  }
  bool limit_becomes(const std::string& node, std::uint64_t watts) {
    return wait_until([&] { return limit_w(node) == watts; });
  }
  std::string log(const std::string& node) {
    return text_of(root_ + "/log/healthd-" + node + ".log");
  }
  std::string audit(const std::string& node) {
    return cluster()
        .run({"acrf", "audit", "--json", "--state-dir", root_ + "/nodes/" + node + "/acrf"})
        .output;
  }
};

TEST_F(Heat, AHotGpuGetsLessPowerUntilItIsCoolAlsoThroughARestart) {
  start(hot_cluster("PowerCap=80\n"));
  ASSERT_TRUE(healthd_knows_its_gpus("n1"));
  inject_fault("n1", {"--fault", "hot"});
  ASSERT_TRUE(limit_becomes("n1", 560)) << log("n1");
  EXPECT_THAT(text_of(programs() + "/arguments"),
              AllOf(HasSubstr("n1 GPU-"), HasSubstr(" 0000:10:00 temperature_limit n1-")));
  EXPECT_TRUE(wait_until([&] { return record("n1").find("acrf:hot=") != std::string::npos; }));
  EXPECT_FALSE(node("n1").drained);
  // Who was killed meanwhile, before or after the program's end was noted, has not forgotten what
  // to give back.
  ASSERT_TRUE(cluster().kill("healthd-n1").ok());
  ASSERT_TRUE(cluster().start_healthd("n1").ok());
  inject_fault("n1", {"--repair"});
  ASSERT_TRUE(limit_becomes("n1", 700)) << log("n1");
  EXPECT_TRUE(wait_until([&] { return record("n1").find("hot=") == std::string::npos; }));
  EXPECT_TRUE(wait_until([&] { return audit("n1").find("set to 700") != std::string::npos; }));
  EXPECT_THAT(audit("n1"), AllOf(HasSubstr("power_cap"), HasSubstr("power_restore")));
}

TEST_F(Heat, AControllerThatDiesMeanwhileCostsNeitherTheCapNorItsEnd) {
  auto options = hot_cluster("PowerCap=80\n");
  options.healthd_preload = holding().healthd_preload;
  options.slurm_conf += "MessageTimeout=2\n";
  start(options);
  ASSERT_TRUE(healthd_knows_its_gpus("n1"));
  hold("run.cap", "n1");
  inject_fault("n1", {"--fault", "hot"});
  ASSERT_TRUE(is_held("run.cap", "n1")) << log("n1");
  ASSERT_TRUE(cluster().kill("slurmctld").ok());
  let_go("run.cap", "n1");
  ASSERT_TRUE(limit_becomes("n1", 560)) << log("n1");
  hold("run.cap", "n1");
  inject_fault("n1", {"--repair"});
  ASSERT_TRUE(cluster().start_slurmctld().ok());
  fs::remove(root_ + "/run/held.run.cap.n1");
  ASSERT_TRUE(is_held("run.cap", "n1")) << log("n1");
  ASSERT_TRUE(cluster().kill("slurmctld").ok());
  let_go("run.cap", "n1");
  ASSERT_TRUE(limit_becomes("n1", 700)) << log("n1");
  ASSERT_TRUE(cluster().start_slurmctld().ok());
  EXPECT_TRUE(wait_until([&] { return record("n1").find("hot=") == std::string::npos; }));
  EXPECT_FALSE(node("n1").drained);
  const auto runs = text_of(programs() + "/arguments");
  EXPECT_EQ(std::count(runs.begin(), runs.end(), '\n'), 2) << runs;
}

TEST_F(Heat, PeopleHaveALimitBackWithOneCommand) {
  start(hot_cluster("PowerCap=80\n"));
  ASSERT_TRUE(healthd_knows_its_gpus("n1"));
  inject_fault("n1", {"--fault", "hot"});
  ASSERT_TRUE(limit_becomes("n1", 560)) << log("n1");
  const auto entry_of = [&](const std::string& what) {
    std::string id;
    const auto text = audit("n1");
    std::size_t begin = 0;
    while (begin < text.size()) {
      const auto end = std::min(text.find('\n', begin), text.size());
      const auto entry = nlohmann::json::parse(text.substr(begin, end - begin), nullptr, false);
      if (entry.is_object() && entry.value("what", "") == what &&
          entry.value("result", "") == "done")
        id = std::to_string(entry.value("id", 0));
      begin = end + 1;
    }
    return id;
  };
  ASSERT_TRUE(wait_until([&] { return !entry_of("power_cap").empty(); })) << audit("n1");
  const auto undone = cluster().run(
      {"acrf", "undo", "--state-dir", root_ + "/nodes/n1/acrf", entry_of("power_cap")});
  ASSERT_TRUE(undone.ok()) << undone.errors;
  ASSERT_TRUE(limit_becomes("n1", 700)) << log("n1");
  ASSERT_TRUE(wait_until([&] { return !entry_of("power_restore").empty(); }));
  EXPECT_THAT(record("n1"), HasSubstr("acrf:hot=")) << "it is still hot";
  EXPECT_EQ(limit_w("n1"), 700u) << "and left alone";
}

TEST_F(Heat, WithoutPowerCapALimitIsLeftAloneAndLastingHeatDrainsAtJobEnd) {
  start(hot_cluster("HeatDrainTime=2\nTestProgram=none\n"));
  ASSERT_TRUE(healthd_knows_its_gpus("n1"));
  const auto id = train();
  const auto hot = job(id).nodes.front();
  inject_fault(hot, {"--fault", "hot"});
  ASSERT_TRUE(wait_until([&] { return node(hot).drained; })) << log(hot);
  EXPECT_THAT(node(hot).reason, HasSubstr("ACRF: temperature_limit_lasting"));
  ASSERT_TRUE(healthd_says(hot, "closed: node drained"));
  EXPECT_EQ(job(id).state, "RUNNING");
  EXPECT_EQ(job(id).restarts, 0);
  EXPECT_EQ(limit_w(hot), 700u);
}

TEST_F(Heat, HalfASwitchThatIsHotIsToldAndNothingIsDrained) {
  auto options = small();
  options.topology =
      "SwitchName=l1 Nodes=n[1-2]\nSwitchName=l2 Nodes=n[3-4]\nSwitchName=top Switches=l[1-2]\n";
  options.acrf_conf =
      "HeatTime=1\nHeatDrainTime=6\nCommonCauseNodes=0\nMaxDrainsPerSwitch=100\n"
      "MaxDrainsPerHour=100%\nMaxDrained=100%\nMinHealthy=0%\n";
  start(options);
  for (const auto& name : cluster().nodes()) ASSERT_TRUE(healthd_knows_its_gpus(name));
  for (const std::string name : {"n1", "n2"}) inject_fault(name, {"--fault", "hot"});
  for (const std::string name : {"n1", "n2"}) {
    // Its drain was wanted, and the brake has held it.
    ASSERT_TRUE(healthd_says(name, "is left in service: 2 of 2 nodes of switch l1 too hot at once"))
        << log(name);
    EXPECT_FALSE(node(name).drained) << name;
    EXPECT_THAT(audit(name), HasSubstr("cooling or power, not theirs"));
  }
  EXPECT_THAT(log("n1") + log("n2"), HasSubstr("too hot, nothing is done: 2 of 2 nodes of switch"));
  const auto brakes = cluster().run({"acrf", "brakes"});
  EXPECT_THAT(brakes.output, HasSubstr("2 of 2 nodes of switch l1 too hot at once (n[1-2])"));
  // A single hot node of the other switch is its own.
  inject_fault("n3", {"--fault", "hot"});
  EXPECT_TRUE(wait_until([&] { return node("n3").drained; })) << log("n3");
  for (const std::string name : {"n1", "n2"}) EXPECT_FALSE(node(name).drained) << name;
}

}  // namespace
}  // namespace acrf::minicluster
