// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/maintenance.h"

#include <gmock/gmock.h>

#include "core/config.h"
#include "core/zoned_time.h"

namespace acrf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Maintenance, CoversItsNodesForItsTime) {
  const auto config = parse_config(
      "Maintenance=gpu[1-2] Start=2026-11-17T20:00Z End=2026-11-17T22:30+01:00 "
      "Reason=\"new power supplies\"\n"
      "Maintenance=gpu7 Checks=ib_down,ib_flapping\n",
      "acrf.conf");
  ASSERT_TRUE(config.ok()) << config.error().sentence;
  const auto& all = config->maintenance;
  const auto start = *parse_zoned_time("2026-11-17T20:00:00Z");
  const auto end = *parse_zoned_time("2026-11-17T21:30:00Z");
  EXPECT_EQ(maintenance_of(all, "gpu1", "gsp", start - 1), nullptr);
  ASSERT_NE(maintenance_of(all, "gpu1", "gsp", start), nullptr);
  EXPECT_EQ(maintenance_of(all, "gpu1", "gsp", start)->reason, "new power supplies");
  EXPECT_NE(maintenance_of(all, "gpu2", "gsp", end - 1), nullptr);
  EXPECT_EQ(maintenance_of(all, "gpu2", "gsp", end), nullptr);
  EXPECT_EQ(maintenance_of(all, "gpu3", "gsp", start), nullptr);
  EXPECT_NE(maintenance_of(all, "gpu7", "ib_down", 1), nullptr);
  EXPECT_EQ(maintenance_of(all, "gpu7", "gpu_lost", 1), nullptr);
  EXPECT_EQ(to_line(all[0]),
            "Maintenance=gpu[1-2] Start=2026-11-17T20:00:00Z End=2026-11-17T21:30:00Z "
            "Reason=\"new power supplies\"");
  EXPECT_EQ(to_line(all[1]), "Maintenance=gpu7 Checks=ib_down,ib_flapping");
}

TEST(Maintenance, WhatIsWrongIsSaid) {
  for (const auto& [text, sentence] : {
           std::pair("Maintenance=n[1-", "acrf.conf:1: Maintenance=n[1-"),
           {"Maintenance=n1 Start=tomorrow", "Start=tomorrow: must be YYYY-MM-DDThh:mm"},
           {"Maintenance=n1 Start=2026-11-17T20:00", "must be YYYY-MM-DDThh:mm"},
           {"Maintenance=n1 Start=2026-11-17T20:00Z End=2026-11-17T20:00Z",
            "End must be after Start"},
           {"Maintenance=n1 Nodes=n2", "Nodes=n2: a Maintenance has no such field"},
       }) {
    const auto config = parse_config(text, "acrf.conf");
    ASSERT_FALSE(config.ok()) << text;
    EXPECT_THAT(config.error().sentence, HasSubstr(sentence));
  }
}

TEST(ZonedTime, IsReadAndWritten) {
  EXPECT_EQ(parse_zoned_time("1970-01-01T00:00Z"), 0);
  EXPECT_EQ(parse_zoned_time("2026-11-17T20:00:30-05:30"),
            *parse_zoned_time("2026-11-18T01:30:30Z"));
  EXPECT_EQ(to_utc_text(*parse_zoned_time("2024-02-29T23:59:59Z")), "2024-02-29T23:59:59Z");
  for (const auto* bad : {"", "2026-11-17", "2026-02-30T00:00Z", "2026-11-17T24:00Z",
                          "2026-11-17T20:00", "2026-11-17T20:00Zx", "2026-11-17T20:00+15:00",
                          "2026-1-17T20:00Z", "1969-12-31T23:59Z", "2026-11-17T20:60Z"})
    EXPECT_FALSE(parse_zoned_time(bad)) << bad;
}

TEST(PartitionRule, TheMostCarefulModeHolds) {
  const auto config = parse_config(
      "Mode=observe\nPartition=train Mode=enforce MaxDrainsPerHour=3 MaxDrained=10%\n"
      "Partition=debug Mode=observe\nPartition=plain MaxDrained=1\n",
      "acrf.conf");
  ASSERT_TRUE(config.ok()) << config.error().sentence;
  EXPECT_EQ(mode_for_node(*config, {"train"}), Mode::kEnforce);
  EXPECT_EQ(mode_for_node(*config, {"train", "debug"}), Mode::kObserve);
  EXPECT_EQ(mode_for_node(*config, {"train", "plain"}), Mode::kObserve);
  EXPECT_EQ(mode_for_node(*config, {}), Mode::kObserve);
  EXPECT_EQ(to_line(config->partitions[0]),
            "Partition=train Mode=enforce MaxDrainsPerHour=3 MaxDrained=10%");
  for (const auto* bad : {"Partition=train Mode=maybe", "Partition=", "Partition=a Max=1",
                          "Partition=a MaxDrained=101%", "Partition=a\nPartition=a"})
    EXPECT_FALSE(parse_config(bad, "acrf.conf").ok()) << bad;
}

}  // namespace
}  // namespace acrf
