// SPDX-License-Identifier: GPL-2.0-or-later
// From a fault in the stand-in library to the event that healthd gets.
#include "sources/gpu_watch.h"

#include <filesystem>

#include "build_paths.h"
#include "common/file.h"
#include "core/text.h"
#include "probe_fixture.h"

namespace acrf {
namespace {

int living_children() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto stat = read_file(entry.path() / "stat");
    const auto close = stat ? stat->rfind(") ") : std::string::npos;
    if (close == std::string::npos) continue;
    const auto fields = split(std::string_view(*stat).substr(close + 2), ' ');
    count += fields[0] != "Z" && fields[1] == std::to_string(::getpid());
  }
  return count;
}

class GpuWatchTest : public ProbeFixture {
 protected:
  void SetUp() override {
    ProbeFixture::SetUp();
    config_.nvml_library = ACRF_FAKE_NVML;
    config_.fake_gpu_state = directory_.path("gpus.json");
    config_.state_dir = directory_.path("");
    config_.probe_timeout_s = 20;
    start();
  }

  void start() { watch_ = std::make_unique<GpuWatch>(config_, "boot1", ACRF_HEALTHD); }

  // One sample of every source, and what comes of it. A clock of its own stands for the waiting.
  std::vector<Event> sample(int seconds_later = 5) {
    skipped_ += std::chrono::seconds(seconds_later);
    unix_s_ += seconds_later;
    auto events = watch_->work(now(), unix_s_);
    std::vector<pollfd> fds;
    for (watch_->add_poll_fds(fds); !fds.empty(); watch_->add_poll_fds(fds)) {
      if (::poll(fds.data(), fds.size(), 15'000) == 0) break;
      for (auto& event : watch_->work(now(), unix_s_)) events.push_back(event);
      fds.clear();
    }
    return events;
  }
  GpuWatch::Clock::time_point now() const { return GpuWatch::Clock::now() + skipped_; }

  Config config_;
  std::unique_ptr<GpuWatch> watch_;
  std::chrono::seconds skipped_{0};
  std::int64_t unix_s_ = 1'800'000'000;
};

TEST_F(GpuWatchTest, ALostGpuBecomesAnEventAtTheSecondSample) {
  EXPECT_TRUE(sample().empty());
  EXPECT_EQ(watch_->uuid_at({0, 0x30, 0}), state_.gpus[2].uuid);
  state_.gpus[2].lost = true;
  save();
  EXPECT_TRUE(sample().empty());
  const auto events = sample();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].verdict.fault_class, "gpu_lost");
  EXPECT_EQ(events[0].gpu_uuid, state_.gpus[2].uuid);
  EXPECT_EQ(events[0].source, "nvml");
  EXPECT_EQ(events[0].boot_id, "boot1");
  EXPECT_TRUE(sample().empty());
}

TEST_F(GpuWatchTest, WhoRestsHoldsNoGpuAndLooksAgainAfterIt) {
  EXPECT_TRUE(sample().empty());
  EXPECT_EQ(living_children(), 1);
  watch_->rest(now());
  EXPECT_EQ(living_children(), 0);
  state_.gpus[1].readings["remap_failure"] = 1;
  save();
  EXPECT_EQ(sample().size(), 1u);
}

TEST_F(GpuWatchTest, WhatWasToldSurvivesARestart) {
  state_.gpus[1].readings["remap_failure"] = 1;
  save();
  ASSERT_EQ(sample().size(), 1u);
  start();
  EXPECT_TRUE(sample().empty());
}

TEST_F(GpuWatchTest, ACounterThatStartsAgainOrWrapsIsNoFault) {
  auto& readings = state_.gpus[1].readings;
  for (const std::uint64_t value : {7ull, 0xffffffffull, 3ull, 0ull}) {
    readings["volatile_dram_uncorrected"] = readings["pcie_replays"] = value;
    if (value == 0xffffffff) readings["volatile_dram_uncorrected"] = 7;
    save();
    EXPECT_TRUE(sample().empty()) << value;
  }
  readings["volatile_dram_uncorrected"] = 1;
  save();
  const auto events = sample();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].verdict.fault_class, "ecc_uncorrectable");
}

TEST_F(GpuWatchTest, AHangNamesTheGpuAndIsBelievedAtTheThirdTime) {
  config_.probe_timeout_s = 1;
  EXPECT_TRUE(sample().empty());
  state_.gpus[1].hang = true;
  save();
  skipped_ += std::chrono::seconds(5);
  auto events = watch_->work(now(), unix_s_);
  for (int i = 0; i < 3; ++i) {
    std::vector<pollfd> fds;  // the GPUs before it
    while (watch_->add_poll_fds(fds), ::poll(fds.data(), fds.size(), 500) > 0) {
      watch_->work(now(), unix_s_);
      fds.clear();
    }
    skipped_ += std::chrono::seconds(5);
    for (auto& event : watch_->work(now(), unix_s_)) events.push_back(event);
  }
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].verdict.fault_class, "driver_slow");
  EXPECT_EQ(events[0].gpu_uuid, state_.gpus[1].uuid);
  EXPECT_EQ(events[1].verdict.fault_class, "driver_hung");
  EXPECT_EQ(events[1].gpu, (PciAddress{0, 0x20, 0}));
  state_.gpus[1].hang = false;
  save();
  EXPECT_TRUE(sample().empty());
  EXPECT_EQ(watch_->uuid_at({0, 0x10, 0}), state_.gpus[0].uuid);
}

}  // namespace
}  // namespace acrf
