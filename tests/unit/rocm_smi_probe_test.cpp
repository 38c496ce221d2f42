// SPDX-License-Identifier: GPL-2.0-or-later
// The ROCm SMI probe over the stand-in library, and over the real one where it is installed.
#include <dlfcn.h>

#include "build_paths.h"
#include "core/gpu_rules.h"
#include "probe_fixture.h"

namespace acrf {
namespace {

class RocmSmiProbe : public ProbeFixture {
 protected:
  Probe make_probe(const std::string& library = ACRF_FAKE_ROCM_SMI) {
    return ProbeFixture::make_probe("rocm-smi", library);
  }
};

TEST_F(RocmSmiProbe, TellsIdentityAndReadings) {
  state_.gpus[1].readings = {{"umc_uncorrected", 2}, {"gfx_corrected", 9},
                             {"xgmi_error", 1},      {"pcie_replays", 7},
                             {"retired_pages", 3},   {"retired_pages_pending", 1}};
  save();
  auto probe = make_probe();
  const auto samples = samples_of(probe);
  ASSERT_EQ(samples.size(), 4u);
  const auto& gpu = samples[1];
  EXPECT_EQ(gpu.vendor, "amd");
  EXPECT_EQ(gpu.address, (PciAddress{0, 0x20, 0}));
  EXPECT_EQ(gpu.uuid.size(), 16u);
  EXPECT_NE(gpu.uuid, samples[2].uuid);
  EXPECT_EQ(gpu.serial, state_.gpus[1].serial);
  EXPECT_EQ(gpu.temperature_c, 34);
  EXPECT_EQ(gpu.slowdown_c, 110);
  EXPECT_EQ(gpu.power_mw, 71000);
  EXPECT_EQ(gpu.xgmi_error, 1);
  EXPECT_EQ(gpu.pcie_replays, 7);
  EXPECT_EQ(gpu.retired_pages, 4);
  EXPECT_EQ(gpu.retired_pages_pending, 1);
  ASSERT_EQ(gpu.blocks.size(), 14u);
  EXPECT_EQ(gpu.blocks[0].name, "umc");
  EXPECT_EQ(gpu.blocks[0].uncorrected, 2);
  EXPECT_EQ(gpu.blocks[2].corrected, 9);
}

TEST_F(RocmSmiProbe, BlocksThatDoNotCountAreUnknown) {
  state_.gpus[0].readings["ecc_blocks"] = 5;
  save();
  auto probe = make_probe();
  const auto samples = samples_of(probe);
  ASSERT_EQ(samples[0].blocks.size(), 2u);
  EXPECT_EQ(samples[0].blocks[1].name, "gfx");
}

TEST_F(RocmSmiProbe, ACardThatSleepsIsNotAsked) {
  const auto power = directory_.path("sys/bus/pci/devices/0000:20:00.0/power");
  std::filesystem::create_directories(power);
  std::ofstream(power + "/runtime_status") << "suspended\n";
  state_.gpus[1].readings["umc_uncorrected"] = 1'048'560;
  save();
  auto probe = make_probe();
  auto samples = samples_of(probe);
  ASSERT_EQ(samples.size(), 4u);
  EXPECT_TRUE(samples[1].suspended);
  EXPECT_TRUE(samples[1].blocks.empty());
  EXPECT_FALSE(samples[1].temperature_c);
  EXPECT_FALSE(samples[0].suspended);
  std::ofstream(power + "/runtime_status") << "active\n";
  samples = samples_of(probe);
  EXPECT_FALSE(samples[1].suspended);
  EXPECT_EQ(samples[1].temperature_c, 34);
}

TEST_F(RocmSmiProbe, TheLinkIsTheKernels) {
  const auto card = directory_.path("sys/bus/pci/devices/0000:20:00.0");
  std::filesystem::create_directories(card);
  std::ofstream(card + "/current_link_speed") << "16.0 GT/s PCIe\n";
  std::ofstream(card + "/max_link_speed") << "Unknown\n";
  std::ofstream(card + "/current_link_width") << "8\n";
  std::ofstream(card + "/max_link_width") << "16\n";
  auto probe = make_probe();
  const auto samples = samples_of(probe);
  EXPECT_EQ(samples[1].pcie_generation, 4);
  EXPECT_FALSE(samples[1].pcie_generation_max);
  EXPECT_EQ(samples[1].pcie_width, 8);
  EXPECT_EQ(samples[1].pcie_width_max, 16);
  EXPECT_FALSE(samples[0].pcie_width);
}

TEST_F(RocmSmiProbe, NotSupportedIsUnknown) {
  state_.gpus[0].not_supported = {"*"};
  save();
  auto probe = make_probe();
  const auto samples = samples_of(probe);
  ASSERT_EQ(samples.size(), 4u);
  for (const auto& name : reading_names()) EXPECT_FALSE(samples[0].*name.field) << name.key;
  EXPECT_TRUE(samples[0].blocks.empty());
}

TEST_F(RocmSmiProbe, ANewUncorrectableErrorIsAFinding) {
  GpuRules rules;
  auto probe = make_probe();
  EXPECT_TRUE(rules.look("rocm-smi", samples_of(probe), 1000).empty());
  state_.gpus[3].readings["umc_uncorrected"] = 1;
  save();
  const auto findings = rules.look("rocm-smi", samples_of(probe), 1005);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].verdict.fault_class, "ras_uncorrectable");
}

// Some counters have 32 bits, and all begin at 0 when the driver is loaded.
TEST_F(RocmSmiProbe, CountersThatWrapOrStartAgainAreNoFindings) {
  GpuRules rules;
  state_.gpus[0].readings = {{"umc_uncorrected", UINT32_MAX}, {"pcie_replays", UINT32_MAX}};
  state_.gpus[1].readings = {{"gfx_uncorrected", UINT64_MAX}, {"umc_corrected", UINT64_MAX}};
  save();
  auto probe = make_probe();
  EXPECT_TRUE(rules.look("rocm-smi", samples_of(probe), 1000).empty());
  state_.gpus[0].readings = {{"umc_uncorrected", 3}, {"pcie_replays", 2}};
  state_.gpus[1].readings = {};
  save();
  EXPECT_TRUE(rules.look("rocm-smi", samples_of(probe), 1005).empty());
  state_.gpus[0].readings["umc_uncorrected"] = 4;
  save();
  const auto findings = rules.look("rocm-smi", samples_of(probe), 1010);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].evidence, "new uncorrectable errors: umc 1");
}

TEST_F(RocmSmiProbe, AnOldLibraryTellsWhatItKnows) {
  auto probe = make_probe(ACRF_FAKE_ROCM_SMI_OLD);
  const auto samples = samples_of(probe);
  ASSERT_EQ(samples.size(), 4u);
  EXPECT_EQ(samples[0].temperature_c, 34);
  EXPECT_EQ(samples[0].blocks.size(), 14u);
  EXPECT_FALSE(samples[0].xgmi_error || samples[0].pcie_replays || samples[0].retired_pages);
}

TEST_F(RocmSmiProbe, ALibraryOfAnotherKindIsUnknownNotHealthy) {
  auto probe = make_probe("libc.so.6");
  const auto samples = parse_samples(ask(probe).value());
  ASSERT_FALSE(samples.ok());
  EXPECT_EQ(samples.error().sentence, "libc.so.6 lacks the functions of ROCm SMI");
}

TEST_F(RocmSmiProbe, AGpuThatVanishesLeavesTheOthersTheirNames) {
  GpuRules rules;
  auto probe = make_probe();
  const auto before = samples_of(probe);
  rules.look("rocm-smi", before, 1000);
  state_.gpus[1].vanished = true;
  save();
  const auto samples = samples_of(probe);
  ASSERT_EQ(samples.size(), 3u);
  EXPECT_EQ(samples[1].uuid, before[2].uuid);
  EXPECT_EQ(samples[1].address, before[2].address);
  EXPECT_TRUE(rules.look("rocm-smi", samples, 1001).empty());
  const auto findings = rules.look("rocm-smi", samples_of(probe), 1032);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].verdict.fault_class, "gpu_missing");
  EXPECT_EQ(findings[0].verdict.action, Action::kDrain);
  EXPECT_EQ(findings[0].gpu_uuid, before[1].uuid);
}

TEST_F(RocmSmiProbe, ACallThatHangsHasAPlaceAndTheNextProbeAnswers) {
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

TEST_F(RocmSmiProbe, AMissingLibraryOrDriverIsUnknownNotHealthy) {
  auto missing = make_probe("/nonexistent/librocm_smi64.so.1");
  EXPECT_FALSE(parse_samples(ask(missing).value()).ok());
  std::filesystem::remove(directory_.path("gpus.json"));
  auto probe = make_probe();
  EXPECT_FALSE(parse_samples(ask(probe).value()).ok());
}

// Whichever real library is installed: no GPU, no driver, no drama.
std::string installed(std::initializer_list<const char*> names) {
  for (const auto* name : names)
    if (::dlopen(name, RTLD_LAZY | RTLD_NOLOAD) || ::dlopen(name, RTLD_LAZY | RTLD_LOCAL))
      return name;
  return "";
}

void expect_calm(const std::optional<std::string>& answer) {
  ASSERT_TRUE(answer);
  EXPECT_THAT(*answer, testing::StartsWith("{"));
  const auto samples = parse_samples(*answer);
  if (samples) {
    for (const auto& gpu : *samples) EXPECT_FALSE(gpu.lost);
  } else {
    EXPECT_EQ(samples.error().code, ErrorCode::kUnavailable) << *answer;
  }
}

using RealLibraries = ProbeFixture;

TEST_F(RealLibraries, RocmSmiWithoutADeviceIsCalm) {
  const auto name = installed(
      {"librocm_smi64.so.7", "librocm_smi64.so.6", "librocm_smi64.so.5", "librocm_smi64.so.1"});
  if (name.empty()) GTEST_SKIP() << "no librocm_smi64 is installed";
  auto probe = make_probe("rocm-smi", name);
  expect_calm(ask(probe));
}

TEST_F(RealLibraries, NvmlWithoutADeviceIsCalm) {
  if (installed({"libnvidia-ml.so.1"}).empty()) GTEST_SKIP() << "libnvidia-ml1 is not installed";
  auto probe = make_probe("nvml", "libnvidia-ml.so.1");
  expect_calm(ask(probe));
}

TEST_F(RealLibraries, LevelZeroWithoutADeviceIsCalm) {
  if (installed({"libze_loader.so.1"}).empty()) GTEST_SKIP() << "libze1 is not installed";
  auto probe = make_probe("level-zero", "libze_loader.so.1");
  expect_calm(ask(probe));
}

}  // namespace
}  // namespace acrf
