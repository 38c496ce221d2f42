// SPDX-License-Identifier: GPL-2.0-or-later
// The DCGM probe over the stand-in library.
#include "probe_fixture.h"

#include "build_paths.h"
#include "core/gpu_rules.h"

namespace acrf {
namespace {

class DcgmProbe : public ProbeFixture, public testing::WithParamInterface<const char*> {
 protected:
  Probe make_probe(const std::string& library = ACRF_FAKE_DCGM) {
    return ProbeFixture::make_probe("dcgm", library);
  }
};

TEST_P(DcgmProbe, TellsWhatTheWatchesHoldAgainstAGpu) {
  state_.driver = GetParam();
  state_.gpus[2].readings = {{"remap_failure", 1}, {"slowdown_thermal", 1}};
  save();
  auto probe = make_probe();
  const auto samples = samples_of(probe);
  ASSERT_EQ(samples.size(), 4u);
  EXPECT_EQ(samples[2].uuid, state_.gpus[2].uuid);
  EXPECT_EQ(samples[2].serial, state_.gpus[2].serial);
  EXPECT_EQ(samples[2].address, (PciAddress{0, 0x30, 0}));
  EXPECT_TRUE(samples[1].incidents.empty());
  ASSERT_EQ(samples[2].incidents.size(), 2u);
  EXPECT_EQ(samples[2].incidents[0].system, "memory");
  EXPECT_TRUE(samples[2].incidents[0].failed);
  EXPECT_EQ(samples[2].incidents[0].text, "Row remap failure");
  EXPECT_EQ(samples[2].incidents[1].system, "thermal");
  EXPECT_FALSE(samples[2].incidents[1].failed);
}

TEST_P(DcgmProbe, TellsAPolicysViolationsOnceAndOfTheirGpu) {
  state_.driver = GetParam();
  state_.gpus[1].readings = {{"aggregate_dram_uncorrected", 3}, {"pcie_replays", 10}};
  save();
  auto probe = make_probe();
  for (const auto& gpu : samples_of(probe)) EXPECT_TRUE(gpu.incidents.empty());  // all old
  state_.gpus[1].readings = {{"aggregate_dram_uncorrected", 4}, {"pcie_replays", 12}};
  state_.gpus[3].readings = {{"nvlink_replay", 5}};
  state_.gpus[3].xids = {79};  // the kernel log's matter
  save();
  const auto samples = samples_of(probe);
  ASSERT_EQ(samples.size(), 4u);
  EXPECT_TRUE(samples[0].incidents.empty());
  ASSERT_EQ(samples[1].incidents.size(), 2u);
  for (const auto& incident : samples[1].incidents) {
    const bool memory = incident.system == "policy_memory";
    EXPECT_EQ(incident.text, memory ? "4 double-bit errors" : "12 PCIe replays");
    EXPECT_EQ(incident.failed, memory);
  }
  ASSERT_EQ(samples[3].incidents.size(), 1u);
  EXPECT_EQ(samples[3].incidents[0].system, "policy_nvlink");
  for (const auto& gpu : samples_of(probe)) EXPECT_TRUE(gpu.incidents.empty());
}

TEST_P(DcgmProbe, TellsWhatItCountsOfLinksAndFabric) {
  state_.driver = GetParam();
  state_.gpus[1].readings = {{"nvlink_crc", 5},
                             {"nvlink_crc_data", 2},
                             {"nvlink_replay", 3},
                             {"nvlink_recovery", 1},
                             {"dcgm_fabric_manager", 4}};
  save();
  auto probe = make_probe();
  const auto samples = samples_of(probe);
  ASSERT_EQ(samples.size(), 4u);
  EXPECT_EQ(samples[0].nvlink_crc, 0);
  EXPECT_EQ(samples[0].fabric_state, 3);
  EXPECT_EQ(samples[0].fabric_status, 0);
  EXPECT_EQ(samples[1].nvlink_crc, 7);
  EXPECT_EQ(samples[1].nvlink_replay, 3);
  EXPECT_EQ(samples[1].nvlink_recovery, 1);
  EXPECT_EQ(samples[1].fabric_state, 3);
  EXPECT_EQ(samples[1].fabric_status, 1);
}

INSTANTIATE_TEST_SUITE_P(OfVersions4And3, DcgmProbe, testing::Values("550.90.07", "old 450.51"),
                         [](const auto& param) { return param.index == 0 ? "New" : "Old"; });

TEST_F(DcgmProbe, APolicyOfTheSiteStaysAndItsViolationsAreTold) {
  constexpr unsigned kThermal = 0x08, kXid = 0x40;
  state_.gpus[2].readings = {{"dcgm_policy", kThermal | kXid}};
  save();
  auto probe = make_probe();
  samples_of(probe);
  state_.gpus[2].temperature_c = 91;
  state_.gpus[2].xids = {79};
  state_.gpus[2].readings["pcie_replays"] = 7;  // nothing that its policy watches
  save();
  const auto samples = samples_of(probe);
  ASSERT_EQ(samples.size(), 4u);
  ASSERT_EQ(samples[2].incidents.size(), 1u);
  EXPECT_EQ(samples[2].incidents[0].system, "policy_thermal");
  EXPECT_EQ(samples[2].incidents[0].text, "91 C");
}

TEST_F(DcgmProbe, GpusWithoutPoliciesStillHaveTheirHealthWatches) {
  for (auto& gpu : state_.gpus) gpu.not_supported = {"dcgmPolicyGet"};
  state_.gpus[2].readings = {{"remap_failure", 1}};
  save();
  auto probe = make_probe();
  const auto samples = samples_of(probe);
  ASSERT_EQ(samples.size(), 4u);
  EXPECT_EQ(samples[2].incidents.size(), 1u);
}

// NVML has no sum of them.
TEST_F(DcgmProbe, RecoveriesOfNvlink5AreAFinding) {
  GpuRules rules;
  for (auto& gpu : state_.gpus) gpu.readings["nvlink_generation"] = 5;
  save();
  auto probe = make_probe();
  const auto samples = samples_of(probe);
  ASSERT_EQ(samples.size(), 4u);
  EXPECT_EQ(samples[2].nvlink_recovery, 0);
  EXPECT_FALSE(samples[2].nvlink_crc || samples[2].nvlink_replay) << "blank is unknown";
  EXPECT_TRUE(rules.look("dcgm", samples, 1000).empty());
  std::vector<GpuFinding> findings;
  for (std::int64_t now_s = 1060; now_s <= 1180; now_s += 60) {
    ++state_.gpus[2].readings["nvlink_recovery"];
    save();
    for (auto& finding : rules.look("dcgm", samples_of(probe), now_s)) findings.push_back(finding);
  }
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].verdict.fault_class, "nvlink_errors");
  EXPECT_EQ(findings[0].gpu_uuid, state_.gpus[2].uuid);
}

TEST_F(DcgmProbe, AFabricManagerThatFailsIsAFindingAndOneThatIsNotKnownIsNone) {
  GpuRules rules;
  auto probe = make_probe();
  EXPECT_TRUE(rules.look("dcgm", samples_of(probe), 1000).empty());
  state_.gpus[0].readings["dcgm_fabric_manager"] = 6;  // DCGM's "NVML is too old"
  state_.gpus[1].readings["dcgm_fabric_manager"] = 4;
  save();
  EXPECT_TRUE(rules.look("dcgm", samples_of(probe), 1010).empty());
  const auto samples = samples_of(probe);
  EXPECT_FALSE(samples[0].fabric_state);
  const auto findings = rules.look("dcgm", samples, 1041);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].verdict.fault_class, "fabric_degraded");
  EXPECT_EQ(findings[0].gpu_uuid, state_.gpus[1].uuid);
}

TEST_F(DcgmProbe, FieldsThatAreNotSupportedAreUnknown) {
  state_.gpus[0].not_supported = {"dcgmEntitiesGetLatestValues"};
  save();
  auto probe = make_probe();
  const auto samples = samples_of(probe);
  ASSERT_EQ(samples.size(), 4u);
  for (const auto& name : reading_names()) EXPECT_FALSE(samples[0].*name.field) << name.key;
  EXPECT_EQ(samples[1].nvlink_crc, 0);
}

TEST_F(DcgmProbe, ALibraryWithoutPoliciesStillHasItsHealthWatches) {
  state_.gpus[2].readings = {{"remap_failure", 1}, {"nvlink_replay", 4}};
  save();
  auto probe = make_probe(ACRF_FAKE_DCGM_OLD);
  const auto samples = samples_of(probe);
  ASSERT_EQ(samples.size(), 4u);
  EXPECT_EQ(samples[2].incidents.size(), 1u);
  EXPECT_EQ(samples[2].nvlink_replay, 4);
}

TEST_F(DcgmProbe, ALibraryOfAnotherKindIsUnknownNotHealthy) {
  auto probe = make_probe("libc.so.6");
  const auto samples = parse_samples(ask(probe).value());
  ASSERT_FALSE(samples.ok());
  EXPECT_EQ(samples.error().sentence, "libc.so.6 lacks the functions of DCGM 3 or 4");
}

TEST_F(DcgmProbe, AGpuThatVanishesLeavesTheOthersTheirNames) {
  GpuRules rules;
  auto probe = make_probe();
  rules.look("dcgm", samples_of(probe), 1000);
  state_.gpus[1].vanished = true;
  state_.gpus[3].readings = {{"remap_failure", 1}};
  save();
  const auto samples = samples_of(probe);
  ASSERT_EQ(samples.size(), 3u);
  EXPECT_EQ(samples[1].uuid, state_.gpus[2].uuid);
  EXPECT_EQ(samples[2].incidents.size(), 1u);
  EXPECT_EQ(rules.look("dcgm", samples, 1001).size(), 1u);  // the remap alone
  const auto findings = rules.look("dcgm", samples_of(probe), 1032);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].verdict.fault_class, "gpu_missing");
  EXPECT_EQ(findings[0].verdict.action, Action::kWatch) << "a second opinion";
  EXPECT_EQ(findings[0].gpu_uuid, state_.gpus[1].uuid);
}

TEST_F(DcgmProbe, AHealthCheckThatFailsIsUnknownNotHealthy) {
  state_.gpus[0].not_supported = {"dcgmHealthCheck"};
  save();
  auto probe = make_probe();
  const auto samples = parse_samples(ask(probe).value());
  ASSERT_FALSE(samples.ok());
  EXPECT_THAT(samples.error().sentence, testing::HasSubstr("health check"));
  state_.gpus[0].not_supported = {};
  save();
  EXPECT_EQ(samples_of(probe).size(), 4u);
}

TEST_F(DcgmProbe, ACallThatHangsIsKilled) {
  auto probe = make_probe();
  samples_of(probe);
  state_.gpus[2].hang = true;
  save();
  EXPECT_EQ(ask(probe, seconds(1)), std::nullopt);
  probe.stop();
  state_.gpus[2].hang = false;
  save();
  EXPECT_EQ(samples_of(probe).size(), 4u);
}

TEST_F(DcgmProbe, AMissingLibraryOrEngineIsUnknownNotHealthy) {
  auto missing = make_probe("/nonexistent/libdcgm.so.4");
  EXPECT_FALSE(parse_samples(ask(missing).value()).ok());
  std::filesystem::remove(directory_.path("gpus.json"));
  auto probe = make_probe();
  EXPECT_FALSE(parse_samples(ask(probe).value()).ok());
}

}  // namespace
}  // namespace acrf
