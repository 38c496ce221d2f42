// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/power_cap.h"

#include <gmock/gmock.h>

#include <optional>

#include "unit/random.h"

namespace acrf {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kCool_s = 600;

GpuHeat gpu_at(bool hot, Reading limit_mw, std::int64_t look_s) {
  return {"GPU-1", PciAddress{}, hot, limit_mw, look_s};
}

TEST(PowerCap, IsAShareOfTheLimitThatTheGpuHas) {
  const auto cap = plan_cap(gpu_at(true, 700'000, 10), 80, "n1-x");
  EXPECT_EQ(cap.before_w, 700u);
  EXPECT_EQ(cap.capped_w, 560u);
  EXPECT_EQ(plan_cap(gpu_at(true, std::nullopt, 10), 80, "").capped_w, 0u) << "unknown";
  EXPECT_EQ(plan_cap(gpu_at(true, 700'000, 10), 0, "").capped_w, 0u) << "not allowed";
}

TEST(PowerCap, IsGivenBackWhenTheGpuHasBeenCoolForAWhile) {
  auto cap = plan_cap(gpu_at(true, 700'000, 10), 80, "n1-x");
  note_try(cap, CapStep::kLower, 10);
  EXPECT_EQ(next_cap_step(cap, gpu_at(true, 700'000, 10), 10, kCool_s), CapStep::kNothing)
      << "nobody has looked since";
  EXPECT_EQ(next_cap_step(cap, gpu_at(true, 560'000, 15), 15, kCool_s), CapStep::kNothing);
  EXPECT_EQ(next_cap_step(cap, gpu_at(false, 560'000, 614), 614, kCool_s), CapStep::kNothing);
  EXPECT_EQ(next_cap_step(cap, gpu_at(false, 560'000, 615), 615, kCool_s), CapStep::kRestore);
  note_try(cap, CapStep::kRestore, 615);
  EXPECT_EQ(next_cap_step(cap, gpu_at(false, 560'000, 616), 616, kCool_s), CapStep::kNothing)
      << "not at once again";
  EXPECT_EQ(next_cap_step(cap, gpu_at(false, 560'000, 675), 675, kCool_s), CapStep::kRestore);
  EXPECT_EQ(next_cap_step(cap, gpu_at(false, 700'000, 676), 676, kCool_s), CapStep::kForget);
}

TEST(PowerCap, AProgramThatDoesNothingIsTriedThreeTimes) {
  auto cap = plan_cap(gpu_at(true, 700'000, 0), 80, "n1-x");
  int tries = 0;
  for (std::int64_t now = 1; now < 1000; ++now)
    if (next_cap_step(cap, gpu_at(true, 700'000, now), now, kCool_s) == CapStep::kLower) {
      note_try(cap, CapStep::kLower, now);
      ++tries;
    }
  EXPECT_EQ(tries, 3);
}

TEST(PowerCap, AnothersLimitStays) {
  auto cap = plan_cap(gpu_at(true, 700'000, 0), 80, "n1-x");
  note_try(cap, CapStep::kLower, 1);
  EXPECT_EQ(next_cap_step(cap, gpu_at(true, 300'000, 2), 2, kCool_s), CapStep::kNothing);
  EXPECT_EQ(next_cap_step(cap, gpu_at(true, 560'000, 3), 3, kCool_s), CapStep::kNothing);
  EXPECT_EQ(next_cap_step(cap, gpu_at(false, 560'000, 900), 900, kCool_s), CapStep::kForget);
}

TEST(PowerCap, WhatPeopleTakeBackIsNotLoweredAgainBeforeTheGpuWasCool) {
  auto cap = plan_cap(gpu_at(true, 700'000, 0), 80, "n1-x");
  note_try(cap, CapStep::kLower, 1);
  cap.lifted = true;
  EXPECT_EQ(next_cap_step(cap, gpu_at(true, 560'000, 2), 2, kCool_s), CapStep::kRestore);
  note_try(cap, CapStep::kRestore, 2);
  EXPECT_EQ(next_cap_step(cap, gpu_at(true, 700'000, 300), 300, kCool_s), CapStep::kNothing);
  EXPECT_EQ(next_cap_step(cap, gpu_at(false, 700'000, 900), 900, kCool_s), CapStep::kForget);
}

TEST(PowerCap, RecordsSurviveARestartAndDamagedOnesAreDropped) {
  PowerCap cap{"GPU-a b", PciAddress{0, 0x1a, 0}, "n1-x", 700, 560, 5, 2, 4, true, true, true};
  const auto text = to_text({cap, cap});
  EXPECT_THAT(parse_power_caps(text), ElementsAre(cap, cap));
  EXPECT_THAT(parse_power_caps(text.substr(0, text.size() - 8)), ElementsAre(cap));
  EXPECT_THAT(parse_power_caps("GPU-1 x y 1 2 3\n\n"), IsEmpty());
}

// A GPU, a program that may fail, a daemon that dies between the record and the program or after
// it, and people who set limits of their own.
class World {
 public:
  explicit World(std::uint64_t seed) : random_(seed) {}

  void turn(bool hot, bool trouble) {
    now_s_ += 1 + random_.below(40);
    if (trouble && random_.one_in(40)) set_another();
    if (trouble && random_.one_in(5)) return;  // nobody looks
    const auto gpu = gpu_at(hot, limit_mw_, now_s_);
    if (!cap_ && !hot) return;
    if (!cap_) {
      cap_ = plan_cap(gpu, 80, "x");
      note_try(*cap_, CapStep::kLower, now_s_);
      return run(CapStep::kLower, trouble);
    }
    if (trouble && random_.one_in(30)) cap_->lifted = true;
    const auto step = next_cap_step(*cap_, gpu, now_s_, kCool_s);
    if (step == CapStep::kForget) return cap_.reset();
    if (step == CapStep::kNothing) return;
    EXPECT_TRUE(!is_others_ || limit_mw_ == cap_->before_w * 1000) << "touches another's limit";
    note_try(*cap_, step, now_s_);
    run(step, trouble);
  }
  bool is_over() const { return !cap_; }
  std::uint64_t limit_mw() const { return limit_mw_; }
  bool is_others() const { return is_others_; }
  bool is_lowered() const { return is_lowered_; }

 private:
  // No fifth of such a limit is another one of them.
  void set_another() {
    limit_mw_ = 401'000 + 66'000 * static_cast<std::uint64_t>(random_.below(3));
    is_others_ = true;
    is_lowered_ = false;
  }
  void run(CapStep step, bool trouble) {
    if (trouble && random_.one_in(3)) return;  // it failed, or the daemon died before it
    is_lowered_ = step == CapStep::kLower;
    limit_mw_ = 1000 * (is_lowered_ ? cap_->capped_w : cap_->before_w);
    is_others_ = false;
  }

  Random random_;
  std::int64_t now_s_ = 1'000'000;
  std::uint64_t limit_mw_ = 700'000;
  bool is_others_ = false;
  bool is_lowered_ = false;
  std::optional<PowerCap> cap_;
};

// Whatever happened while it was hot: once it stays cool, no limit of ACRF's is left, and nobody
// else's was touched.
TEST(PowerCap, NoPathLeavesALimitLoweredOrTouchesAnothers) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    World world(seed);
    Random random(seed * 7);
    bool hot = false;
    for (int i = 0; i < 200; ++i) {
      if (random.one_in(8)) hot = !hot;
      world.turn(hot, true);
    }
    const bool was_others = world.is_others();
    const auto limit = world.limit_mw();
    for (int i = 0; i < 200; ++i) world.turn(false, false);
    ASSERT_TRUE(world.is_over()) << "seed " << seed;
    ASSERT_FALSE(world.is_lowered()) << "seed " << seed;
    if (was_others) {
      ASSERT_EQ(world.limit_mw(), limit) << "seed " << seed;
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace acrf
