// SPDX-License-Identifier: GPL-2.0-or-later
// The daemon as a process, with a file for its kernel log, and --check-once beside it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstdio>

#include "common/arguments.h"
#include "common/file.h"
#include "temporary_directory.h"

extern char** environ;

namespace acrf {
namespace {

using testing::HasSubstr;

constexpr char kLostGpu[] =
    "3,%d,%d,-;NVRM: Xid (PCI:0000:1a:00): 79, pid=1, GPU has fallen off the bus.\n";

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

  static std::string lost_gpu(int sequence) {
    char line[200];
    std::snprintf(line, sizeof line, kLostGpu, sequence, sequence);
    return line;
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
  print("3,2,2,-;NVRM: Xid (PCI:0000:1b:00): 79, pid=1, GPU has fallen off the bus.\n");
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

}  // namespace
}  // namespace acrf
