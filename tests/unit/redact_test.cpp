// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/redact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace acrf {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> kNames = {"gpu-n17", "alice"};

TEST(Redact, WhatTellsWhoseMachineItIsGoes) {
  for (const auto* secret : {"10.12.3.4",
                             "10.12.3.4:8080",
                             "10.0.0.0/8",
                             "fe80::1ff:fe23:4567:890a",
                             "::1",
                             "2001:db8::8a2e:370:7334",
                             "b8:ce:f6:11:22:33",
                             "b8ce:f603:0011:2233",
                             "0xb8cef60300112233",
                             "GPU-6ad0e1a4-93d7-4c1e-8d4f-0b2a5a7c9e11",
                             "1320220099999999",
                             "/home/alice/train.py",
                             "~/x",
                             "gpu-n17",
                             "GPU-N17",
                             "gpu-n17.cluster.example",
                             "storage7.lan",
                             "node.b.c",
                             "bob@site.org",
                             "nfs7:/export/home",
                             "alice",
                             "(alice)",
                             "https://internal/x"}) {
    const auto line =
        redact("mlx5_core 0000:1a:00.0: error at " + std::string(secret) + ", code 7", kNames);
    EXPECT_THAT(line, Not(HasSubstr(secret))) << line;
    EXPECT_THAT(line, HasSubstr("mlx5_core 0000:1a:00.0: error at ")) << line;
    EXPECT_THAT(line, HasSubstr("code 7")) << line;
  }
}

TEST(Redact, NamesAfterTheirAnnouncementGo) {
  EXPECT_EQ(redact("Xid 99, pid='123', name=secret-model, Ch 1", {}),
            "Xid 99, pid='123', name=<name>, Ch 1");
  EXPECT_EQ(redact("killed process 7 uid:1000 user carol, comm: run.sh", {}).find("carol"),
            std::string::npos);
  EXPECT_EQ(redact("host: bignode rebooted", {}), "host: <name> rebooted");
}

TEST(Redact, TheMatterStays) {
  const std::string line =
      "NVRM: Xid (PCI:0000:1a:00): 79, pid='<unknown>', GPU has fallen off the bus. 0x62 v550.54";
  EXPECT_EQ(redact(line, kNames), line);
}

TEST(Redact, TheResultIsOneShortPrintableLine) {
  const auto line = redact("a\nb\x1b[2J\x01" + std::string(10'000, 'y'), {});
  EXPECT_LE(line.size(), 500u);
  for (const char c : line) EXPECT_TRUE(c >= ' ' && c < 0x7f);
  EXPECT_EQ(redact("", {}), "");
}

TEST(Redact, ANameInsideAWordGoesToo) {
  EXPECT_EQ(redact("link ib0@gpu-n17 down", kNames).find("gpu-n17"), std::string::npos);
}

}  // namespace
}  // namespace acrf
