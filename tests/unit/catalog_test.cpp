// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/catalog.h"

#include <gtest/gtest.h>

namespace acrf {
namespace {

TEST(Catalog, TheBuiltInTablesAreWhole) {
  const auto catalog = Catalog::parse(builtin_catalog_text());
  ASSERT_TRUE(catalog) << catalog.error().sentence;
  EXPECT_EQ(catalog->xids().size(), 176u);
  EXPECT_EQ(catalog->sxids().size(), 263u);
  EXPECT_EQ(catalog->nvlink_bits().size(), 42u);
  EXPECT_GE(catalog->nvlink5().size(), 95u);
  EXPECT_EQ(catalog->recoveries().size(), 8u);
  EXPECT_FALSE(catalog->version().empty());
}

TEST(Catalog, ProgramsFaultsNeverCondemnANode) {
  const auto& catalog = Catalog::builtin();
  for (const int code : {13, 31, 43, 45, 68, 69, 137, 63, 92, 94, 109})
    EXPECT_FALSE(evacuates(catalog.find_xid(code)->verdict)) << code;
  for (const int code : {48, 64, 79, 95, 119, 120, 122, 140})
    EXPECT_TRUE(evacuates(catalog.find_xid(code)->verdict)) << code;
}

// Rule 3 of the design: the root of a burst is the earliest of the highest rank.
TEST(Catalog, RanksFollowTheOrderOfRoots) {
  const auto& catalog = Catalog::builtin();
  const auto rank = [&](int code) { return catalog.find_xid(code)->rank; };
  EXPECT_GT(rank(79), rank(48));
  EXPECT_GT(rank(48), rank(64));
  EXPECT_GT(rank(48), rank(171));
  EXPECT_GT(rank(64), rank(119));
  EXPECT_GT(rank(119), rank(122));
  EXPECT_GT(rank(122), rank(74));
  EXPECT_GT(rank(74), catalog.find_sxid(20034)->rank);
  EXPECT_GT(catalog.find_sxid(20034)->rank, rank(31));
  EXPECT_GT(rank(31), rank(43));
  const auto* fatal = catalog.find_message(
      "pcie", "PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer");
  ASSERT_TRUE(fatal);
  EXPECT_GT(rank(79), fatal->rank);
  EXPECT_GT(fatal->rank, rank(48));
}

TEST(Catalog, ErrorsNameTableAndLine) {
  auto text = builtin_catalog_text();
  text.xid = "# acrf-catalog xid 2026.11\n1\tx\twarning\tgpu\tjump\t\tname\tsource\t\n";
  EXPECT_EQ(Catalog::parse(text).error().sentence, "catalog xid:2: unknown action 'jump'");
  text.xid = "# acrf-catalog xid 2026.11\n1\tx\twarning\tgpu\twatch\t\tname\t\t\n";
  EXPECT_EQ(Catalog::parse(text).error().sentence, "catalog xid:2: has no source");
  text.xid = "# acrf-catalog xid 1999.1\n";
  EXPECT_EQ(Catalog::parse(text).error().sentence,
            "catalog sxid:1: is of another version than 1999.1");
  text.xid = "1\tx\n";
  EXPECT_FALSE(Catalog::parse(text));
}

}  // namespace
}  // namespace acrf
