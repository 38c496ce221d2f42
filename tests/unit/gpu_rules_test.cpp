// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/gpu_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace acrf {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kNow = 1'800'000'000 / 86400 * 86400;
constexpr std::int64_t kDay = 86400;

// A node of healthy GPUs, looked at every so often.
class GpuRulesTest : public testing::Test {
 protected:
  GpuRulesTest() {
    for (int i = 0; i < 8; ++i) {
      GpuSample gpu;
      gpu.address = {0, static_cast<std::uint8_t>(0x10 + i), 0};
      gpu.uuid = "GPU-" + std::to_string(i);
      gpu.serial = "S" + std::to_string(i);
      gpu.vendor = "nvidia";
      gpu.pcie_generation = gpu.pcie_generation_max = 5;
      gpu.pcie_width = gpu.pcie_width_max = 16;
      gpu.links = {{0, 1, {}, {}, {}, {}, {}}, {1, 1, {}, {}, {}, {}, {}}};
      samples_.push_back(gpu);
    }
    gpu().pcie_replays = 5;
    gpu().aggregate_dram_uncorrected = 7;  // years ago
    gpu().aggregate_sram_uncorrected = 0;
    gpu().nvlink_crc = gpu().nvlink_replay = gpu().nvlink_recovery = 0;
  }

  GpuSample& gpu(std::size_t index = 3) { return samples_[index]; }

  // The classes found newly.
  std::vector<std::string> look(std::int64_t after_s = 5) {
    now_ += after_s;
    findings_ = rules_.look("nvml", samples_, now_);
    std::vector<std::string> classes;
    for (const auto& finding : findings_) classes.push_back(finding.verdict.fault_class);
    return classes;
  }
  Action action() const { return findings_.at(0).verdict.action; }

  std::vector<GpuSample> samples_;
  GpuRules rules_;
  std::vector<GpuFinding> findings_;
  std::int64_t now_ = kNow;
};

TEST_F(GpuRulesTest, HealthyGpusAndOldErrorsAreNoFinding) {
  for (int i = 0; i < 100; ++i) EXPECT_THAT(look(), IsEmpty());
}

TEST_F(GpuRulesTest, ALostGpuIsBelievedAtTheSecondReadingAndToldOnce) {
  look();
  gpu().lost = true;
  EXPECT_THAT(look(), IsEmpty());
  EXPECT_THAT(look(), ElementsAre("gpu_lost"));
  EXPECT_EQ(findings_[0].gpu, gpu().address);
  EXPECT_EQ(findings_[0].gpu_uuid, "GPU-3");
  EXPECT_THAT(look(), IsEmpty());
}

TEST_F(GpuRulesTest, AGpuThatVanishesIsMissingAfterHalfAMinute) {
  look();
  samples_.erase(samples_.begin() + 3);
  EXPECT_THAT(look(), IsEmpty());
  EXPECT_THAT(look(29), IsEmpty());
  EXPECT_THAT(look(1), ElementsAre("gpu_missing"));
  EXPECT_EQ(findings_[0].gpu_uuid, "GPU-3");
  EXPECT_THAT(look(), IsEmpty());
}

TEST_F(GpuRulesTest, AGpuThatCameBackAndIsLostAgainIsToldAgain) {
  gpu().lost = true;
  look();
  EXPECT_THAT(look(), ElementsAre("gpu_lost"));
  gpu().lost = false;
  look();
  gpu().lost = true;
  look();
  EXPECT_THAT(look(), ElementsAre("gpu_lost"));
}

TEST_F(GpuRulesTest, ALostGpuThatVanishesIsNoSecondFault) {
  look();
  gpu().lost = true;
  look();
  EXPECT_THAT(look(), ElementsAre("gpu_lost"));
  samples_.erase(samples_.begin() + 3);
  for (int i = 0; i < 60; ++i) EXPECT_THAT(look(30), IsEmpty());
}

TEST_F(GpuRulesTest, AllGpusGoneIsTheDriversMatter) {
  look();
  samples_.clear();
  for (int i = 0; i < 20; ++i) EXPECT_THAT(look(), IsEmpty());
}

TEST_F(GpuRulesTest, AReplacedGpuThatIsRememberedIsNotMissing) {
  look();
  gpu().aggregate_dram_uncorrected = 8;
  EXPECT_THAT(look(), ElementsAre("ecc_uncorrectable"));
  const auto text = rules_.to_text("boot1");
  rules_ = GpuRules();
  rules_.take_text(text, "boot2");
  gpu().uuid = "GPU-new";
  for (int i = 0; i < 20; ++i) EXPECT_THAT(look(), IsEmpty());
}

TEST_F(GpuRulesTest, UncorrectableErrorsEscalateWithTheirNumber) {
  look();
  gpu().aggregate_dram_uncorrected = 8;
  EXPECT_THAT(look(), ElementsAre("ecc_uncorrectable"));
  EXPECT_EQ(action(), Action::kResetGpu);
  look(6 * kDay);
  gpu().aggregate_sram_uncorrected = 1;
  EXPECT_THAT(look(), ElementsAre("ecc_uncorrectable_repeated"));
  EXPECT_EQ(action(), Action::kDrain);
  look(20 * kDay);
  gpu().aggregate_sram_uncorrected = 2;
  EXPECT_THAT(look(), ElementsAre("ecc_uncorrectable_chronic"));
  EXPECT_EQ(action(), Action::kRma);
}

TEST_F(GpuRulesTest, UncorrectableErrorsFarApartAreEachTheFirst) {
  look();
  for (int i = 0; i < 3; ++i) {
    gpu().aggregate_dram_uncorrected = 8 + i;
    EXPECT_THAT(look(), ElementsAre("ecc_uncorrectable"));
    look(31 * kDay);
  }
}

TEST_F(GpuRulesTest, UncorrectableErrorsAreRememberedOverARebootAndFollowTheGpu) {
  look();
  gpu().aggregate_dram_uncorrected = 8;
  look();
  const auto text = rules_.to_text("boot1");
  rules_ = GpuRules();
  rules_.take_text(text, "boot2");
  gpu().address = {0, 0x99, 0};  // another slot
  look();
  gpu().aggregate_dram_uncorrected = 9;
  EXPECT_THAT(look(), ElementsAre("ecc_uncorrectable_repeated"));
}

TEST_F(GpuRulesTest, ACounterThatStartsAgainIsANewBaseline) {
  gpu().aggregate_dram_uncorrected.reset();
  gpu().volatile_dram_uncorrected = 4;
  look();
  gpu().volatile_dram_uncorrected = 0;  // the driver was loaded again
  EXPECT_THAT(look(), IsEmpty());
  gpu().volatile_dram_uncorrected = 2;
  EXPECT_THAT(look(), ElementsAre("ecc_uncorrectable"));
  gpu().volatile_dram_uncorrected.reset();  // unknown is no reset
  look();
  gpu().volatile_dram_uncorrected = 2;
  EXPECT_THAT(look(), IsEmpty());
}

TEST_F(GpuRulesTest, RemappedRowsAreToldOnceAndAgainAfterTheyHadGone) {
  gpu().remap_pending = 1;
  EXPECT_THAT(look(), ElementsAre("row_remap_pending"));
  EXPECT_EQ(action(), Action::kResetGpu);
  EXPECT_TRUE(findings_[0].verdict.at_job_end);
  EXPECT_TRUE(evacuates(findings_[0].verdict));
  for (int i = 0; i < 50; ++i) EXPECT_THAT(look(60), IsEmpty());
  gpu().remap_pending = 0;
  look(5);
  gpu().remap_pending = 1;
  EXPECT_THAT(look(5), IsEmpty());  // flickers
  gpu().remap_pending = 0;
  look(601);
  gpu().remap_pending = 1;
  EXPECT_THAT(look(), ElementsAre("row_remap_pending"));
}

TEST_F(GpuRulesTest, WhatWasToldIsNotToldAgainByARestartedDaemonButIsByANewBoot) {
  gpu().remap_failure = 1;
  EXPECT_THAT(look(), ElementsAre("row_remap_failure"));
  EXPECT_EQ(action(), Action::kRma);
  const auto text = rules_.to_text("boot1");
  rules_ = GpuRules();
  rules_.take_text(text, "boot1");
  EXPECT_THAT(look(), IsEmpty());
  rules_ = GpuRules();
  rules_.take_text(text, "boot2");
  EXPECT_THAT(look(), ElementsAre("row_remap_failure"));
}

TEST_F(GpuRulesTest, UnknownReadingsHoldNothingAgainstAnybody) {
  samples_[3] = GpuSample{};
  samples_[3].uuid = "GPU-3";
  samples_[3].serial = "S3";
  for (int i = 0; i < 100; ++i) EXPECT_THAT(look(60), IsEmpty());
}

TEST_F(GpuRulesTest, SramOverItsThresholdIsForService) {
  gpu().sram_threshold_exceeded = 1;
  EXPECT_THAT(look(), ElementsAre("sram_ecc_exceeded"));
  EXPECT_EQ(action(), Action::kRma);
}

TEST_F(GpuRulesTest, CorrectedErrorsAreOnlyWatched) {
  gpu().aggregate_dram_corrected = 1;
  look();
  gpu().aggregate_dram_corrected = 30'000'000;
  EXPECT_THAT(look(), ElementsAre("ecc_corrected_rate"));
  EXPECT_EQ(action(), Action::kWatch);
}

TEST_F(GpuRulesTest, RetiredPagesOfOldGpus) {
  gpu().retired_pages = 14;
  look();
  gpu().retired_pages = 16;
  EXPECT_THAT(look(), ElementsAre("page_retirement_rate"));
  gpu(5).retired_pages = 20;  // an old story
  EXPECT_THAT(look(), IsEmpty());
  gpu(5).retired_pages = 63;
  EXPECT_THAT(look(), ElementsAre("page_retirement_limit"));
}

TEST_F(GpuRulesTest, ALinkThatWentDownIsBelievedAfterHalfAMinute) {
  look();
  gpu().links[1].active = 0;
  EXPECT_THAT(look(), IsEmpty());
  EXPECT_THAT(look(30), ElementsAre("nvlink_down"));
  EXPECT_EQ(action(), Action::kCheckFabric);
  EXPECT_EQ(findings_[0].evidence, "NVLink 1 went down");
}

TEST_F(GpuRulesTest, ALinkThatWasNeverUpIsNotDown) {
  gpu().links[1].active = 0;
  for (int i = 0; i < 20; ++i) EXPECT_THAT(look(), IsEmpty());
}

TEST_F(GpuRulesTest, LinkRetriesNeedTwoOfThreeMinutes) {
  look();
  gpu().nvlink_replay = 1;
  EXPECT_THAT(look(), IsEmpty());
  for (int i = 0; i < 5; ++i) EXPECT_THAT(look(60), IsEmpty());
  gpu().nvlink_replay = 2;
  EXPECT_THAT(look(60), IsEmpty());
  gpu().nvlink_recovery = 1;
  EXPECT_THAT(look(60), ElementsAre("nvlink_errors"));
}

TEST_F(GpuRulesTest, FewCrcErrorsAreWatchedAndAStormIsTheFabrics) {
  look();
  for (int i = 1; i <= 3; ++i) {
    gpu().nvlink_crc = i;
    const std::vector<std::string> expected(i < 3 ? 0 : 1, "nvlink_crc");
    EXPECT_EQ(look(60), expected);
  }
  gpu().nvlink_crc = 6100;
  EXPECT_THAT(look(60), ElementsAre("nvlink_errors"));
}

TEST_F(GpuRulesTest, AFabricThatFallsApartIsFoundAndOneThatNeverCameUpIsNot) {
  gpu(1).fabric_state = 1;
  gpu().fabric_state = 3;
  look();
  gpu().fabric_state = 2;
  look();
  EXPECT_THAT(look(30), ElementsAre("fabric_degraded"));
  EXPECT_EQ(findings_[0].gpu_uuid, "GPU-3");
}

TEST_F(GpuRulesTest, PcieReplaysAgainstTheBudgetOfTheGeneration) {
  look(0);
  for (int i = 0; i < 5; ++i) {
    gpu().pcie_replays = *gpu().pcie_replays + 31;  // what generation 5 may have
    EXPECT_THAT(look(60), IsEmpty());
  }
  for (int i = 0; i < 3; ++i) {
    gpu().pcie_replays = *gpu().pcie_replays + 32;
    const std::vector<std::string> expected(i < 2 ? 0 : 1, "pcie_replay");
    EXPECT_EQ(look(60), expected);
  }
  EXPECT_EQ(action(), Action::kWatch);
}

TEST_F(GpuRulesTest, ANarrowLinkCountsOnlyUnderLoad) {
  gpu().pcie_width = 4;
  gpu().pcie_generation = 1;
  gpu().utilization_percent = 0;
  for (int i = 0; i < 20; ++i) EXPECT_THAT(look(60), IsEmpty());
  gpu().utilization_percent = 90;
  look();
  EXPECT_THAT(look(60), ElementsAre("pcie_degraded"));
}

TEST_F(GpuRulesTest, SlowdownInSixOfTenMinutesIsToldAndALastingOneIsCritical) {
  gpu().slowdown_thermal = 1;
  for (int i = 0; i < 5; ++i) EXPECT_THAT(look(60), IsEmpty());
  EXPECT_THAT(look(60), ElementsAre("hw_slowdown"));
  EXPECT_EQ(action(), Action::kWatch);
  for (int i = 0; i < 29; ++i) EXPECT_THAT(look(60), IsEmpty());
  EXPECT_THAT(look(60), ElementsAre("hw_slowdown_lasting"));
  EXPECT_EQ(findings_[0].verdict.severity, Severity::kCritical);
  EXPECT_EQ(action(), Action::kDrain);
  EXPECT_TRUE(findings_[0].verdict.at_job_end);  // the job goes on
}

TEST_F(GpuRulesTest, SlowdownOfManyGpusIsTheCoolingsAndDrainsNothing) {
  gpu(0).slowdown_hardware = gpu(6).slowdown_power = 1;
  for (int i = 0; i < 60; ++i) {
    look(60);
    for (const auto& finding : findings_) {
      EXPECT_EQ(finding.verdict.fault_class, "cooling_or_power");
      EXPECT_EQ(finding.verdict.action, Action::kWatch);
    }
    EXPECT_EQ(findings_.size(), i == 5 ? 2u : 0u);
  }
}

TEST_F(GpuRulesTest, HeatIsMeasuredAgainstTheDevicesOwnLimit) {
  gpu().temperature_c = 90;
  gpu(4).temperature_c = 80;
  gpu(4).slowdown_c = 80;
  look();
  EXPECT_THAT(look(300), ElementsAre("temperature_limit"));
  EXPECT_EQ(findings_[0].gpu_uuid, "GPU-4");
  EXPECT_EQ(action(), Action::kWatch);
  for (int i = 0; i < 24; ++i) EXPECT_THAT(look(60), IsEmpty());
  EXPECT_THAT(look(60), ElementsAre("temperature_limit_lasting"));
  EXPECT_EQ(action(), Action::kDrain);
  EXPECT_TRUE(findings_[0].verdict.at_job_end);
}

TEST_F(GpuRulesTest, HeatOfManyGpusIsTheCoolingsAndDrainsNothing) {
  for (const std::size_t i : {1, 5}) {
    gpu(i).temperature_c = 91;
    gpu(i).slowdown_c = 87;
  }
  for (int i = 0; i < 60; ++i) {
    look(60);
    for (const auto& finding : findings_) {
      EXPECT_EQ(finding.verdict.fault_class, "cooling_or_power");
      EXPECT_EQ(finding.verdict.action, Action::kWatch);
    }
  }
}

TEST_F(GpuRulesTest, PersistenceIsMissedOnlyWhereItWasOn) {
  gpu(2).persistence = 0;
  gpu(3).persistence = 1;
  look();
  gpu(3).persistence = 0;
  look();
  EXPECT_THAT(look(60), ElementsAre("persistence_lost"));
  EXPECT_EQ(findings_[0].gpu_uuid, "GPU-3");
  EXPECT_EQ(action(), Action::kWatch);
}

TEST_F(GpuRulesTest, TheDriversRecoveryActionIsObeyedAtTheSecondReading) {
  const std::pair<int, Action> expected[] = {{1, Action::kResetGpu},    {2, Action::kRebootNode},
                                             {3, Action::kDrain},       {4, Action::kDrain},
                                             {5, Action::kCheckFabric}, {6, Action::kWatch}};
  for (const auto& [value, act] : expected) {
    gpu().recovery_action = static_cast<std::uint64_t>(value);
    EXPECT_THAT(look(), IsEmpty()) << value;
    EXPECT_EQ(look().size(), 1u) << value;
    EXPECT_EQ(action(), act) << value;
  }
}

// The driver may print no line about it.
TEST_F(GpuRulesTest, ARecoveryActionThatIsOverClosesTheCaseAtTheSecondReading) {
  for (int round = 0; round < 2; ++round) {
    gpu().recovery_action = 1;
    look();
    EXPECT_THAT(look(), ElementsAre("recovery_reset"));
    gpu().recovery_action = 0;
    EXPECT_THAT(look(), IsEmpty());
    EXPECT_THAT(look(), ElementsAre("recovered"));
    EXPECT_EQ(action(), Action::kIgnore);
    EXPECT_THAT(look(), IsEmpty());
  }
  gpu().recovery_action = 6;  // nobody knows what it asked for
  look();
  look();
  gpu().recovery_action = 0;
  look();
  EXPECT_THAT(look(), IsEmpty());
}

TEST_F(GpuRulesTest, AmdAndIntelErrorsPerBlock) {
  gpu().vendor = "amd";
  gpu().blocks = {{"umc", 0, 3}, {"gfx", 0, 0}};
  EXPECT_THAT(look(), IsEmpty());
  gpu().blocks[1].uncorrected = 1'048'560;  // a sleeping card was asked
  EXPECT_THAT(look(), IsEmpty());
  gpu().blocks[0].uncorrected = 4;
  EXPECT_THAT(look(), ElementsAre("ras_uncorrectable"));
  EXPECT_EQ(action(), Action::kDrain);
  EXPECT_EQ(findings_[0].evidence, "new uncorrectable errors: umc 1");
}

TEST_F(GpuRulesTest, WhatProgramsDidWrongIsNotIntelsHardware) {
  gpu().vendor = "intel";
  gpu().blocks = {{"programming", 0, 0}, {"cache", 0, 0}};
  look();
  gpu().blocks[0].uncorrected = 5;
  EXPECT_THAT(look(), ElementsAre("ras_software"));
  EXPECT_EQ(action(), Action::kWatch);
}

TEST_F(GpuRulesTest, AmdPagesAndXgmi) {
  gpu().vendor = "amd";
  gpu().retired_pages = 100;  // NVIDIA's limit is not AMD's
  gpu().retired_pages_pending = 1;
  EXPECT_THAT(look(), ElementsAre("bad_page_pending"));
  gpu().xgmi_error = 1;
  EXPECT_THAT(look(), IsEmpty());
  EXPECT_THAT(look(), ElementsAre("xgmi_error"));
  gpu().retired_pages_failed = 1;
  EXPECT_THAT(look(), ElementsAre("bad_page_failed"));
}

TEST_F(GpuRulesTest, IntelStates) {
  gpu().vendor = "intel";
  gpu().wedged = 1;
  look();
  EXPECT_THAT(look(), ElementsAre("gpu_wedged"));
  gpu().memory_health = 4;
  EXPECT_THAT(look(), ElementsAre("memory_replace"));
  gpu().memory_health = 2;
  EXPECT_THAT(look(), ElementsAre("memory_degraded"));
}

TEST_F(GpuRulesTest, ASuspendedGpuIsLeftAlone) {
  gpu().suspended = true;
  gpu().remap_failure = 1;
  for (int i = 0; i < 20; ++i) EXPECT_THAT(look(), IsEmpty());
}

TEST_F(GpuRulesTest, XidsAreJudgedAsThoseOfTheKernelLog) {
  gpu().xids = {13, 79};
  EXPECT_THAT(look(), ElementsAre("app_fault", "gpu_lost"));
}

// The number alone may mean anything there, "nothing is needed any more" included.
TEST_F(GpuRulesTest, XidsWhoseLinesSayMoreAreLeftToTheKernelLog) {
  gpu().xids = {154};
  EXPECT_THAT(look(), IsEmpty());
}

TEST_F(GpuRulesTest, DcgmsOpinionIsWatchedOnly) {
  gpu().incidents = {{"memory", true, 18, "row remap failure"}};
  EXPECT_THAT(look(), ElementsAre("dcgm_memory"));
  EXPECT_EQ(action(), Action::kWatch);
}

TEST_F(GpuRulesTest, TwoSourcesDoNotDisturbEachOther) {
  look();
  EXPECT_TRUE(rules_.look("dcgm", {gpu(0)}, now_ + 5).empty());
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(look(), IsEmpty());
    EXPECT_TRUE(rules_.look("dcgm", {gpu(0)}, now_).empty());
  }
}

TEST(GpuRulesText, DamageIsLeftOut) {
  GpuRules rules;
  rules.take_text("acrf-gpu-rules 1\nboot b\ntold nvml%20G c\ntold % c 5\nuncorrectable x -1\n\n",
                  "b");
  EXPECT_EQ(rules.to_text("b"), "acrf-gpu-rules 1\nboot b\n");
  rules.take_text("acrf-gpu-rules 2\nboot b\ntold k c 5\n", "b");
  EXPECT_EQ(rules.to_text("b"), "acrf-gpu-rules 1\nboot b\n");
}

TEST(HangRule, IsBelievedAtTheThirdTimeOfALibraryThatHasAnswered) {
  HangRule rule;
  EXPECT_EQ(rule.hung("nvml", "")->verdict.action, Action::kWatch);
  for (int i = 0; i < 9; ++i) EXPECT_FALSE(rule.hung("nvml", ""));  // it may just be waking up
  rule.answered();
  EXPECT_EQ(rule.hung("nvml", "0000:1a:00")->evidence,
            "nvml did not answer about GPU 0000:1a:00, 1 in a row");
  EXPECT_FALSE(rule.hung("nvml", ""));
  const auto third = rule.hung("nvml", "");
  EXPECT_EQ(third->verdict.action, Action::kDrain);
  EXPECT_EQ(third->evidence, "nvml did not answer about GPU 0000:1a:00, 3 in a row");
  EXPECT_FALSE(rule.hung("nvml", ""));
}

}  // namespace
}  // namespace acrf
