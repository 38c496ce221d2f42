// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/kernel_log_source.h"

#include <gtest/gtest.h>

#include <vector>

#include "common/file.h"
#include "temporary_directory.h"

namespace acrf {
namespace {

class KernelLogFile : public testing::Test {
 protected:
  void SetUp() override { directory_.write("kmsg", ""); }

  KernelLogSource open(const std::string& boot_id = "boot-a") {
    auto source = KernelLogSource::open(directory_.path("kmsg"), directory_.path("place"), boot_id);
    EXPECT_TRUE(source.ok());
    return std::move(*source);
  }

  void print(const std::string& text) {
    ASSERT_TRUE(append_file(directory_.path("kmsg"), text).ok());
  }

  static std::vector<std::string> read(KernelLogSource& source) {
    std::vector<std::string> messages;
    while (source.read_records(
        [&](const KernelRecord& record) { messages.emplace_back(record.message); })) {
    }
    return messages;
  }

  TemporaryDirectory directory_;
};

using Messages = std::vector<std::string>;

TEST_F(KernelLogFile, GivesLinesAsTheyAreCompleted) {
  auto source = open();
  print("3,1,1,-;one\n3,2,2,-;tw");
  EXPECT_EQ(read(source), Messages{"one"});
  print("o\nnot a record\n");
  EXPECT_EQ(read(source), Messages{"two"});
}

TEST_F(KernelLogFile, WhatWasThereBeforeTheFirstStartIsHistory) {
  print("3,1,1,-;old\n");
  auto source = open();
  print("3,2,2,-;new\n");
  EXPECT_EQ(read(source), Messages{"new"});
}

TEST_F(KernelLogFile, ARestartNeitherRepeatsNorMisses) {
  {
    auto source = open();
    print("3,1,1,-;one\n");
    EXPECT_EQ(read(source), Messages{"one"});
    ASSERT_TRUE(source.save_place().ok());
  }
  print("3,2,2,-;two\n");
  auto source = open();
  EXPECT_EQ(read(source), Messages{"two"});
}

TEST_F(KernelLogFile, WithoutASavedPlaceALineIsReadAgain) {
  {
    auto source = open();
    print("3,1,1,-;one\n");
    read(source);
    ASSERT_TRUE(source.save_place().ok());
    print("3,2,2,-;two\n");
    EXPECT_EQ(read(source), Messages{"two"});  // killed here, before save_place()
  }
  auto source = open();
  EXPECT_EQ(read(source), Messages{"two"});
}

TEST_F(KernelLogFile, APlaceOfAnotherBootDoesNotCount) {
  {
    auto source = open();
    print("3,1,1,-;one\n");
    read(source);
    ASSERT_TRUE(source.save_place().ok());
  }
  print("3,2,2,-;two\n");
  auto source = open("boot-b");
  EXPECT_EQ(read(source), Messages{});
}

TEST_F(KernelLogFile, AnEndlessLineDoesNotFillTheMemory) {
  auto source = open();
  for (int i = 0; i < 100; ++i) {
    print(std::string(10000, 'x'));
    EXPECT_EQ(read(source), Messages{});
  }
  print("\n3,2,2,-;after\n");
  EXPECT_EQ(read(source), Messages{"after"});
}

TEST(KernelLog, AMissingFileIsAClearError) {
  const TemporaryDirectory directory;
  const auto source = KernelLogSource::open(directory.path("no"), directory.path("place"), "boot");
  ASSERT_FALSE(source.ok());
  EXPECT_NE(source.error().sentence.find("open " + directory.path("no")), std::string::npos);
}

}  // namespace
}  // namespace acrf
