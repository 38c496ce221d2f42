// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/kernel_log.h"

#include <gtest/gtest.h>

namespace acrf {
namespace {

TEST(KernelRecord, HasSequenceTimeAndMessage) {
  const auto record = parse_kernel_record("3,1234,5678901,-;NVRM: hello\n SUBSYSTEM=pci\n");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->sequence, 1234u);
  EXPECT_EQ(record->uptime_us, 5678901u);
  EXPECT_TRUE(record->from_kernel);
  EXPECT_EQ(record->message, "NVRM: hello");
}

TEST(KernelRecord, WrittenByAUserIsNotTheKernels) {
  EXPECT_FALSE(parse_kernel_record("12,1,2,-;NVRM: Xid (PCI:0000:1a:00): 79")->from_kernel);
  EXPECT_FALSE(parse_kernel_record("8,1,2,-;x")->from_kernel);
  EXPECT_TRUE(parse_kernel_record("7,1,2,-;x")->from_kernel);
}

TEST(KernelRecord, MayHaveMoreFieldsAndSemicolons) {
  EXPECT_EQ(parse_kernel_record("6,339,5140900,c,caller=T1;a;b")->message, "a;b");
}

TEST(KernelRecord, AnythingElseIsNone) {
  for (const auto bad :
       {"", "plain text", "3,1,2", "3,1,2,-", "x,1,2,-;m", "3,,2,-;m", " KEY=value"})
    EXPECT_FALSE(parse_kernel_record(bad)) << bad;
}

}  // namespace
}  // namespace acrf
