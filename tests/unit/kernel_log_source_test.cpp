// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/kernel_log_source.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "common/file.h"
#include "core/classify.h"
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

TEST_F(KernelLogFile, TheEndOfAnOverlongLineIsNoRecord) {
  auto source = open();
  print(std::string(200'000, 'x'));
  read(source);
  print("3,1,1,-;forged by the tail of a long line\n3,2,2,-;after\n");
  EXPECT_EQ(read(source), Messages{"after"});
}

TEST_F(KernelLogFile, ATruncatedFileIsReadFromItsBeginning) {
  auto source = open();
  print("3,1,1,-;one\n3,2,2,-;two\n");
  read(source);
  directory_.write("kmsg", "3,3,3,-;three\n");
  EXPECT_EQ(read(source), Messages{"three"});
}

TEST_F(KernelLogFile, ARotatedFileIsReadToItsEndAndThenTheNewOne) {
  auto source = open();
  print("3,1,1,-;one\n");
  read(source);
  print("3,2,2,-;two\n");
  std::filesystem::rename(directory_.path("kmsg"), directory_.path("kmsg.1"));
  directory_.write("kmsg", "3,3,3,-;three\n");
  EXPECT_EQ(read(source), (Messages{"two", "three"}));
}

TEST_F(KernelLogFile, TheOldFileCountsUntilTheNewOneHasLines) {
  auto source = open();
  std::filesystem::rename(directory_.path("kmsg"), directory_.path("kmsg.1"));
  directory_.write("kmsg", "");
  ASSERT_TRUE(append_file(directory_.path("kmsg.1"), "3,1,1,-;late\n").ok());
  EXPECT_EQ(read(source), Messages{"late"});
  print("3,2,2,-;new\n");
  EXPECT_EQ(read(source), Messages{"new"});
}

TEST_F(KernelLogFile, ARotationWhileTheDaemonIsDownLosesNothing) {
  {
    auto source = open();
    print("3,1,1,-;one\n");
    read(source);
    ASSERT_TRUE(source.save_place().ok());
  }
  print("3,2,2,-;two\n");
  std::filesystem::rename(directory_.path("kmsg"), directory_.path("kmsg.1"));
  directory_.write("kmsg", "3,3,3,-;three, and longer than all that was there before\n");
  auto source = open();
  EXPECT_EQ(read(source), (Messages{"two", "three, and longer than all that was there before"}));
}

TEST_F(KernelLogFile, ATruncationWhileTheDaemonIsDownLosesNothing) {
  {
    auto source = open();
    print("3,1,1,-;a long line that is gone\n");
    read(source);
    ASSERT_TRUE(source.save_place().ok());
  }
  directory_.write("kmsg", "3,2,2,-;two\n");
  auto source = open();
  EXPECT_EQ(read(source), Messages{"two"});
}

// Nobody tells of what one bounded read leaves behind, so the source does.
TEST_F(KernelLogFile, AFloodComesInBoundedPiecesAndNoneIsForgotten) {
  auto source = open();
  std::string flood;
  for (int i = 0; i < 100'000; ++i)
    flood += "3," + std::to_string(i) + "," + std::to_string(i) + ",-;flood\n";
  print(flood);
  int pieces = 0;
  std::size_t records = 0;
  do {
    std::size_t piece = 0;
    source.read_records([&](const KernelRecord&) { ++piece; });
    EXPECT_LT(piece, 10'000u);
    records += piece;
    ++pieces;
  } while (source.has_more());
  EXPECT_EQ(records, 100'000u);
  EXPECT_GT(pieces, 20);
}

TEST_F(KernelLogFile, ANewLineMakesTheDescriptorReadable) {
  auto source = open();
  read(source);
  pollfd fd = {source.poll_fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&fd, 1, 0), 0);
  print("3,1,1,-;one\n");
  EXPECT_EQ(::poll(&fd, 1, 0), 1);
}

// A socket that keeps records apart stands for the device.
class KernelLogDevice : public testing::Test {
 protected:
  void open(const SavedPlace& place) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
    kernel_.reset(ends[0]);
    auto reader = read_kernel_log_device(UniqueFd(ends[1]), "kmsg", place);
    ASSERT_TRUE(reader.ok());
    reader_ = std::move(*reader);
  }
  void print(int sequence) {
    const auto record = "6," + std::to_string(sequence) + ",5,-;m" + std::to_string(sequence);
    ASSERT_GT(::send(kernel_.get(), record.data(), record.size(), 0), 0);
  }
  Messages read() {
    Messages messages;
    while (
        reader_->read([&](const KernelRecord& record) { messages.emplace_back(record.message); })) {
    }
    return messages;
  }
  UniqueFd kernel_;
  std::unique_ptr<KernelLogReader> reader_;
};

TEST_F(KernelLogDevice, SkipsWhatWasHandledBeforeTheRestart) {
  open({"7", false});
  for (int i = 5; i < 9; ++i) print(i);
  EXPECT_EQ(read(), (Messages{"m7", "m8"}));
  EXPECT_EQ(reader_->place(), "9");
  EXPECT_EQ(reader_->lost(), 0u);
}

TEST_F(KernelLogDevice, CountsWhatWasOverwritten) {
  open({"7", false});
  print(7);
  print(10);
  print(11);
  EXPECT_EQ(read().size(), 3u);
  EXPECT_EQ(reader_->lost(), 2u);
}

TEST_F(KernelLogDevice, ReadsTheWholeOfABootThatIsNew) {
  open({"", true});
  print(0);
  print(1);
  EXPECT_EQ(read(), (Messages{"m0", "m1"}));
}

TEST(KernelLog, TheRealDeviceIsReadFromNowOn) {
  const TemporaryDirectory directory;
  auto source = KernelLogSource::open("/dev/kmsg", directory.path("place"), "boot");
  if (!source) GTEST_SKIP() << source.error().sentence;
  bool old = false;
  source->read_records([&](const KernelRecord& record) { old |= record.uptime_us < 1'000'000; });
  EXPECT_FALSE(old);
}

TEST(KernelLog, AnEmptyJournalIsCalm) {
  const TemporaryDirectory directory;
  auto journal = read_kernel_journal(directory.path(), "0123", {});
  if (!journal) GTEST_SKIP() << journal.error().sentence;
  EXPECT_FALSE((*journal)->read([](const KernelRecord&) {}));
  EXPECT_EQ((*journal)->place(), "");
  EXPECT_GE((*journal)->poll_fd(), 0);
}

// A journal as journald writes it, by the program that takes journals over from other machines.
class KernelJournal : public testing::Test {
 protected:
  static constexpr char kWriter[] = "/usr/lib/systemd/systemd-journal-remote";
  static constexpr char kBoot[] = "0123456789abcdef0123456789abcdef";

  void SetUp() override {
    if (::access(kWriter, X_OK) != 0) GTEST_SKIP() << "systemd-journal-remote is not installed";
  }

  static std::string entry(int number, const std::string& message,
                           const std::string& facility = "0", const std::string& boot = kBoot,
                           const std::string& transport = "kernel") {
    std::string size;
    for (std::size_t left = message.size(), i = 0; i < 8; ++i, left >>= 8)
      size += static_cast<char>(left & 0xff);
    const auto time = std::to_string(100'000 + number);
    return "__REALTIME_TIMESTAMP=1794900788" + time + "\n__MONOTONIC_TIMESTAMP=" + time +
           "\n_BOOT_ID=" + boot + "\n_TRANSPORT=" + transport + "\nSYSLOG_FACILITY=" + facility +
           "\n_SOURCE_MONOTONIC_TIMESTAMP=" + time + "\nMESSAGE\n" + size + message + "\n\n";
  }

  void write(const std::string& entries) {
    directory_.write("export", entries);
    const auto command = std::string(kWriter) + " --output=" + directory_.path("journal") +
                         "/kernel.journal " + directory_.path("export") + " >/dev/null 2>&1";
    std::filesystem::create_directories(directory_.path("journal"));
    ASSERT_EQ(std::system(command.c_str()), 0);
  }

  struct Read {
    std::vector<std::string> messages;
    std::string place;
  };
  Read read(const SavedPlace& place) {
    auto journal = read_kernel_journal(directory_.path("journal"), kBoot, place);
    if (!journal) return {{journal.error().sentence}, ""};
    Read all;
    while ((*journal)->read([&](const KernelRecord& record) {
      all.messages.push_back((record.from_kernel ? "" : "user: ") + std::string(record.message));
    })) {
    }
    all.place = (*journal)->place();
    return all;
  }

  TemporaryDirectory directory_;
};

TEST_F(KernelJournal, GivesTheKernelsRecordsOfThisBootAndSaysWhoWroteThem) {
  write(entry(1, "of another boot", "0", "fedcba9876543210fedcba9876543210") + entry(2, "one") +
        entry(3, "written to the log by a user", "1") +
        entry(4, "of a program", "0", kBoot, "syslog") + entry(5, "two"));
  EXPECT_EQ(read({"", true}).messages,
            (std::vector<std::string>{"one", "user: written to the log by a user", "two"}));
  EXPECT_TRUE(read({}).messages.empty()) << "what was there before the first start is history";
}

TEST_F(KernelJournal, ARestartNeitherRepeatsNorMisses) {
  write(entry(1, "one") + entry(2, "two"));
  const auto before = read({"", true});
  EXPECT_TRUE(read({before.place, false}).messages.empty());
  write(entry(3, "three"));
  EXPECT_EQ(read({before.place, false}).messages, std::vector<std::string>{"three"});
}

// /dev/kmsg gives such a record as one line too.
TEST_F(KernelJournal, ARecordOfSeveralLinesIsNotCutOff) {
  write(entry(1,
              "NVRM: The NVIDIA GPU 0000:18:00.0\nNVRM: (PCI ID: 10de:2901) installed in this "
              "system has\nNVRM: fallen off the bus and is not responding to commands."));
  const auto messages = read({"", true}).messages;
  ASSERT_EQ(messages.size(), 1u);
  const auto verdict = classify_line(messages[0]);
  EXPECT_EQ(verdict.verdict.action, Action::kRebootNode);
  EXPECT_EQ(verdict.rank, 100);
}

TEST(KernelLog, AMissingFileIsAClearError) {
  const TemporaryDirectory directory;
  const auto source = KernelLogSource::open(directory.path("no"), directory.path("place"), "boot");
  ASSERT_FALSE(source.ok());
  EXPECT_NE(source.error().sentence.find("open " + directory.path("no")), std::string::npos);
}

}  // namespace
}  // namespace acrf
