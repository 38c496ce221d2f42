// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/node_set.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "random.h"

namespace acrf {
namespace {

// Sets with long and short runs, against a look at every position.
TEST(NodeSet, RangesAreCountedAndWalkedRunByRun) {
  Random random(3);
  for (int i = 0; i < 2000; ++i) {
    const int size = 1 + random.below(400);
    NodeSet set(size);
    for (int at = 0; at < size;) {
      const int end = std::min(size, at + 1 + random.below(random.one_in(3) ? 150 : 5));
      for (const bool member = random.one_in(2); at < end; ++at) set.put(at, member);
    }
    const int first = random.below(size), end = first + random.below(size - first + 1);
    std::vector<int> members, walked, counts;
    for (int at = first; at < end; ++at)
      if (set.test(at)) members.push_back(at);
    EXPECT_EQ(set.count(first, end), static_cast<int>(members.size()));
    set.count({{first, end}, {0, size}, {first, first}}, counts);
    EXPECT_EQ(counts, (std::vector{static_cast<int>(members.size()), set.count(), 0}));
    const int most = random.below(size + 1);
    members.resize(std::min(members.size(), static_cast<std::size_t>(most)));
    const int count = set.each_of_first(first, end, most, [&](int at) { walked.push_back(at); });
    ASSERT_EQ(walked, members);
    ASSERT_EQ(count, static_cast<int>(members.size()));
  }
}

}  // namespace
}  // namespace acrf
