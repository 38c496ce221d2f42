// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/text.h"

#include <gtest/gtest.h>

namespace acrf {
namespace {

TEST(Text, NumbersAreWholeOrNothing) {
  EXPECT_EQ(parse_unsigned("42"), 42u);
  EXPECT_EQ(parse_unsigned("1A", 16), 26u);
  for (const auto bad : {"", "-1", "+1", " 1", "1 ", "1x", "18446744073709551616"})
    EXPECT_EQ(parse_unsigned(bad), std::nullopt) << bad;
}

TEST(Text, SplitKeepsEmptyPieces) {
  EXPECT_EQ(split("a,,b", ',').size(), 3u);
  EXPECT_EQ(split("", ',').size(), 1u);
}

TEST(Text, AnyTextSurvivesBeingAWord) {
  std::string all;
  for (int c = 1; c < 256; ++c) all += static_cast<char>(c);
  const auto word = encode_word(all);
  EXPECT_EQ(word.find_first_of(" ,=\n:"), std::string::npos);
  EXPECT_EQ(decode_word(word), all);
}

TEST(Text, BrokenWordsAreRefused) {
  for (const auto bad : {"%", "%4", "%zz", "a b", "a,b"}) EXPECT_EQ(decode_word(bad), std::nullopt);
}

TEST(Text, FingerprintIsStable) {
  EXPECT_EQ(fingerprint(""), "cbf29ce484222325");
  EXPECT_EQ(fingerprint("a"), "af63dc4c8601ec8c");
}

}  // namespace
}  // namespace acrf
