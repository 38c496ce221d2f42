// SPDX-License-Identifier: GPL-2.0-or-later
// The NVML probe as healthd uses it: a process of its own, over the stand-in library's real ABI.
#include "sources/probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "fakegpu/state.h"
#include "sources/gpu_inventory.h"
#include "temporary_directory.h"

namespace acrf {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

class NvmlProbe : public testing::Test {
 protected:
  void SetUp() override {
    state_ = fakegpu::healthy_state("n1", 4);
    save();
  }

  void save() { ASSERT_TRUE(fakegpu::save_state(directory_.path("gpus.json"), state_).ok()); }

  Probe make_probe(const std::string& library = ACRF_FAKE_NVML) {
    return Probe({ACRF_HEALTHD, "--nvml-probe", library},
                 {std::string(fakegpu::kStateVariable) + "=" + directory_.path("gpus.json")});
  }

  // The answer line, or nothing when `limit` passes first.
  static std::optional<std::string> ask(Probe& probe, seconds limit = seconds(20)) {
    EXPECT_TRUE(probe.request(Probe::Clock::now() + limit).ok());
    while (Probe::Clock::now() < *probe.deadline()) {
      pollfd fd = {probe.poll_fd(), POLLIN, 0};
      ::poll(&fd, 1, 50);
      auto answer = probe.take_answer();
      if (!answer) return "ended: " + answer.error().sentence;
      if (*answer) return **answer;
    }
    return std::nullopt;
  }

  TemporaryDirectory directory_;
  fakegpu::State state_;
};

TEST_F(NvmlProbe, TellsIdentityAndReadings) {
  auto probe = make_probe();
  const auto answer = ask(probe);
  ASSERT_TRUE(answer);
  const auto samples = parse_samples(*answer);
  ASSERT_TRUE(samples.ok()) << *answer;
  ASSERT_EQ(samples->size(), 4u);
  EXPECT_EQ((*samples)[1].uuid, state_.gpus[1].uuid);
  EXPECT_EQ((*samples)[1].address, (PciAddress{0, 0x20, 0}));
  EXPECT_THAT(*answer, HasSubstr("\"temperature_c\":34"));
}

TEST_F(NvmlProbe, ALostGpuKeepsItsName) {
  auto probe = make_probe();
  ASSERT_TRUE(ask(probe));
  state_.gpus[2].lost = true;
  save();
  const auto samples = parse_samples(ask(probe).value());
  ASSERT_TRUE(samples.ok());
  ASSERT_EQ(samples->size(), 4u);
  EXPECT_TRUE((*samples)[2].lost);
  EXPECT_EQ((*samples)[2].uuid, state_.gpus[2].uuid);
  EXPECT_FALSE((*samples)[1].lost);
}

TEST_F(NvmlProbe, ACallThatHangsIsKilledAndTheNextProbeAnswers) {
  auto probe = make_probe();
  ASSERT_TRUE(ask(probe));
  state_.gpus[0].hang = true;
  save();
  EXPECT_EQ(ask(probe, seconds(1)), std::nullopt);
  probe.stop();
  state_.gpus[0].hang = false;
  save();
  EXPECT_TRUE(parse_samples(ask(probe).value()).ok());
}

TEST_F(NvmlProbe, AMissingLibraryIsUnknownNotHealthy) {
  auto probe = make_probe("/nonexistent/libnvidia-ml.so.1");
  const auto samples = parse_samples(ask(probe).value());
  ASSERT_FALSE(samples.ok());
  EXPECT_THAT(samples.error().sentence, HasSubstr("/nonexistent/libnvidia-ml.so.1"));
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
