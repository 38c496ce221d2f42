// SPDX-License-Identifier: GPL-2.0-or-later
// Who had a GPU, as the daemon tells it: by a worker's word and by /proc.
#include "sources/job_watch.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/file.h"
#include "common/unique_fd.h"
#include "sources/gpu_addresses.h"
#include "sources/job_probe.h"
#include "temporary_directory.h"

namespace acrf {
namespace {

constexpr std::int64_t kNow = 2000;
constexpr char kUse[] = R"({"problem":"","uses":[{"job":7,"user":1000,"since":1000,"all":false,)"
                        R"("gpus":["0000:1a:00"],"steps":["0","extern"]}]})";

class JobWatchTest : public testing::Test {
 protected:
  void SetUp() override {
    ::signal(SIGPIPE, SIG_IGN);  // as the daemon does
    config_.state_dir = directory_.path();
    config_.node_root = directory_.path("root");
  }

  // A worker that does as the script says; each line it reads is a request.
  std::string worker(const std::string& script) {
    directory_.write("worker", "#!/bin/sh\n" + script + "\n");
    ::chmod(directory_.path("worker").c_str(), 0755);
    return directory_.path("worker");
  }

  JobWatch watch(const std::string& script) {
    return JobWatch(config_, worker(script), "n1", directory_.path("gres.conf"), "boot");
  }

  // Until the worker's first answer is in the daemon's memory.
  bool learns(JobWatch& jobs) {
    for (int i = 0; i < 200; ++i) {
      jobs.step(JobWatch::Clock::now(), kNow);
      if (read_file(directory_.path("gpu-owners.state")).ok()) return true;
      std::vector<pollfd> fds;
      jobs.add_poll_fds(fds);
      ::poll(fds.data(), fds.size(), 100);
    }
    return false;
  }

  static Event event_on(const PciAddress& gpu) {
    Event event;
    event.gpu = gpu;
    event.unix_s = kNow;
    return event;
  }

  // A process that began 100 s after boot.
  void add_process(int pid, const std::string& cgroup) {
    const auto ticks = std::to_string(100 * ::sysconf(_SC_CLK_TCK));
    const std::string at = "root/proc/" + std::to_string(pid);
    directory_.write(at + "/stat", std::to_string(pid) +
                                       " (a) b) R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 " +
                                       ticks + " 0 0\n");
    directory_.write(at + "/cgroup", cgroup);
  }

  TemporaryDirectory directory_;
  Config config_;
};

TEST_F(JobWatchTest, TellsWhoHasTheGpu) {
  auto jobs = watch(std::string("read line; echo '") + kUse + "'; read line");
  ASSERT_TRUE(learns(jobs));
  auto event = event_on({0, 0x1a, 0});
  jobs.attribute(event);
  EXPECT_EQ(event.job, 7u);
  EXPECT_EQ(event.user, 1000u);
  EXPECT_EQ(event.step, "0");
  auto other = event_on({0, 0x2b, 0});
  jobs.attribute(other);
  EXPECT_FALSE(other.job);
  Event node = event_on({0, 0x1a, 0});
  node.part = "node";
  jobs.attribute(node);
  EXPECT_FALSE(node.job);
}

TEST_F(JobWatchTest, KnowsWhichGpusSlurmGivesToNobody) {
  const auto answer = [](const std::string& gpus) {
    return "read line; echo '{\"problem\":\"\",\"uses\":[],\"gpus\":" + gpus + "}'; read line";
  };
  auto all = watch(answer(R"(["0000:1a:00","0000:2b:00"])"));
  EXPECT_FALSE(all.is_no_gpu_of_slurm({0, 0, 2}));  // nothing is known yet
  ASSERT_TRUE(learns(all));
  EXPECT_TRUE(all.is_no_gpu_of_slurm({0, 0, 2}));
  EXPECT_FALSE(all.is_no_gpu_of_slurm({0, 0x2b, 0}));
  EXPECT_FALSE(all.is_no_gpu_of_slurm({}));  // whose fault it is can't be told
  std::filesystem::remove(directory_.path("gpu-owners.state"));
  auto some = watch(answer(R"(["0000:1a:00",""])"));
  ASSERT_TRUE(learns(some));
  EXPECT_FALSE(some.is_no_gpu_of_slurm({0, 0x2b, 0}));  // it may be the other
}

TEST_F(JobWatchTest, KnowsItAfterARestartWhileTheWorkerIsSilent) {
  {
    auto jobs = watch(std::string("read line; echo '") + kUse + "'; read line");
    ASSERT_TRUE(learns(jobs));
  }
  auto jobs = watch("exit 1");
  jobs.step(JobWatch::Clock::now(), kNow);
  auto event = event_on({0, 0x1a, 0});
  jobs.attribute(event);
  EXPECT_EQ(event.job, 7u);
}

TEST_F(JobWatchTest, AWorkerThatCannotTellEndsNothing) {
  auto jobs = watch(std::string("read line; echo '") + kUse +
                    "'; read line; echo '{\"uses\":[],\"problem\":\"slurmctld is away\"}'; "
                    "echo >" +
                    directory_.path("told") + "; read line");
  ASSERT_TRUE(learns(jobs));
  for (int i = 0; i < 200 && !read_file(directory_.path("told")).ok(); ++i) {
    jobs.step(JobWatch::Clock::now(), kNow);
    ::usleep(10'000);
  }
  jobs.step(JobWatch::Clock::now(), kNow + 400);
  auto event = event_on({0, 0x1a, 0});
  event.unix_s = kNow + 400;
  jobs.attribute(event);
  EXPECT_EQ(event.job, 7u);
}

TEST_F(JobWatchTest, TheProcessThatALineNamesGoesBefore) {
  auto jobs = watch(std::string("read line; echo '") + kUse + "'; read line");
  ASSERT_TRUE(learns(jobs));
  add_process(42, "0::/system.slice/slurmstepd.scope/job_9/step_3/user/task_0\n");
  auto event = event_on({0, 0x1a, 0});
  event.pid = 42;
  jobs.attribute(event, 200'000'000);
  EXPECT_EQ(event.job, 9u);
  EXPECT_EQ(event.step, "3");
  EXPECT_EQ(event.user, ::getuid());
  auto earlier = event_on({0, 0x1a, 0});
  earlier.pid = 42;
  jobs.attribute(earlier, 50'000'000);
  EXPECT_EQ(earlier.job, 7u) << "the number was another process's then";
  auto gone = event_on({0, 0x1a, 0});
  gone.pid = 43;
  jobs.attribute(gone, 200'000'000);
  EXPECT_EQ(gone.job, 7u);
}

TEST_F(JobWatchTest, SomebodyElsesProcessIsNotTheJobs) {
  auto jobs = watch(std::string("read line; echo '") + kUse + "'; read line");
  ASSERT_TRUE(learns(jobs));
  add_process(42, "0::/system.slice/nvidia-dcgm.service\n");
  auto event = event_on({0, 0x1a, 0});
  event.pid = 42;
  jobs.attribute(event, 200'000'000);
  EXPECT_EQ(event.job.has_value(), ::getuid() == 1000);
}

TEST_F(JobWatchTest, ASiteMayTurnItOff) {
  config_.job_attribution = false;
  auto jobs = watch("echo >" + directory_.path("started"));
  jobs.step(JobWatch::Clock::now(), kNow);
  EXPECT_EQ(jobs.next_wake(), JobWatch::Clock::time_point::max());
  EXPECT_FALSE(read_file(directory_.path("started")).ok());
}

TEST(StepSocket, NamesJobAndStep) {
  EXPECT_EQ(parse_step_socket("n1_7.0", "n1")->first, JobId{7});
  EXPECT_EQ(parse_step_socket("n1_7.0", "n1")->second, "0");
  EXPECT_EQ(parse_step_socket("n1_7.4294967291", "n1")->second, "batch");
  EXPECT_EQ(parse_step_socket("n1_7.4294967292", "n1")->second, "extern");
  EXPECT_EQ(parse_step_socket("n1_7.3.1", "n1")->second, "3");
  for (const auto* name : {"n2_7.0", "n1_7", "n1_.0", "n1_7.", "n1_7.0.", "n1_7.0x", "n1_0.0",
                           "n1_99999999999.0", "cred_state"})
    EXPECT_FALSE(parse_step_socket(name, "n1")) << name;
}

TEST(StepSocket, OnlySocketsCount) {
  TemporaryDirectory directory;
  directory.write("n1_8.0", "a file");
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  directory.path("n1_7.4294967291").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const auto jobs = jobs_in_spool(directory.path(), "n1");
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs.begin()->first, JobId{7});
  EXPECT_EQ(jobs.begin()->second.steps, std::vector<std::string>{"batch"});
  EXPECT_GT(jobs.begin()->second.since_s, 1'000'000'000);
}

class GpuAddresses : public testing::Test {
 protected:
  void add_nvidia(const std::string& address, int minor) {
    directory_.write("root/proc/driver/nvidia/gpus/" + address + "/information",
                     "Model: \t\t NVIDIA H100\nDevice Minor: \t " + std::to_string(minor) + "\n");
  }
  std::vector<std::optional<PciAddress>> addresses(const std::string& gres, int expected) {
    directory_.write("gres.conf", gres);
    return gpu_addresses({directory_.path("root"), "n1", directory_.path("gres.conf")}, expected);
  }
  TemporaryDirectory directory_;
};

using Addresses = std::vector<std::optional<PciAddress>>;

TEST_F(GpuAddresses, FollowTheDriversMinorNumbers) {
  add_nvidia("0000:2b:00.0", 0);
  add_nvidia("0000:1a:00.0", 10);
  add_nvidia("0000:3c:00.0", 2);
  const Addresses expected = {PciAddress{0, 0x2b, 0}, PciAddress{0, 0x3c, 0},
                              PciAddress{0, 0x1a, 0}};
  EXPECT_EQ(addresses("Name=gpu File=/dev/nvidia10\nName=gpu File=/dev/nvidia[0,2]\n", 3),
            expected);
}

TEST_F(GpuAddresses, FollowTheLinksWhereThereAreAny) {
  add_nvidia("0000:2b:00.0", 0);
  add_nvidia("0000:1a:00.0", 1);
  const Addresses expected = {PciAddress{0, 0x1a, 0}, PciAddress{0, 0x2b, 0}};
  EXPECT_EQ(addresses("Name=gpu File=/dev/nvidia0 Links=4,-1\n"
                      "Name=gpu File=/dev/nvidia1 Links=-1,4\n",
                      2),
            expected);
  EXPECT_EQ(addresses("AutoDetect=nvml\n", 2), expected) << "which counts by the bus";
}

TEST_F(GpuAddresses, FindRenderNodes) {
  std::filesystem::create_directories(directory_.path("root/sys/class/drm/renderD128"));
  std::filesystem::create_symlink("../../../0000:c1:00.0",
                                  directory_.path("root/sys/class/drm/renderD128/device"));
  const Addresses expected = {PciAddress{0, 0xc1, 0}, std::nullopt};
  EXPECT_EQ(addresses("Name=gpu File=/dev/dri/renderD128\nName=gpu File=/dev/dri/renderD129\n", 2),
            expected);
}

TEST_F(GpuAddresses, AreNotGuessedWhenTheNumberIsAnother) {
  add_nvidia("0000:2b:00.0", 0);
  EXPECT_TRUE(addresses("AutoDetect=nvml\n", 2).empty()) << "one fell off the bus";
  EXPECT_TRUE(addresses("Name=gpu File=/dev/nvidia0\n", 2).empty());
  EXPECT_TRUE(addresses("AutoDetect=rsmi\n", 1).empty());
}

}  // namespace
}  // namespace acrf
