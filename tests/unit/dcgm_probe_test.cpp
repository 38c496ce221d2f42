// SPDX-License-Identifier: GPL-2.0-or-later
// The DCGM probe over the stand-in library.
#include "probe_fixture.h"

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

INSTANTIATE_TEST_SUITE_P(OfVersions4And3, DcgmProbe, testing::Values("550.90.07", "old 450.51"),
                         [](const auto& param) { return param.index == 0 ? "New" : "Old"; });

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
