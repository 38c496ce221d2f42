// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/comment_word.h"

#include <gtest/gtest.h>

namespace acrf {
namespace {

TEST(CommentWord, IsFoundByHowItBegins) {
  EXPECT_EQ(find_word("bob: x-run:7 y", "x-run:"), "7");
  EXPECT_EQ(find_word("x-runs:7", "x-run:"), std::nullopt);
  EXPECT_EQ(find_word("", "x-run:"), std::nullopt);
}

TEST(CommentWord, ReplacesItsOwnAndLeavesTheOthers) {
  EXPECT_EQ(with_word("a x:1 b", "x:", "x:2"), "a x:2 b");
  EXPECT_EQ(with_word("a b", "x:", "x:2"), "a b x:2");
  EXPECT_EQ(with_word("a x:1 b", "x:", ""), "a b");
  EXPECT_EQ(with_word("", "x:", "x:2"), "x:2");
  EXPECT_EQ(with_word("a  b x:1", "x:", ""), "a  b") << "another's blanks are another's";
  EXPECT_EQ(with_word("x:1 b", "x:", ""), "b");
  EXPECT_EQ(with_word("x:1", "x:", ""), "");
}

}  // namespace
}  // namespace acrf
