// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/node_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/file_system_rule.h"

namespace acrf {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> classes(const std::vector<Finding>& findings) {
  std::vector<std::string> names;
  for (const auto& finding : findings) names.push_back(finding.verdict.fault_class);
  return names;
}

class Port : public testing::Test {
 protected:
  std::vector<std::string> at(std::int64_t now_s, std::optional<bool> active,
                              std::optional<std::uint64_t> downs = std::nullopt,
                              std::optional<std::uint64_t> symbols = std::nullopt) {
    PortReading reading;
    reading.name = "mlx5_0/1";
    reading.active = active;
    reading.link_downs = downs;
    reading.symbol_errors = symbols;
    last_ = rule_.observe(reading, now_s);
    return classes(last_);
  }
  PortRule rule_;
  std::vector<Finding> last_;
};

// As a daemon that is restarted between looks.
std::vector<std::string> after_restart(NodeRules& rules, const NodeReadings& readings,
                                       std::int64_t now_s) {
  NodeRules again;
  again.take_text(rules.to_text("boot-1"), "boot-1");
  rules = again;
  return classes(rules.observe(readings, now_s));
}

TEST(NodeRulesMemory, WhatTakesHoursToSeeSurvivesRestarts) {
  NodeRules rules;
  NodeReadings readings;
  readings.ports = {{}};
  auto& port = readings.ports[0];
  port.name = "mlx5_0/1";
  port.active = true;
  EXPECT_THAT(after_restart(rules, readings, 0), IsEmpty());
  for (int flap = 1; flap <= 3; ++flap) {
    port.active = false;
    EXPECT_THAT(after_restart(rules, readings, flap * 1000), IsEmpty());
    port.active = true;
    const auto found = after_restart(rules, readings, flap * 1000 + 30);
    EXPECT_EQ(found.size(), flap == 3 ? 1u : 0u);
  }
  port.active = false;
  after_restart(rules, readings, 5000);
  EXPECT_THAT(after_restart(rules, readings, 5240), testing::Contains("ib_down"));
  port.active = true;
  EXPECT_THAT(after_restart(rules, readings, 5250), testing::Contains("ib_down"));
}

TEST(NodeRulesMemory, ErrorsOfThisBootAndGpusThatWereThere) {
  NodeRules rules;
  NodeReadings readings;
  readings.memory_controllers = {{"mc0", 0, 0}};
  readings.pcie = {{"0000:1a:00.0", true, 0, 0, 0}};
  readings.gpus = {8, 8, {}};
  EXPECT_THAT(after_restart(rules, readings, 0), IsEmpty());
  readings.memory_controllers[0].uncorrected = 1;  // while nobody looked
  readings.pcie[0].fatal = 2;
  readings.gpus.on_bus = 7;
  EXPECT_THAT(after_restart(rules, readings, 100), ElementsAre("edac_uncorrected", "pcie_fatal"));
  NodeRules another_boot;
  another_boot.take_text(rules.to_text("boot-1"), "boot-2");
  EXPECT_THAT(classes(another_boot.observe(readings, 10)), IsEmpty());
  rules.observe(readings, 131);
  EXPECT_THAT(classes(rules.observe(readings, 165)), testing::Contains("gpu_missing"));
}

TEST(NodeRulesMemory, DamageIsNotTakenOver) {
  NodeRules rules;
  NodeReadings readings;
  readings.ports = {{}};
  readings.ports[0].name = "a b";
  readings.ports[0].active = true;
  readings.pcie = {{"0000:1a:00.0", true, 0, 0, 7}};
  rules.observe(readings, 5);
  const auto text = rules.to_text("b");
  for (std::size_t i = 0; i < text.size(); ++i) {
    NodeRules cut, changed;
    cut.take_text(text.substr(0, i), "b");
    auto other = text;
    other[i] = static_cast<char>(other[i] ^ 3);
    changed.take_text(other, "b");
    (void)changed.observe(readings, 10);
    EXPECT_THAT(classes(cut.observe(readings, 10)), IsEmpty());
  }
}

TEST_F(Port, DownForFourMinutesDrainsAtJobEnd) {
  at(0, true);
  EXPECT_THAT(at(10, false), IsEmpty());
  EXPECT_THAT(at(249, false), IsEmpty());
  EXPECT_THAT(at(250, false), ElementsAre("ib_down"));
  EXPECT_EQ(last_[0].verdict.action, Action::kDrain);
  EXPECT_TRUE(last_[0].verdict.at_job_end);
  EXPECT_EQ(last_[0].where, "mlx5_0/1");
  EXPECT_THAT(at(260, true), ElementsAre("ib_down"));  // it counts for a while
  EXPECT_THAT(at(860, true), IsEmpty());
}

TEST_F(Port, ANeverActivePortSaysNothing) {
  for (int t = 0; t < 10'000; t += 100) EXPECT_THAT(at(t, false, 900, 1'000'000), IsEmpty());
}

TEST_F(Port, AnUnknownStateNeitherStartsNorEndsAnOutage) {
  at(0, true);
  at(10, false);
  EXPECT_THAT(at(100, std::nullopt), IsEmpty());
  EXPECT_THAT(at(250, false), ElementsAre("ib_down"));
}

TEST_F(Port, ThreeLongFlapsInADayDrain) {
  for (int i = 0; i < 3; ++i) {
    at(i * 100, true);
    at(i * 100 + 10, false);
    at(i * 100 + 20, false);
  }
  EXPECT_THAT(at(300, true), ElementsAre("ib_flapping"));
  EXPECT_THAT(at(300 + 24 * 3600, true), IsEmpty());
}

TEST_F(Port, ShortFlapsAreOnlyCarrierLosses) {
  for (int i = 0; i < 4; ++i) {
    at(i * 100, true);
    at(i * 100 + 10, false);
    EXPECT_THAT(at(i * 100 + 20, true), IsEmpty());
  }
  at(500, false);
  EXPECT_THAT(at(510, true), ElementsAre("ib_carrier_losses"));
}

TEST_F(Port, TheCounterSeesLossesBetweenReadings) {
  at(0, true, 100);
  EXPECT_THAT(at(10, true, 104), IsEmpty());
  EXPECT_THAT(at(20, true, 105), ElementsAre("ib_carrier_losses"));
}

TEST_F(Port, ACounterThatStartsAnewAccusesNobody) {
  at(0, true, 100, 50'000);
  EXPECT_THAT(at(10, true, 0, 0), IsEmpty());
  EXPECT_THAT(at(20, true, 4, 120), IsEmpty());
}

TEST_F(Port, SymbolErrorsAreWatched) {
  at(0, true, std::nullopt, 0);
  EXPECT_THAT(at(1800, true, std::nullopt, 120), IsEmpty());
  EXPECT_THAT(at(1801, true, std::nullopt, 121), ElementsAre("ib_symbol_errors"));
  EXPECT_EQ(last_[0].verdict.action, Action::kWatch);
}

TEST_F(Port, LinkRecoveriesAreWatched) {
  PortReading reading;
  reading.active = true;
  reading.link_recoveries = 10;
  rule_.observe(reading, 0);
  reading.link_recoveries = 16;
  EXPECT_THAT(classes(rule_.observe(reading, 30)), ElementsAre("ib_link_recovery"));
  EXPECT_THAT(classes(rule_.observe(reading, 120)), IsEmpty());
}

// Each rate alone, as often as its limit and once less.
TEST_F(Port, RatesOfErrorsAreWatchedFromTheirLimitOn) {
  struct Case {
    const char* fault_class;
    Reading PortReading::*counter;
    std::uint64_t per_minute;
  };
  const Case cases[] = {{"ib_local_link_integrity", &PortReading::integrity_errors, 1},
                        {"ib_receive_errors", &PortReading::receive_errors, 600},
                        {"ib_ack_timeouts", &PortReading::ack_timeouts, 60},
                        {"roce_icrc_errors", &PortReading::icrc_errors, 1},
                        {"roce_retransmits", &PortReading::retransmits, 600},
                        {"roce_slow_restarts", &PortReading::slow_restarts, 600}};
  for (const auto& item : cases) {
    const auto after = [&](std::uint64_t growth) {
      PortRule rule;
      PortReading reading;
      reading.active = true;
      reading.*item.counter = 7;
      std::vector<Finding> found;
      for (int minute = 0; minute < 4; ++minute) {
        found = rule.observe(reading, minute * 60);
        reading.*item.counter = *(reading.*item.counter) + growth;
      }
      return found;
    };
    EXPECT_THAT(after(item.per_minute - 1), IsEmpty()) << item.fault_class;
    const auto found = after(item.per_minute);
    EXPECT_THAT(classes(found), ElementsAre(item.fault_class));
    EXPECT_EQ(found.at(0).verdict.action, Action::kWatch);
  }
}

TEST_F(Port, OneBurstOfErrorsIsNoRate) {
  PortReading reading;
  reading.active = true;
  reading.receive_errors = 0;
  rule_.observe(reading, 0);
  reading.receive_errors = 1'000'000;
  for (int t = 30; t < 600; t += 30) EXPECT_THAT(rule_.observe(reading, t), IsEmpty());
}

TEST_F(Port, ALinkThatCameBackSlowerIsWatched) {
  PortReading reading;
  reading.active = true;
  reading.rate_mbps = 400'000;
  EXPECT_THAT(rule_.observe(reading, 0), IsEmpty());
  reading.rate_mbps = 100'000;
  rule_.observe(reading, 30);
  EXPECT_THAT(rule_.observe(reading, 60), IsEmpty());
  EXPECT_THAT(classes(rule_.observe(reading, 90)), ElementsAre("ib_slow"));
  reading.rate_mbps = 400'000;
  for (int t = 120; t < 300; t += 30) rule_.observe(reading, t);
  EXPECT_THAT(rule_.observe(reading, 300), IsEmpty());
}

TEST(MemoryController, UncorrectedErrorsDrainAtJobEndAndStay) {
  MemoryControllerRule rule;
  EXPECT_THAT(rule.observe({"mc0", 0, 5}, 0), IsEmpty());  // of before: a baseline
  const auto found = rule.observe({"mc0", 0, 6}, 30);
  EXPECT_THAT(classes(found), ElementsAre("edac_uncorrected"));
  EXPECT_TRUE(found[0].verdict.at_job_end);
  EXPECT_THAT(classes(rule.observe({"mc0", 0, 6}, 1'000'000)), ElementsAre("edac_uncorrected"));
}

TEST(MemoryController, OnlyALastingStormOfCorrectedErrorsIsWatched) {
  MemoryControllerRule burst;
  burst.observe({"mc0", 0, 0}, 0);
  for (int minute = 1; minute < 10; ++minute)
    EXPECT_THAT(burst.observe({"mc0", 100'000, 0}, minute * 60), IsEmpty());
  MemoryControllerRule storm;
  std::uint64_t errors = 0;
  std::vector<Finding> found;
  for (int minute = 0; minute < 5; ++minute)
    found = storm.observe({"mc0", errors += 60, 0}, minute * 60);
  EXPECT_THAT(classes(found), ElementsAre("edac_corrected_storm"));
  EXPECT_EQ(found[0].verdict.action, Action::kWatch);
}

TEST(Pcie, AFatalErrorCondemnsAGpuAndIsWatchedElsewhere) {
  PcieRule gpu, disk;
  gpu.observe({"0000:1a:00.0", true, 0, 0, 1}, 0);
  disk.observe({"0000:02:00.0", false, 0, 0, 1}, 0);
  const auto on_gpu = gpu.observe({"0000:1a:00.0", true, 0, 0, 2}, 30);
  const auto on_disk = disk.observe({"0000:02:00.0", false, 0, 0, 2}, 30);
  EXPECT_EQ(on_gpu.at(0).verdict.action, Action::kRebootNode);
  EXPECT_EQ(on_disk.at(0).verdict.action, Action::kWatch);
}

TEST(Pcie, NonfatalAndCorrectableErrorsAreWatched) {
  PcieRule rule;
  rule.observe({"x", true, 0, 0, 0}, 0);
  EXPECT_THAT(classes(rule.observe({"x", true, 5, 1, 0}, 30)), ElementsAre("pcie_nonfatal"));
  EXPECT_THAT(rule.observe({"x", true, 5, 1, 0}, 3700), IsEmpty());
}

TEST(GpuCount, AGpuThatLeftTheBusRebootsTheNodeAfterASecondLook) {
  GpuCountRule rule;
  EXPECT_THAT(rule.observe({8, 8, {}}, 0), IsEmpty());
  EXPECT_THAT(rule.observe({8, 7, {}}, 30), IsEmpty());
  const auto found = rule.observe({8, 7, {}}, 60);
  EXPECT_THAT(classes(found), ElementsAre("gpu_missing"));
  EXPECT_EQ(found[0].verdict.action, Action::kRebootNode);
  EXPECT_THAT(rule.observe({8, 8, {}}, 90), IsEmpty());
}

TEST(GpuCount, AGpuThatWasNeverThereIsForPeople) {
  GpuCountRule rule;
  rule.observe({8, 0, {}}, 0);
  const auto found = rule.observe({8, 0, {}}, 60);
  EXPECT_THAT(classes(found), ElementsAre("gpu_not_found"));
  EXPECT_EQ(found[0].verdict.action, Action::kWatch);
}

TEST(GpuCount, DeviceFilesThatWereNeverSeenDoNotHastenAMissingGpu) {
  GpuCountRule rule;
  for (int t = 0; t <= 60; t += 30) rule.observe({8, 8, {"/dev/nvidia0"}}, t);
  EXPECT_THAT(classes(rule.observe({8, 7, {"/dev/nvidia0"}}, 90)), ElementsAre("gpu_not_found"));
  EXPECT_THAT(classes(rule.observe({8, 7, {"/dev/nvidia0"}}, 120)), ElementsAre("gpu_missing"));
}

TEST(GpuCount, AnUnknownCountIsNotAMissingGpu) {
  GpuCountRule rule;
  for (int t = 0; t < 300; t += 30) {
    EXPECT_THAT(rule.observe({8, std::nullopt, {}}, t), IsEmpty());
    EXPECT_THAT(rule.observe({std::nullopt, 0, {}}, t), IsEmpty());
  }
}

TEST(NodeRules, AFabricManagerIsMissedOnlyWhereThereAreSwitches) {
  NodeRules without, with;
  NodeReadings readings;
  readings.fabric_manager_runs = false;
  for (int i = 0; i < 5; ++i) EXPECT_THAT(without.observe(readings, i * 30), IsEmpty());
  readings.has_nvswitches = true;
  std::vector<Finding> found;
  for (int i = 0; i < 3; ++i) found = with.observe(readings, i * 30);
  EXPECT_THAT(classes(found), ElementsAre("fabric_manager_gone"));
  EXPECT_FALSE(evacuates_node(found[0].verdict.action));
}

TEST(NodeRules, AStuckProcessIsReportedOnTheSecondLookAndForgotten) {
  NodeRules rules;
  NodeReadings readings;
  readings.stuck = {{42, "python", "job 7 has ended"}};
  EXPECT_THAT(rules.observe(readings, 0), IsEmpty());
  const auto found = rules.observe(readings, 30);
  EXPECT_THAT(classes(found), ElementsAre("gpu_process_stuck"));
  EXPECT_EQ(found[0].verdict.action, Action::kWatch);
  readings.stuck.clear();
  EXPECT_THAT(rules.observe(readings, 60), IsEmpty());
  readings.stuck = {{42, "python", "job 9 has ended"}};
  EXPECT_THAT(rules.observe(readings, 90), IsEmpty());
}

TEST(NodeRules, ServicesClockAndMemoryAreWatched) {
  NodeRules rules;
  NodeReadings readings;
  readings.slurmd_runs = false;
  readings.clock_synchronized = false;
  readings.memory = {1'000'000, 5'000, 4};
  std::vector<Finding> found;
  for (int i = 0; i < 3; ++i) found = rules.observe(readings, i * 30);
  EXPECT_THAT(classes(found), testing::UnorderedElementsAre("memory_low", "memory_corrupted",
                                                            "clock_unsynchronized", "slurmd_gone"));
  for (const auto& finding : found) EXPECT_EQ(finding.verdict.action, Action::kWatch);
}

FileSystemReading mounted(const std::string& type, bool writable = true, int used = 10) {
  return {false, true, writable, used, 1, type};
}

TEST(FileSystem, ASharedOneNeverDrains) {
  for (const auto* type : {"nfs", "nfs4", "lustre", "fuse.sshfs", "beegfs", "gpfs", "ceph"}) {
    FileSystemRule rule("/scratch");
    rule.observe(mounted(type));
    FileSystemReading hung;
    hung.hung = true;
    rule.observe(hung);
    const auto found = rule.observe(hung);
    ASSERT_THAT(classes(found), ElementsAre("fs_hung")) << type;
    EXPECT_EQ(found[0].verdict.action, Action::kWatch) << type;
  }
}

TEST(FileSystem, ALocalOneThatIsReadOnlyDrainsAtJobEnd) {
  FileSystemRule rule("/local");
  rule.observe(mounted("xfs"));
  EXPECT_THAT(rule.observe(mounted("xfs", false)), IsEmpty());
  const auto found = rule.observe(mounted("xfs", false));
  EXPECT_THAT(classes(found), ElementsAre("fs_read_only"));
  EXPECT_EQ(found[0].verdict.action, Action::kDrain);
  EXPECT_TRUE(found[0].verdict.at_job_end);
}

TEST(FileSystem, OneThatWasNeverWritableIsMeantToBeSo) {
  FileSystemRule rule("/usr");
  rule.observe(mounted("ext4", false));
  const auto found = rule.observe(mounted("ext4", false));
  ASSERT_THAT(classes(found), ElementsAre("fs_read_only"));
  EXPECT_EQ(found[0].verdict.action, Action::kWatch);
}

TEST(FileSystem, OneThatWasNeverSeenMountedIsOnlyWatched) {
  FileSystemRule rule("/x");
  FileSystemReading gone;
  gone.mounted = false;
  rule.observe(gone);
  EXPECT_EQ(rule.observe(gone).at(0).verdict.action, Action::kWatch);
}

TEST(FileSystem, AFullOneIsWatched) {
  FileSystemRule rule("/local");
  rule.observe(mounted("xfs", true, 99));
  const auto found = rule.observe(mounted("xfs", true, 99));
  EXPECT_THAT(classes(found), ElementsAre("fs_full"));
  EXPECT_EQ(found[0].verdict.action, Action::kWatch);
}

}  // namespace
}  // namespace acrf
