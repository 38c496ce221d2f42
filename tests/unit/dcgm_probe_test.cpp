// SPDX-License-Identifier: GPL-2.0-or-later
// The DCGM probe over the stand-in library.
#include "probe_fixture.h"

#include "build_paths.h"

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
