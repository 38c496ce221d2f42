// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/gpu_inventory.h"

#include <gtest/gtest.h>

namespace acrf {
namespace {

constexpr PciAddress kGpu = {0, 0x1a, 0};

TEST(Samples, AreReadFromTheProbesAnswer) {
  const auto samples = parse_samples(
      R"({"ok":true,"gpus":[{"index":0,"pci":"0000:1a:00","uuid":"GPU-1","lost":false},
          {"index":1,"lost":true}]})");
  ASSERT_TRUE(samples.ok());
  ASSERT_EQ(samples->size(), 1u);  // whose identity is unknown says nothing about anybody
  EXPECT_EQ((*samples)[0].address, kGpu);
}

TEST(Samples, FailuresAreErrorsNotEmptyLists) {
  EXPECT_FALSE(parse_samples(R"({"ok":false,"error":"Driver Not Loaded"})").ok());
  EXPECT_FALSE(parse_samples("garbage").ok());
  EXPECT_FALSE(parse_samples("[]").ok());
}

TEST(GpuInventory, BelievesALossAtTheSecondReadingAndTellsItOnce) {
  GpuInventory gpus;
  const std::vector<GpuSample> good = {{kGpu, "GPU-1", false}};
  const std::vector<GpuSample> lost = {{kGpu, "GPU-1", true}};
  EXPECT_TRUE(gpus.update(good).empty());
  EXPECT_TRUE(gpus.update(lost).empty());
  EXPECT_TRUE(gpus.update(good).empty());
  EXPECT_TRUE(gpus.update(lost).empty());
  EXPECT_EQ(gpus.update(lost).size(), 1u);
  EXPECT_TRUE(gpus.update(lost).empty());
}

TEST(GpuInventory, ASwappedGpuStartsAnew) {
  GpuInventory gpus;
  EXPECT_TRUE(gpus.update({{kGpu, "GPU-1", true}}).empty());
  EXPECT_TRUE(gpus.update({{kGpu, "GPU-2", true}}).empty());
  EXPECT_EQ(gpus.uuid_at(kGpu), "GPU-2");
  EXPECT_EQ(gpus.uuid_at({0, 0x2b, 0}), "");
}

}  // namespace
}  // namespace acrf
