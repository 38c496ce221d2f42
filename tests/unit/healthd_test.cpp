// SPDX-License-Identifier: GPL-2.0-or-later
// The daemon as a process, with a file for its kernel log, and --check-once beside it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstdio>
#include <ctime>

#include "build_paths.h"
#include "common/arguments.h"
#include "common/file.h"
#include "temporary_directory.h"

extern char** environ;

namespace acrf {
namespace {

using testing::HasSubstr;

// A record that the kernel writes now: an old warning would have had its time.
std::string kernel_record(int sequence, const std::string& message) {
  timespec up{};
  ::clock_gettime(CLOCK_MONOTONIC, &up);
  return "3," + std::to_string(sequence) + "," +
         std::to_string(up.tv_sec * 1'000'000 + up.tv_nsec / 1000) + ",-;" + message + "\n";
}

class Healthd : public testing::Test {
 protected:
  void SetUp() override {
    directory_.write("kmsg", "");
    directory_.write("state/keep", "");
    directory_.write(
        "slurm.conf",
        "ClusterName=t\nSlurmctldHost=localhost\nNodeName=n1\nPartitionName=p Nodes=n1\n");
    configure("");
  }
  void TearDown() override { stop(SIGKILL); }

  void configure(const std::string& more) {
    directory_.write("acrf.conf", "KernelLog=" + directory_.path("kmsg") +
                                      "\nStateDir=" + directory_.path("state") +
                                      "\nNvmlLibrary=\nNodeCheckInterval=0\n" + more);
  }

  void start() {
    std::vector<std::string> arguments = {ACRF_HEALTHD, "-N", "n1", "-f",
                                          directory_.path("acrf.conf")};
    std::vector<std::string> environment = {"SLURM_CONF=" + directory_.path("slurm.conf")};
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, directory_.path("log").c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0600);
    ASSERT_EQ(::posix_spawn(&pid_, ACRF_HEALTHD, &files, nullptr, pointers_to(arguments).data(),
                            pointers_to(environment).data()),
              0);
    posix_spawn_file_actions_destroy(&files);
  }

  void stop(int signal) {
    if (pid_ < 0) return;
    ::kill(pid_, signal);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

  // Exit code of --check-once; its line is in text_.
  int check() {
    const std::string command = std::string(ACRF_HEALTHD) + " --check-once -N n1 -f " +
                                directory_.path("acrf.conf") + " 2>&1";
    std::FILE* output = ::popen(command.c_str(), "r");
    char buffer[1024] = "";
    text_ = std::fgets(buffer, sizeof buffer, output) ? buffer : "";
    return WEXITSTATUS(::pclose(output));
  }

  // Waits for an exit code, for as long as a busy machine may need.
  bool becomes(int code) {
    for (int i = 0; i < 600; ++i) {
      if (check() == code) return true;
      ::usleep(50'000);
    }
    return false;
  }

  void print(const std::string& text) {
    ASSERT_TRUE(append_file(directory_.path("kmsg"), text).ok());
  }

  static std::string lost_gpu(int sequence, const std::string& bus = "1a") {
    return kernel_record(
        sequence, "NVRM: Xid (PCI:0000:" + bus + ":00): 79, pid=1, GPU has fallen off the bus.");
  }

  bool says(const std::string& text) {
    for (int i = 0; i < 600; ++i) {
      if (log().find(text) != std::string::npos) return true;
      ::usleep(50'000);
    }
    return false;
  }

  std::string log() { return read_file(directory_.path("log")).value(); }

  TemporaryDirectory directory_;
  pid_t pid_ = -1;
  std::string text_;
};

TEST_F(Healthd, CheckOnceIsUnknownWithoutADaemonAndFollowsItsVerdict) {
  EXPECT_EQ(check(), 3);
  EXPECT_THAT(text_, HasSubstr("ACRF UNKNOWN"));
  start();
  ASSERT_TRUE(becomes(0)) << text_ << log();
  EXPECT_EQ(text_, "ACRF OK - HEALTHY: no findings\n");
  print(lost_gpu(1));
  ASSERT_TRUE(becomes(2)) << text_ << log();
  EXPECT_THAT(text_, HasSubstr("ACRF CRITICAL - XID_CRITICAL_79: gpu_lost 0000:1a:00"));
}

TEST_F(Healthd, CheckOnceIsUnknownWithABadConfiguration) {
  configure("Nonsense=1\n");
  EXPECT_EQ(check(), 3);
  EXPECT_THAT(text_, HasSubstr("acrf.conf:5: unknown setting"));
}

TEST_F(Healthd, AFatalErrorOfADriveIsNotTheGpus) {
  configure("NodeRoot=" + directory_.path("root") + "\n");
  directory_.write("root/sys/bus/pci/devices/0000:02:00.0/class", "0x010802\n");
  directory_.write("root/sys/bus/pci/devices/0000:17:01.0/class", "0x060400\n");
  start();
  ASSERT_TRUE(becomes(0)) << text_ << log();
  const auto fatal = [](int sequence, const std::string& device) {
    return kernel_record(sequence,
                         "pcieport 0000:00:01.0: AER: Uncorrected (Fatal) error message "
                         "received from 0000:" +
                             device + ".0");
  };
  print(fatal(1, "02:00"));
  ASSERT_TRUE(becomes(1)) << text_ << log();
  print(fatal(2, "17:01"));  // a bridge, perhaps to a GPU
  ASSERT_TRUE(becomes(2)) << text_ << log();
}

TEST_F(Healthd, AFloodHidesNothingAndStopsNothing) {
  start();
  ASSERT_TRUE(becomes(0)) << text_ << log();
  std::string flood;
  for (int i = 0; i < 20'000; ++i)
    flood += "6," + std::to_string(i) + ",1,-;noise noise noise noise noise noise noise\n";
  for (int i = 0; i < 20; ++i) print(flood);
  print(lost_gpu(20'000));
  for (int i = 0; i < 20; ++i) print(flood);
  ASSERT_TRUE(becomes(2)) << text_ << log();
  stop(SIGTERM);  // waits for its end: signals get their turn
  EXPECT_THAT(log(), HasSubstr("stops watching"));
}

TEST_F(Healthd, ARestartNeitherRepeatsNorMissesALine) {
  start();
  ASSERT_TRUE(becomes(0)) << log();
  print(lost_gpu(1));
  ASSERT_TRUE(becomes(2)) << log();
  stop(SIGTERM);
  print(lost_gpu(2, "1b"));
  std::filesystem::rename(directory_.path("log"), directory_.path("log.1"));
  start();
  for (int i = 0; i < 600; ++i) {
    const auto text = read_file(directory_.path("log"));
    if (text && text->find("0000:1b:00") != std::string::npos) break;
    ::usleep(50'000);
  }
  EXPECT_THAT(log(), HasSubstr("gpu_lost (xid 79) on GPU 0000:1b:00"));
  EXPECT_EQ(log().find("gpu_lost (xid 79) on GPU 0000:1a:00"), std::string::npos);
  EXPECT_EQ(check(), 2);  // the earlier one holds for this boot
}

TEST_F(Healthd, AHungSiteCheckDoesNotHoldTheDaemon) {
  configure("Check=hang Program=\"/bin/sleep 1000\" Timeout=600 Mode=on\n");
  start();
  ASSERT_TRUE(becomes(0)) << text_ << log();
  print(lost_gpu(1));
  EXPECT_TRUE(becomes(2)) << text_ << log();
}

TEST_F(Healthd, ReadsAcrfConfAgainWhenToldTo) {
  start();
  ASSERT_TRUE(becomes(0)) << text_ << log();
  configure("Fault=xid:79 Action=watch Severity=warning\nCheck=mark Program=\"/bin/touch " +
            directory_.path("mark") + "\" Interval=10\nSampleInterval=7\n");
  ::kill(pid_, SIGHUP);
  ASSERT_TRUE(says("acrf.conf was read again: SampleInterval=7, Fault lines, Check lines"));
  print(lost_gpu(1));
  ASSERT_TRUE(becomes(1)) << text_ << log();
  EXPECT_THAT(text_, HasSubstr("XID_WARNING_79"));
  for (int i = 0; i < 600 && !std::filesystem::exists(directory_.path("mark")); ++i)
    ::usleep(50'000);
  EXPECT_TRUE(std::filesystem::exists(directory_.path("mark"))) << log();
}

TEST_F(Healthd, ABadFileLeavesTheOldSettingsInForce) {
  configure("Fault=xid:79 Action=watch Severity=warning\n");
  start();
  ASSERT_TRUE(becomes(0)) << text_ << log();
  configure("SampleInterval=7\nNonsense=1\n");
  ::kill(pid_, SIGHUP);
  ASSERT_TRUE(says("acrf.conf:6: unknown setting"));
  EXPECT_THAT(log(), HasSubstr("the settings read before stay in force"));
  configure("");  // for --check-once; nobody has told the daemon
  print(lost_gpu(1));
  ASSERT_TRUE(becomes(1)) << text_ << log();
}

TEST_F(Healthd, SaysWhatOnlyARestartCanChange) {
  start();
  ASSERT_TRUE(becomes(0)) << text_ << log();
  directory_.write("acrf.conf", "KernelLog=" + directory_.path("kmsg") +
                                    "\nStateDir=/nowhere\nNvmlLibrary=\nNodeCheckInterval=0\n");
  ::kill(pid_, SIGHUP);
  ASSERT_TRUE(says("StateDir has changed; that takes effect when acrf-healthd is started again"));
  EXPECT_TRUE(says("nothing has changed"));
}

TEST_F(Healthd, KnowsEarlierFaultsAfterARestart) {
  start();
  ASSERT_TRUE(becomes(0)) << text_ << log();
  print(kernel_record(
      1, "NVRM: Xid (PCI:0000:1a:00): 119, Timeout after 6s of waiting for RPC response"));
  ASSERT_TRUE(becomes(2)) << text_ << log();
  stop(SIGTERM);
  EXPECT_THAT(read_file(directory_.path("state/fault-history.state")).value(),
              HasSubstr("xid%20119"));
}

}  // namespace
}  // namespace acrf
