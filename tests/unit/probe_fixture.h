// SPDX-License-Identifier: GPL-2.0-or-later
// A vendor probe as healthd uses it: a process of its own, over a stand-in library's real ABI.
#pragma once

#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "build_paths.h"
#include "fakegpu/state.h"
#include "sources/probe.h"
#include "sources/sample_json.h"
#include "temporary_directory.h"

namespace acrf {

class ProbeFixture : public testing::Test {
 protected:
  using seconds = std::chrono::seconds;

  void SetUp() override {
    state_ = fakegpu::healthy_state("n1", 4);
    save();
  }

  void save() { ASSERT_TRUE(fakegpu::save_state(directory_.path("gpus.json"), state_).ok()); }

  Probe make_probe(const std::string& kind, const std::string& library) {
    return Probe({ACRF_HEALTHD, "--probe", kind, library, directory_.path("sys")},
                 {std::string(fakegpu::kStateVariable) + "=" + directory_.path("gpus.json")});
  }

  // The answer line, or nothing when `limit` passes first.
  static std::optional<std::string> ask(Probe& probe, seconds limit = seconds(20)) {
    // A probe that was killed may take a busy machine a moment to end.
    bool asked = false;
    for (int i = 0; i < 200 && !asked; ++i) {
      asked = probe.request(Probe::Clock::now() + limit).ok();
      if (!asked) ::usleep(50'000);
    }
    EXPECT_TRUE(asked);
    while (Probe::Clock::now() < *probe.deadline()) {
      pollfd fd = {probe.poll_fd(), POLLIN, 0};
      ::poll(&fd, 1, 50);
      auto answer = probe.take_answer();
      if (!answer) return "ended: " + answer.error().sentence;
      if (*answer) return **answer;
    }
    return std::nullopt;
  }

  // The samples, or none when the probe has no answer; `ask` says why.
  static std::vector<GpuSample> samples_of(Probe& probe) {
    const auto answer = ask(probe);
    const auto samples = parse_samples(answer.value_or("no answer"));
    EXPECT_TRUE(samples.ok()) << answer.value_or("no answer");
    return samples ? *samples : std::vector<GpuSample>();
  }

  TemporaryDirectory directory_;
  fakegpu::State state_;
};

}  // namespace acrf
