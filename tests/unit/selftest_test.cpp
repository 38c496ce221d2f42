// SPDX-License-Identifier: GPL-2.0-or-later
#include "selftest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "build_paths.h"
#include "fakegpu/state.h"
#include "temporary_directory.h"

namespace acrf {
namespace {

using testing::HasSubstr;

class Selftest : public testing::Test {
 protected:
  void SetUp() override {
    config_.kernel_log = directory_.path("kmsg");
    config_.state_dir = directory_.path();
    config_.node_root = directory_.path("root");
    config_.nvml_library = ACRF_FAKE_NVML;
    config_.fake_gpu_state = directory_.path("gpus.json");
    directory_.write("kmsg", "");
    directory_.write("root/proc/meminfo", "MemTotal: 10 kB\nMemAvailable: 5 kB\n");
    directory_.write("root/proc/1/stat", "1 (slurmd) S 0\n");
    ASSERT_TRUE(fakegpu::save_state(config_.fake_gpu_state, fakegpu::healthy_state("n1", 4)).ok());
  }
  std::vector<SourceTest> run() {
    return test_sources(config_, ACRF_HEALTHD, "n1", directory_.path("gres.conf"));
  }
  SourceTest result(const std::string& source) {
    for (const auto& test : run())
      if (test.source == source) return test;
    return {source, CheckStatus::kUnknown, "not tested"};
  }
  Config config_;
  TemporaryDirectory directory_;
};

TEST_F(Selftest, AWorkingNodeIsOkAndSaysWhatItHas) {
  EXPECT_EQ(overall(run()), CheckStatus::kOk);
  EXPECT_EQ(result("nvml").detail, "4 GPUs");
  EXPECT_EQ(result("infiniband").status, CheckStatus::kUnknown);
  EXPECT_THAT(result("infiniband").detail, HasSubstr("/sys/class/infiniband"));
}

TEST_F(Selftest, AMissingLibraryIsNamed) {
  config_.nvml_library = "/nonexistent/libnvidia-ml.so.1";
  EXPECT_EQ(result("nvml").status, CheckStatus::kWarning);
  EXPECT_THAT(result("nvml").detail, HasSubstr("/nonexistent/libnvidia-ml.so.1"));
  EXPECT_EQ(overall(run()), CheckStatus::kWarning);
}

TEST_F(Selftest, NoKernelLogIsCritical) {
  config_.kernel_log = directory_.path("none");
  EXPECT_EQ(overall(run()), CheckStatus::kCritical);
  EXPECT_THAT(result("kernel log").detail, HasSubstr("No such file"));
}

TEST_F(Selftest, MissingGpusFileSystemsAndChecksAreNamed) {
  directory_.write("gres.conf", "Name=gpu File=/dev/nvidia[0-3]\n");
  std::filesystem::create_directories(directory_.path("root/sys/bus/pci/devices"));
  EXPECT_EQ(result("gpu count").status, CheckStatus::kWarning);
  EXPECT_THAT(result("gpu count").detail, HasSubstr("0 on the bus"));
  config_.file_systems = "/nowhere";
  EXPECT_EQ(result("file system /nowhere").status, CheckStatus::kWarning);
  CheckRule rule;
  rule.name = "site";
  rule.program = {"/nonexistent/check"};
  config_.checks = {rule};
  EXPECT_THAT(result("check site").detail, HasSubstr("No such file"));
}

}  // namespace
}  // namespace acrf
