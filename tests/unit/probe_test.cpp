// SPDX-License-Identifier: GPL-2.0-or-later
// The NVML probe over the stand-in library.
#include "sources/probe.h"

#include "build_paths.h"
#include "probe_fixture.h"

namespace acrf {
namespace {

using testing::HasSubstr;

class NvmlProbe : public ProbeFixture {
 protected:
  Probe make_probe(const std::string& library = ACRF_FAKE_NVML) {
    return ProbeFixture::make_probe("nvml", library);
  }
};

TEST_F(NvmlProbe, TellsIdentityAndReadings) {
  auto probe = make_probe();
  const auto samples = samples_of(probe);
  ASSERT_EQ(samples.size(), 4u);
  const auto& gpu = samples[1];
  EXPECT_EQ(gpu.uuid, state_.gpus[1].uuid);
  EXPECT_EQ(gpu.serial, state_.gpus[1].serial);
  EXPECT_EQ(gpu.address, (PciAddress{0, 0x20, 0}));
  EXPECT_EQ(gpu.temperature_c, 34);
  EXPECT_EQ(gpu.slowdown_c, 87);
  EXPECT_EQ(gpu.pcie_width, 16);
  EXPECT_EQ(gpu.pcie_generation_max, 5);
  EXPECT_EQ(gpu.remap_failure, 0);
  EXPECT_EQ(gpu.recovery_action, 0);
  EXPECT_EQ(gpu.fabric_state, 3);
  EXPECT_EQ(gpu.fabric_degraded, 0);
  EXPECT_EQ(gpu.links.size(), 18u);
  EXPECT_EQ(gpu.links[17].active, 1);
  EXPECT_FALSE(gpu.links[0].symbol_errors);  // this generation does not count them
}

TEST_F(NvmlProbe, TellsEveryFaultOfTheState) {
  auto probe = make_probe();
  samples_of(probe);
  auto& gpu = state_.gpus[2];
  const char* const kSame[] = {"aggregate_dram_uncorrected",
                               "aggregate_sram_corrected",
                               "volatile_dram_corrected",
                               "volatile_sram_uncorrected",
                               "sram_threshold_exceeded",
                               "remapped_corrected",
                               "remapped_uncorrected",
                               "remap_pending",
                               "remap_failure",
                               "remap_banks_without_spares",
                               "retired_pages",
                               "retired_pages_pending",
                               "pcie_replays",
                               "pcie_fatal",
                               "slowdown_hardware",
                               "slowdown_thermal",
                               "slowdown_power",
                               "recovery_action",
                               "fabric_degraded",
                               "nvlink_crc",
                               "nvlink_replay",
                               "nvlink_recovery",
                               "memory_temperature_c"};
  for (const auto* name : kSame) gpu.readings[name] = 1;
  gpu.links_down = {5};
  save();
  const auto samples = samples_of(probe);
  ASSERT_EQ(samples.size(), 4u);
  for (const auto& name : reading_names()) {
    if (gpu.readings.count(name.key) == 0) continue;
    EXPECT_EQ(samples[2].*name.field, 1) << name.key;
    EXPECT_NE(samples[1].*name.field, 1) << name.key;
  }
  EXPECT_EQ(samples[2].links[5].active, 0);
  EXPECT_EQ(samples[2].links[0].replay, 1);  // the totals grew: which link was it
  EXPECT_EQ(samples[2].links[1].replay, 0);
  EXPECT_FALSE(samples[1].links[0].replay);
}

TEST_F(NvmlProbe, TellsWhatIsAtTheOtherEndOfALink) {
  state_.gpus[0].link_ends = {state_.gpus[1].pci, "00000000:07:00.0"};
  state_.gpus[0].links_down = {1};
  save();
  auto probe = make_probe();
  auto samples = samples_of(probe);
  ASSERT_EQ(samples.size(), 4u);
  EXPECT_EQ(samples[0].links[0].remote, (PciAddress{0, 0x20, 0}));
  EXPECT_EQ(samples[0].links[1].remote, PciAddress{}) << "it was never up";
  EXPECT_EQ(samples[0].links[2].remote, PciAddress{}) << "the driver does not say";
  state_.gpus[0].links_down = {0};
  save();
  samples = samples_of(probe);
  EXPECT_EQ(samples[0].links[0].remote, (PciAddress{0, 0x20, 0})) << "it is still there";
  EXPECT_EQ(samples[0].links[1].remote, (PciAddress{0, 0x07, 0}));
}

TEST_F(NvmlProbe, TellsXidsOnceAndNotThoseFromBeforeItsTime) {
  state_.gpus[1].xids = {31};
  save();
  auto probe = make_probe();
  EXPECT_TRUE(samples_of(probe)[1].xids.empty());
  state_.gpus[1].xids = {31, 48, 95};
  save();
  EXPECT_EQ(samples_of(probe)[1].xids, (std::vector<std::uint64_t>{48, 95}));
  EXPECT_TRUE(samples_of(probe)[1].xids.empty());
}

TEST_F(NvmlProbe, ALostGpuKeepsItsName) {
  auto probe = make_probe();
  samples_of(probe);
  state_.gpus[2].lost = true;
  save();
  const auto samples = samples_of(probe);
  ASSERT_EQ(samples.size(), 4u);
  EXPECT_TRUE(samples[2].lost);
  EXPECT_EQ(samples[2].uuid, state_.gpus[2].uuid);
  EXPECT_FALSE(samples[1].lost);
}

TEST_F(NvmlProbe, AGpuThatNeedsAResetSaysSo) {
  auto probe = make_probe();
  samples_of(probe);
  state_.gpus[2].reset_required = true;
  save();
  const auto samples = samples_of(probe);
  EXPECT_TRUE(samples[2].reset_required);
  EXPECT_FALSE(samples[2].lost);
  EXPECT_FALSE(samples[2].temperature_c);
}

TEST_F(NvmlProbe, AGpuThatVanishesLeavesTheOthersTheirNames) {
  auto probe = make_probe();
  samples_of(probe);
  state_.gpus[1].vanished = true;
  save();
  const auto samples = samples_of(probe);
  ASSERT_EQ(samples.size(), 3u);
  EXPECT_EQ(samples[0].uuid, state_.gpus[0].uuid);
  EXPECT_EQ(samples[1].uuid, state_.gpus[2].uuid);
  EXPECT_EQ(samples[2].uuid, state_.gpus[3].uuid);
}

TEST_F(NvmlProbe, RemappedRowsAreUnknownUnderMig) {
  state_.gpus[0].mig = true;
  state_.gpus[0].readings["remap_failure"] = 1;
  save();
  auto probe = make_probe();
  const auto samples = samples_of(probe);
  EXPECT_EQ(samples[0].mig, 1);
  EXPECT_FALSE(samples[0].remap_failure);
  EXPECT_EQ(samples[1].remap_failure, 0);
}

TEST_F(NvmlProbe, NotSupportedIsUnknown) {
  state_.gpus[0].not_supported = {"*"};
  state_.gpus[1].not_supported = {"nvmlDeviceGetRemappedRows"};
  save();
  auto probe = make_probe();
  const auto samples = samples_of(probe);
  ASSERT_EQ(samples.size(), 4u);
  for (const auto& name : reading_names()) EXPECT_FALSE(samples[0].*name.field) << name.key;
  EXPECT_FALSE(samples[0].lost);
  EXPECT_FALSE(samples[1].remap_pending);
  EXPECT_TRUE(samples[1].temperature_c);
}

TEST_F(NvmlProbe, AnOldLibraryTellsWhatItKnows) {
  state_.gpus[0].readings["slowdown_thermal"] = 1;
  save();
  auto probe = make_probe(ACRF_FAKE_NVML_OLD);
  const auto samples = samples_of(probe);
  ASSERT_EQ(samples.size(), 4u);
  EXPECT_EQ(samples[0].slowdown_thermal, 1);
  EXPECT_FALSE(samples[0].remap_failure || samples[0].recovery_action || samples[0].mig);
}

TEST_F(NvmlProbe, ACallThatHangsHasAPlaceAndTheNextProbeAnswers) {
  auto probe = make_probe();
  samples_of(probe);
  state_.gpus[1].hang = true;
  save();
  EXPECT_EQ(ask(probe, seconds(1)), std::nullopt);
  EXPECT_EQ(probe.place(), "0000:20:00");
  probe.stop();
  state_.gpus[1].hang = false;
  save();
  EXPECT_EQ(samples_of(probe).size(), 4u);
}

TEST_F(NvmlProbe, AMissingLibraryIsUnknownNotHealthy) {
  auto probe = make_probe("/nonexistent/libnvidia-ml.so.1");
  const auto samples = parse_samples(ask(probe).value());
  ASSERT_FALSE(samples.ok());
  EXPECT_THAT(samples.error().sentence, HasSubstr("/nonexistent/libnvidia-ml.so.1"));
}

TEST_F(NvmlProbe, ALibraryOfAnotherKindIsUnknownNotHealthy) {
  auto probe = make_probe("libc.so.6");
  const auto samples = parse_samples(ask(probe).value());
  ASSERT_FALSE(samples.ok());
  EXPECT_EQ(samples.error().sentence, "libc.so.6 lacks the functions of NVML");
}

TEST_F(NvmlProbe, AMissingDriverIsUnknownNotHealthy) {
  std::filesystem::remove(directory_.path("gpus.json"));
  auto probe = make_probe();
  const auto samples = parse_samples(ask(probe).value());
  ASSERT_FALSE(samples.ok());
  EXPECT_EQ(samples.error().sentence, "Driver Not Loaded");
}

}  // namespace
}  // namespace acrf
