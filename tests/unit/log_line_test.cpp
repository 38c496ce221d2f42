// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/log_line.h"

#include <gtest/gtest.h>

namespace acrf {
namespace {

constexpr std::string_view kMessage = "NVRM: Xid (PCI:0000:1a:00): 79, x";

TEST(LogLine, EveryHeaderOfAKernelLineComesOff) {
  for (const std::string header : {"",
                                   "[    1.000000] ",
                                   "[  +0.000001] ",
                                   "[123] ",
                                   "[Mon Oct 29 12:07:39 2018] ",
                                   "[lun. oct. 29 12:07:39 2018] ",
                                   "[  123.456][  T877] ",
                                   "[  123.456] [ C3] ",
                                   "<3>[  1.5] ",
                                   "<0>",
                                   "kern  :err   : [  12.5] ",
                                   "kern  :warn  : 2025-01-21T04:41:44,285060+00:00 ",
                                   "Dec  2 10:43:35 worker4 kernel: [240314.528856] ",
                                   "Dec  2 10:43:35 worker4 kernel: ",
                                   "Feb 23 03:28:16  kernel: ",
                                   "jan. 29 20:50:17 kevin kernel: ",
                                   "kernel: ",
                                   "worker4 kernel: ",
                                   "2025-01-21T04:41:44.285060+00:00 worker4 kernel: ",
                                   "2025-01-21 04:41:44 worker4 kernel: ",
                                   "Mon 2024-05-01 12:00:00 UTC worker4 kernel: ",
                                   "1. \xd1\x8f\xd0\xbd\xd0\xb2 20:50:17 host kernel: ",
                                   "[Sun Dec  1 14:54:40 2024] worker4 kernel: ",
                                   "2025-01-21T04:41:44,285060+00:00 ",
                                   "Oct 29 12:07:39 ",
                                   "<3>1 2025-01-21T04:41:44.28Z worker4 kernel - - - "}) {
    const std::string text = header + std::string(kMessage);
    const auto line = parse_log_line(text);
    EXPECT_EQ(line.message, kMessage) << header;
    EXPECT_EQ(line.writer, Writer::kKernel) << header;
  }
}

TEST(LogLine, SaysWhoWroteIt) {
  EXPECT_EQ(parse_log_line("6,1,2,-;x").writer, Writer::kKernel);
  EXPECT_EQ(parse_log_line("14,1,2,-;x").writer, Writer::kUser);
  EXPECT_EQ(parse_log_line("<30>x").writer, Writer::kUser);
  EXPECT_EQ(parse_log_line("daemon:info  : [  1.0] x").writer, Writer::kUser);
  const auto line =
      parse_log_line("Aug 17 06:18:01 vm-0 systemd-networkd[5398]: ib6: lost carrier");
  EXPECT_EQ(line.writer, Writer::kDaemon);
  EXPECT_EQ(line.daemon, "systemd-networkd");
  EXPECT_EQ(line.message, "ib6: lost carrier");
}

TEST(LogLine, BracketsOfTheMessageStay) {
  EXPECT_EQ(parse_log_line("[drm] GPU HANG").message, "[drm] GPU HANG");
  EXPECT_EQ(parse_log_line("[  1.5] [drm] GPU HANG").message, "[drm] GPU HANG");
  EXPECT_EQ(parse_log_line("[Hardware Error]: x").message, "[Hardware Error]: x");
}

TEST(LogLine, RepeatWrappersComeOff) {
  const auto text = "Dec  2 10:43:35 w kernel: message repeated 3 times: [ [240314.5] " +
                    std::string(kMessage) + "]";
  const auto line = parse_log_line(text);
  EXPECT_EQ(line.message, kMessage);
  EXPECT_EQ(line.repeats, 3);
  for (const auto* last : {"Dec  2 10:43:35 w last message repeated 7 times",
                           "Dec  2 10:43:35 w kernel: last message repeated 7 times",
                           "last message repeated 7 times"}) {
    EXPECT_TRUE(parse_log_line(last).repeats_last) << last;
    EXPECT_EQ(parse_log_line(last).repeats, 7) << last;
  }
  EXPECT_FALSE(parse_log_line("my last message repeated 7 times").repeats_last);
}

TEST(LogLine, ColoursComeOff) {
  EXPECT_EQ(without_colours("\x1b[32m[   71.1] \x1b[0m\x1b[33mNVRM\x1b[0m: x"),
            "[   71.1] NVRM: x");
  EXPECT_EQ(without_colours("\x1b[1;31mfails\x1b[m"), "fails");
  EXPECT_EQ(without_colours("plain [0m"), "plain [0m");
  EXPECT_EQ(without_colours("cut \x1b[3"), "cut ");
}

TEST(LogLine, TimesGiveTheDistanceOfLines) {
  const auto us = [](std::string_view text) { return parse_log_line(text).time_us.value_or(-1); };
  EXPECT_EQ(us("[   12.500000] x"), 12'500'000);
  EXPECT_EQ(us("6,1,77,-;x"), 77);
  EXPECT_EQ(us("[Mon Oct 29 12:07:40 2018] x") - us("[Sun Oct 28 12:07:39 2018] x"),
            86'401'000'000);
  EXPECT_EQ(us("2018-10-29T12:07:39.5+00:00 h kernel: x"), 1'540'814'859'500'000);
  EXPECT_EQ(us("Mar  1 00:00:01 h kernel: x") - us("Feb 28 23:59:59 h kernel: x"), 2'000'000);
  EXPECT_TRUE(parse_log_line("[  +0.000001] x").time_is_step);
  EXPECT_EQ(us("x"), -1);
}

TEST(LogLine, OddBytesDoNoHarm) {
  using namespace std::literals;
  EXPECT_EQ(parse_log_line("[  1.5] x\r\n").message, "x");
  EXPECT_EQ(parse_log_line("\0\0[  1.5] x\0"sv).message, "x");
  EXPECT_EQ(parse_log_line("6,1,2,-;x\n SUBSYSTEM=pci\n DEVICE=+pci:0000:1a:00.0").message, "x");
  EXPECT_TRUE(parse_log_line(" SUBSYSTEM=pci").is_field);
  EXPECT_EQ(parse_log_line("").message, "");
  EXPECT_EQ(parse_log_line("[").message, "[");
  EXPECT_EQ(parse_log_line("<").message, "<");
}

}  // namespace
}  // namespace acrf
