// SPDX-License-Identifier: GPL-2.0-or-later
// The daemon as a process, with a file for its kernel log, and --check-once beside it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "build_paths.h"
#include "common/arguments.h"
#include "common/file.h"
#include "fakegpu/state.h"
#include "temporary_directory.h"

extern char** environ;

namespace acrf {
namespace {

using testing::HasSubstr;

// Sanitizers cost time and keep freed memory.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kDearer = 100;
#else
constexpr int kDearer = 1;
#endif

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

  void configure_gpus(const fakegpu::State& gpus) {
    ASSERT_TRUE(fakegpu::save_state(directory_.path("gpus.json"), gpus).ok());
    directory_.write(
        "acrf.conf",
        "KernelLog=" + directory_.path("kmsg") + "\nStateDir=" + directory_.path("state") +
            "\nNodeCheckInterval=0\nNvmlLibrary=" ACRF_FAKE_NVML "\nFakeGpuState=" +
            directory_.path("gpus.json") + "\nNodeRoot=" + directory_.path("root") + "\n");
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

  // The most memory that the daemon ever had.
  long most_memory_kb() const {
    constexpr std::string_view kKey = "VmHWM:";
    const auto status = read_file("/proc/" + std::to_string(pid_) + "/status").value();
    return std::atol(status.c_str() + status.find(kKey) + kKey.size());
  }

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

// Of ten, the one that a busy machine disturbed least.
TEST_F(Healthd, CheckOnceAnswersWithinFiftyMilliseconds) {
  start();
  ASSERT_TRUE(becomes(0)) << text_ << log();
  auto least = std::chrono::steady_clock::duration::max();
  for (int i = 0; i < 10; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(check(), 0);
    least = std::min(least, std::chrono::steady_clock::now() - begin);
  }
  EXPECT_LT(least, std::chrono::milliseconds(50 * kDearer));
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

// A port's error names nobody else; what the GPU below it says next comes of it.
TEST_F(Healthd, AnErrorOfAPortIsThatOfTheOnlyGpuBelowIt) {
  configure_gpus(fakegpu::healthy_state("n1", 3));  // at 10, 20 and 30
  const auto device = [&](const std::string& path, const char* kind) {
    directory_.write("root/sys/bus/pci/devices/" + path + "/class", std::string(kind) + "\n");
  };
  device("0000:01:00.0", "0x060400");
  device("0000:01:00.0/0000:02:00.0", "0x060400");
  device("0000:01:00.0/0000:02:00.0/0000:10:00.0", "0x030200");
  device("0000:01:00.0/0000:02:00.0/0000:10:00.1", "0x040300");  // the same card's sound
  device("0000:03:00.0", "0x060400");
  device("0000:03:00.0/0000:20:00.0", "0x030200");
  device("0000:03:00.1", "0x060400");  // another port of the same device
  device("0000:03:00.1/0000:30:00.0", "0x030200");
  start();
  ASSERT_TRUE(becomes(0)) << text_ << log();
  const auto port_error = [](const std::string& port) {
    return "pcieport 0000:" + port +
           ".0: PCIe Bus Error: severity=Uncorrected (Non-Fatal), type=Transaction Layer, "
           "(Requester ID)";
  };
  const auto page_fault = [](const std::string& bus) {
    return "NVRM: Xid (PCI:0000:" + bus + ":00): 31, pid=1, name=x, MMU Fault: ENGINE GRAPHICS";
  };
  print(kernel_record(1, port_error("01:00")) + kernel_record(2, port_error("03:00")));
  ASSERT_TRUE(says("pcie_nonfatal on the 0000:03:00")) << log();
  EXPECT_THAT(log(), HasSubstr("pcie_nonfatal on GPU 0000:10:00"));
  print(kernel_record(3, page_fault("10")) + kernel_record(4, page_fault("20")));
  ASSERT_TRUE(says("app_fault (xid 31) on GPU 0000:20:00")) << log();
  const auto text = log();
  const auto begin = text.rfind("incident ", text.find("pcie_nonfatal on GPU 0000:10:00"));
  const auto incident = text.substr(begin, text.find(' ', begin + 9) + 1 - begin);
  EXPECT_THAT(text, HasSubstr(incident + "pcie_secondary (xid 31) on GPU 0000:10:00"));
}

// Three GPUs complain of links that all end at one GPU, which has complained least.
TEST_F(Healthd, TheEndThatAllBadLinksShareIsBlamed) {
  auto gpus = fakegpu::healthy_state("n1", 4);  // at 10, 20, 30 and 40
  for (auto& gpu : gpus.gpus) gpu.link_ends.assign(18, gpus.gpus[3].pci);
  configure_gpus(gpus);
  start();
  ASSERT_TRUE(becomes(0)) << text_ << log();
  const auto link_error = [](int sequence, const std::string& bus) {
    return kernel_record(sequence, "NVRM: Xid (PCI:0000:" + bus +
                                       ":00): 74, NVLink: fatal error detected on link 3"
                                       "(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)");
  };
  print(link_error(1, "10") + link_error(2, "20") + link_error(3, "40"));
  ASSERT_TRUE(says("its root is now: nvlink (xid 74) on GPU 0000:40:00")) << log();
}

TEST_F(Healthd, AFloodHidesNothingAndStopsNothing) {
  start();
  ASSERT_TRUE(becomes(0)) << text_ << log();
  std::string flood;
  for (int i = 0; i < 20'000; ++i)
    flood += "6," + std::to_string(i) + ",1,-;noise noise noise noise noise noise noise\n";
  const auto memory_kb = most_memory_kb();
  for (int i = 0; i < 20; ++i) print(flood);
  print(lost_gpu(20'000));
  for (int i = 0; i < 20; ++i) print(flood);
  ASSERT_TRUE(becomes(2)) << text_ << log();
  EXPECT_LT(most_memory_kb() - memory_kb, 4096 * kDearer) << "45 MB came by";
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
