// SPDX-License-Identifier: GPL-2.0-or-later
// The Level Zero probe over the stand-in library.
#include "build_paths.h"
#include "core/gpu_rules.h"
#include "probe_fixture.h"

namespace acrf {
namespace {

class LevelZeroProbe : public ProbeFixture {
 protected:
  Probe make_probe(const std::string& library = ACRF_FAKE_LEVEL_ZERO) {
    return ProbeFixture::make_probe("level-zero", library);
  }
};

TEST_F(LevelZeroProbe, TellsIdentityAndReadings) {
  state_.gpus[1].readings = {
      {"compute_uncorrected", 2}, {"cache_corrected", 9}, {"wedged", 1},
      {"slowdown_thermal", 1},    {"memory_health", 3},   {"memory_temperature_c", 61}};
  save();
  auto probe = make_probe();
  const auto samples = samples_of(probe);
  ASSERT_EQ(samples.size(), 4u);
  const auto& gpu = samples[1];
  EXPECT_EQ(gpu.vendor, "intel");
  EXPECT_EQ(gpu.address, (PciAddress{0, 0x20, 0}));
  EXPECT_EQ(gpu.uuid.size(), 32u);
  EXPECT_NE(gpu.uuid, samples[2].uuid);
  EXPECT_EQ(gpu.serial, state_.gpus[1].serial);
  EXPECT_EQ(gpu.temperature_c, 34);
  EXPECT_EQ(gpu.memory_temperature_c, 61);
  EXPECT_EQ(gpu.slowdown_c, 100);
  EXPECT_EQ(gpu.wedged, 1);
  EXPECT_EQ(gpu.repair_reset, 0);
  EXPECT_EQ(gpu.slowdown_thermal, 1);
  EXPECT_EQ(gpu.slowdown_power, 0);
  EXPECT_EQ(gpu.memory_health, 3);
  ASSERT_EQ(gpu.blocks.size(), 7u);
  EXPECT_EQ(gpu.blocks[3].name, "compute");
  EXPECT_EQ(gpu.blocks[3].uncorrected, 2);
  EXPECT_EQ(gpu.blocks[5].corrected, 9);
}

TEST_F(LevelZeroProbe, AnOldLoaderTellsWhatItKnows) {
  auto probe = make_probe(ACRF_FAKE_LEVEL_ZERO_OLD);
  const auto samples = samples_of(probe);
  ASSERT_EQ(samples.size(), 4u);
  EXPECT_EQ(samples[0].temperature_c, 34);
  EXPECT_FALSE(samples[0].memory_health);
}

TEST_F(LevelZeroProbe, ALostDeviceKeepsItsName) {
  auto probe = make_probe();
  samples_of(probe);
  state_.gpus[2].lost = true;
  save();
  const auto samples = samples_of(probe);
  ASSERT_EQ(samples.size(), 4u);
  EXPECT_TRUE(samples[2].lost);
  EXPECT_EQ(samples[2].uuid.size(), 32u);
}

TEST_F(LevelZeroProbe, NotSupportedIsUnknown) {
  state_.gpus[0].not_supported = {"*"};
  save();
  auto probe = make_probe();
  const auto samples = samples_of(probe);
  ASSERT_EQ(samples.size(), 4u);
  for (const auto& name : reading_names()) EXPECT_FALSE(samples[0].*name.field) << name.key;
  EXPECT_TRUE(samples[0].blocks.empty());
  EXPECT_FALSE(samples[0].lost);
}

TEST_F(LevelZeroProbe, ANewHardwareErrorIsAFindingAndAProgramsIsWatched) {
  GpuRules rules;
  auto probe = make_probe();
  EXPECT_TRUE(rules.look("level-zero", samples_of(probe), 1000).empty());
  state_.gpus[3].readings["cache_uncorrected"] = 1;
  state_.gpus[2].readings["programming_uncorrected"] = 1;
  save();
  const auto findings = rules.look("level-zero", samples_of(probe), 1005);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].verdict.action, Action::kWatch);
  EXPECT_EQ(findings[1].verdict.fault_class, "ras_uncorrectable");
}

TEST_F(LevelZeroProbe, CountersThatWrapOrStartAgainAreNoFindings) {
  GpuRules rules;
  state_.gpus[0].readings = {{"cache_uncorrected", UINT32_MAX}};
  state_.gpus[1].readings = {{"compute_uncorrected", UINT64_MAX}, {"cache_corrected", UINT64_MAX}};
  save();
  auto probe = make_probe();
  EXPECT_TRUE(rules.look("level-zero", samples_of(probe), 1000).empty());
  state_.gpus[0].readings = {{"cache_uncorrected", 3}};
  state_.gpus[1].readings = {};
  save();
  EXPECT_TRUE(rules.look("level-zero", samples_of(probe), 1005).empty());
  state_.gpus[0].readings["cache_uncorrected"] = 4;
  save();
  const auto findings = rules.look("level-zero", samples_of(probe), 1010);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].evidence, "new uncorrectable errors: cache 1");
}

TEST_F(LevelZeroProbe, ALibraryOfAnotherKindIsUnknownNotHealthy) {
  auto probe = make_probe("libc.so.6");
  EXPECT_FALSE(parse_samples(ask(probe).value()).ok());
}

TEST_F(LevelZeroProbe, ACallThatHangsHasAPlaceAndTheNextProbeAnswers) {
  auto probe = make_probe();
  samples_of(probe);
  state_.gpus[2].hang = true;
  save();
  EXPECT_EQ(ask(probe, seconds(1)), std::nullopt);
  EXPECT_EQ(probe.place(), "0000:30:00");
  probe.stop();
  state_.gpus[2].hang = false;
  save();
  EXPECT_EQ(samples_of(probe).size(), 4u);
}

TEST_F(LevelZeroProbe, AMissingLoaderOrDriverIsUnknownNotHealthy) {
  auto missing = make_probe("/nonexistent/libze_loader.so.1");
  EXPECT_FALSE(parse_samples(ask(missing).value()).ok());
  std::filesystem::remove(directory_.path("gpus.json"));
  auto probe = make_probe();
  const auto samples = parse_samples(ask(probe).value());
  ASSERT_FALSE(samples.ok());
  EXPECT_EQ(samples.error().sentence, "Level Zero does not start: 0x78000001");
}

}  // namespace
}  // namespace acrf
