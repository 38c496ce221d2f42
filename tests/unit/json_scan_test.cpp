// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/json_scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace acrf {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(JsonScan, AnObjectCutAnywhereIsNone) {
  const std::string whole = R"({"a": [1, {"b": "}]\"{"}], "c": {}})";
  EXPECT_TRUE(is_json_object(whole));
  EXPECT_TRUE(is_json_object(" " + whole + "\n"));
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(is_json_object(whole.substr(0, length))) << length;
  for (const auto text : {"", "[]", "{]", "{}}", "{} {}", "7"})
    EXPECT_FALSE(is_json_object(text)) << text;
}

TEST(JsonScan, NumbersAndPairsAreFoundByTheirKey) {
  const std::string text = R"({"xkey": 1, "s": "key", "key" : 22, "o":[ 3 , 4 ],"o":[5,6],"o":7})";
  EXPECT_EQ(json_number(text, "key"), 22u);
  EXPECT_EQ(json_number(text, "none"), std::nullopt);
  EXPECT_EQ(json_number(R"({"key": -1})", "key"), std::nullopt);
  EXPECT_THAT(json_pairs(text, "o"), ElementsAre(Pair(3, 4), Pair(5, 6)));
}

TEST(JsonScan, StringsBySuffixComeOnceAndSorted) {
  EXPECT_THAT(
      json_strings(R"({"a":"z.bin","b":"y.bin","c":"z.bin","d":"\"x.bin","e":"n"})", ".bin"),
      ElementsAre("\\\"x.bin", "y.bin", "z.bin"));
  EXPECT_TRUE(json_strings(R"({"a":"cut.bin)", ".bin").empty());
}

}  // namespace
}  // namespace acrf
