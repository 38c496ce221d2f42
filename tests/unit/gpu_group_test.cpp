// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/gpu_group.h"

#include <gtest/gtest.h>

#include <bit>

#include "random.h"

namespace acrf {
namespace {

std::vector<std::vector<int>> random_links(Random& random, int gpus) {
  std::vector<std::vector<int>> links(static_cast<std::size_t>(gpus),
                                      std::vector<int>(static_cast<std::size_t>(gpus)));
  for (std::size_t i = 0; i < links.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) links[i][j] = links[j][i] = random.below(5);
  return links;
}

TEST(GpuGroups, AreTheBestInsideAndThenTheBestLeftBehind) {
  Random random(21);
  for (const int gpus : {2, 4, 8, 8, 8, 10, 12}) {
    const GpuGroups groups(gpus, random_links(random, gpus));
    for (int i = 0; i < 1500; ++i) {
      const auto free = static_cast<GpuMask>(random.below(1 << gpus));
      const int wanted = random.below(gpus + 1);
      const auto group = groups.best(free, wanted);
      if (wanted == 0 || std::popcount(free) < wanted) {
        ASSERT_EQ(group, 0u);
        continue;
      }
      ASSERT_EQ(std::popcount(group), wanted);
      ASSERT_EQ(group & ~free, 0u);
      for (GpuMask other = free; other; other = (other - 1) & free) {
        if (std::popcount(other) != wanted) continue;
        const auto inside = groups.weight_inside(other);
        ASSERT_LE(inside, groups.weight_inside(group));
        if (inside == groups.weight_inside(group)) {
          ASSERT_LE(groups.weight_inside(free & ~other), groups.weight_inside(free & ~group));
        }
      }
    }
  }
}

TEST(GpuGroups, OfEqualGpusAreTheLowest) {
  const GpuGroups groups(8);
  EXPECT_TRUE(groups.is_uniform());
  EXPECT_EQ(groups.best(0b10110100, 2), 0b00010100u);
}

TEST(GpuGroups, OfManyGpusStayTogether) {
  std::vector<std::vector<int>> links(32, std::vector<int>(32, 0));
  for (std::size_t i = 0; i < 32; ++i)
    for (std::size_t j = 0; j < 32; ++j) links[i][j] = i / 8 == j / 8;
  const GpuGroups groups(32, links);
  EXPECT_EQ(groups.best(0xfff0fff0, 8), 0xff00u);
}

}  // namespace
}  // namespace acrf
