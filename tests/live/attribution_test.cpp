// SPDX-License-Identifier: GPL-2.0-or-later
// Whose fault it was: real jobs of real users on the GPUs of a real node, and kernel lines about
// those GPUs.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <ctime>

#include "common/file.h"
#include "core/text.h"
#include "live_cluster.h"

namespace acrf::minicluster {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kOne[] = "nobody";
constexpr char kOther[] = "daemon";

class Attribution : public LiveCluster {
 protected:
  // A job on n1 that lasts, of a user; gives its id.
  std::string occupy(const std::string& user, int gpus) {
    const auto submitted = cluster().run(
        {"sbatch", "--parsable", "--uid=" + user, "--chdir=/", "--output=/dev/null",
         "--nodelist=n1", fmt::format("--gres=gpu:{}", gpus), "--wrap=exec sleep 1000"});
    EXPECT_TRUE(submitted.ok()) << submitted.errors;
    const std::string id(trim(submitted.output));
    EXPECT_TRUE(wait_until([&] { return owners().find("\n" + id + " ") != std::string::npos; }))
        << "healthd does not know that job " << id << " has GPUs: " << owners();
    return id;
  }

  // The job's processes are gone, and healthd knows.
  void end(const std::string& id) {
    ASSERT_TRUE(cluster().run({"scancel", id}).ok());
    ASSERT_TRUE(wait_until([&] {
      const auto text = owners();
      const auto at = text.find("\n" + id + " ");
      if (at == std::string::npos) return false;
      const auto words = split(std::string_view(text).substr(at + 1), ' ');
      return words.size() > 3 && words[3] != "0";
    })) << owners();
  }

  std::string owners() { return "\n" + text_of(root_ + "/nodes/n1/acrf/gpu-owners.state"); }
  std::string log() { return text_of(root_ + "/log/healthd-n1.log"); }

  // The kernel's line about a program's exception in one unit of the GPU.
  void raise_exception(int gpu) {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    const auto us = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000 +
                    static_cast<std::uint64_t>(now.tv_nsec) / 1000;
    ASSERT_TRUE(append_file(root_ + "/nodes/n1/kmsg",
                            fmt::format("3,{},{},-;NVRM: Xid (PCI:0000:{:02x}:00): 13, "
                                        "pid='<unknown>', name=<unknown>, Graphics SM Warp "
                                        "Exception on (GPC 1, TPC 3, SM 0): Out Of Range Address\n",
                                        us, us, 0x10 + gpu * 0x10))
                    .ok());
  }
};

TEST_F(Attribution, TwoUsersProgramsOnOneGpuMakeItTheGpusFault) {
  if (const auto why = closed_to_users(); !why.empty()) GTEST_SKIP() << why;
  start(small());
  const auto first = occupy(kOne, 1);
  raise_exception(0);
  ASSERT_TRUE(healthd_says("n1", "job " + first + " step batch of user 65534"));
  EXPECT_FALSE(node("n1").drained);
  end(first);
  // What was seen outlives the daemon.
  ASSERT_TRUE(cluster().signal("healthd-n1", SIGTERM).ok());
  ASSERT_TRUE(cluster().wait_for_end("healthd-n1"));
  ASSERT_TRUE(cluster().start_healthd("n1").ok());
  ASSERT_TRUE(healthd_knows_its_gpus("n1"));
  const auto second = occupy(kOther, 1);
  raise_exception(0);
  ASSERT_TRUE(healthd_says("n1", "gpu_suspect (xid 13)"));
  EXPECT_THAT(log(), HasSubstr("job " + second + " step batch of user 1,"));
  EXPECT_TRUE(wait_until([&] { return node("n1").drained; }));
  EXPECT_THAT(node("n1").reason, HasSubstr("gpu_suspect 0000:10:00 drain"));
}

TEST_F(Attribution, AJobOnThreeGpusIsToBlameItself) {
  if (const auto why = closed_to_users(); !why.empty()) GTEST_SKIP() << why;
  start(small());
  const auto first = occupy(kOne, 1);
  raise_exception(0);
  ASSERT_TRUE(healthd_says("n1", "job " + first + " step batch of user 65534"));
  end(first);
  const auto second = occupy(kOther, 3);
  for (const int gpu : {2, 1, 0}) raise_exception(gpu);
  raise_exception(3);  // nobody's: the last line, which shows that all are read
  ASSERT_TRUE(healthd_says("n1", "app_fault (xid 13) on GPU 0000:40:00"));
  EXPECT_THAT(log(), Not(HasSubstr("gpu_suspect")));
  EXPECT_FALSE(node("n1").drained);
  EXPECT_EQ(job(second).state, "RUNNING");
}

TEST_F(Attribution, WhatNobodyHasIsNobodysFault) {
  start(small());
  raise_exception(2);
  ASSERT_TRUE(healthd_says("n1", "app_fault (xid 13) on GPU 0000:30:00"));
  EXPECT_THAT(log(), Not(HasSubstr("of user")));
}

}  // namespace
}  // namespace acrf::minicluster
