// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/xid.h"

#include <gtest/gtest.h>

namespace acrf {
namespace {

constexpr PciAddress kGpu = {0, 0x1a, 0};

TEST(Xid, ReadsEveryFormOfTheAddress) {
  for (const auto line : {"NVRM: Xid (PCI:0000:1a:00): 79, GPU has fallen off the bus.",
                          "NVRM: Xid (PCI:0000:1A:00.0): 79, pid=1234, name=python, x",
                          "NVRM: Xid (PCI:00000000:1a:00): 79, pid='<unknown>', name=<unknown>",
                          "NVRM: Xid (0000:1a:00): 79, x",
                          "NVRM: Xid (PCI:0000:1a:00 GPU-I:05): 79", "NVRM: Xid (1a:00): 79 x"}) {
    const auto xid = parse_xid(line);
    ASSERT_TRUE(xid) << line;
    EXPECT_EQ(xid->code, 79) << line;
    EXPECT_EQ(xid->gpu, kGpu) << line;
  }
}

TEST(Xid, OnlyTheDriversOwnWordsCount) {
  for (const auto line :
       {"user said: NVRM: Xid (PCI:0000:1a:00): 79, x", "NVRM: Xid (PCI:zz): 79",
        "NVRM: Xid (PCI:0000:1a:00): 79x",
        "NVRM: Xid (PCI:0000:1a:00): ", "NVRM: Xid (PCI:0000:1a:00",
        "NVRM: Xid (PCI:0000:1a:00): 0, x", "NVRM: Xid (PCI:0000:1a:00): 99999999999999999999, x",
        "NVRM: Xid (PCI:0000:1ff:00): 79", "nvidia-nvswitch0: SXid (PCI:0000:1a:00.0): 79"})
    EXPECT_FALSE(parse_xid(line)) << line;
}

TEST(Xid, AddressIsWrittenOneWay) {
  EXPECT_EQ(to_string(kGpu), "0000:1a:00");
  EXPECT_EQ(to_string(PciAddress{0x10000, 1, 2}), "00010000:01:02");
}

TEST(Xid, NamesTheMigInstance) {
  EXPECT_EQ(parse_xid("NVRM: Xid (PCI:0000:1a:00 GPU-I:05): 94, x")->mig, "GPU-I:05");
  EXPECT_EQ(parse_xid("NVRM: Xid (PCI:0000:1a:00): 94, x")->mig, "");
}

TEST(Xid, WhatAUserNamesHisProgramDoesNotCount) {
  EXPECT_EQ(without_process("pid=12, name=python3, Ch 00000007"), "Ch 00000007");
  EXPECT_EQ(without_process("pid='<unknown>', name=<unknown>, x"), "x");
  EXPECT_EQ(without_process("name=a, RST: Yes, Ch 1"), "Ch 1");
  EXPECT_EQ(without_process("Ch 00000007"), "Ch 00000007");
}

TEST(Xid, RegistersOfALineThatWasCutOffAreNotRead) {
  EXPECT_EQ(registers_in("link 14(0x0, 0x10000, 0x1)"),
            (std::vector<std::uint32_t>{0, 0x10000, 1}));
  EXPECT_TRUE(registers_in("link 14(0x0, 0x10000, 0x").empty());
  EXPECT_TRUE(registers_in("link 14(0x0, 0x10000").empty());
}

}  // namespace
}  // namespace acrf
