// SPDX-License-Identifier: GPL-2.0-or-later
// The node checks as the daemon runs them: worker processes that answer, end or hang.
#include "sources/node_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include "build_paths.h"
#include "common/file.h"
#include "sources/node_workers.h"
#include "temporary_directory.h"

namespace acrf {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using testing::HasSubstr;

class SiteCheck : public testing::Test {
 protected:
  CheckResult run(const std::string& script, int timeout_s = 20) {
    const std::string path = directory_.path("check");
    directory_.write("check", "#!/bin/sh\n" + script);
    ::chmod(path.c_str(), 0755);
    return run_check({path, "an argument; $(touch " + directory_.path("shell") + ")"}, timeout_s,
                     "n7");
  }
  TemporaryDirectory directory_;
};

TEST_F(SiteCheck, GivesExitCodeAndFirstLine) {
  const auto result = run("echo \"DISK CRITICAL - $ACRF_NODE\"; echo more; exit 2");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.text, "DISK CRITICAL - n7");
}

TEST_F(SiteCheck, NoShellSeesTheArguments) {
  EXPECT_EQ(run("[ $# = 1 ]").exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(directory_.path("shell")));
}

TEST_F(SiteCheck, TheEnvironmentIsSmall) {
  ::setenv("ACRF_TEST_SECRET", "s3cret", 1);
  const auto result = run("env | sort | tr '\\n' ' '");
  ::unsetenv("ACRF_TEST_SECRET");
  EXPECT_THAT(result.text, HasSubstr("PATH=/usr/sbin:/usr/bin:/sbin:/bin"));
  EXPECT_THAT(result.text, testing::Not(HasSubstr("s3cret")));
}

TEST_F(SiteCheck, ATimeOutIsUnknownAndLeavesNothingBehind) {
  const auto result = run("sleep 1000 & echo $! >" + directory_.path("pid") + "; echo hi; wait", 1);
  EXPECT_FALSE(result.exit_code);
  EXPECT_EQ(result.text, "killed after 1 s");
  const int pid = std::stoi(*read_file(directory_.path("pid")));
  for (int i = 0; i < 100 && ::kill(pid, 0) == 0; ++i) ::usleep(10'000);
  const auto stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  EXPECT_TRUE(!stat || stat->find(") Z") != std::string::npos);
}

TEST_F(SiteCheck, ACrashIsUnknown) {
  const auto result = run("kill -SEGV $$");
  EXPECT_FALSE(result.exit_code);
  EXPECT_EQ(result.text, "ended by signal 11");
}

TEST_F(SiteCheck, AMissingProgramIsUnknown) {
  const auto result = run_check({"/nonexistent/check"}, 5, "n7");
  EXPECT_FALSE(result.exit_code);
  EXPECT_THAT(result.text, HasSubstr("/nonexistent/check"));
}

TEST_F(SiteCheck, HugeOutputIsCutAndDoesNotBlockTheCheck) {
  const auto result = run("head -c 20000000 /dev/zero | tr '\\0' x; exit 1");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_LE(result.text.size(), 400u);
}

TEST_F(SiteCheck, ControlCharactersDoNotReachTheLog) {
  EXPECT_EQ(run("printf 'a\\033[2Jb\\n'; exit 1").text, "a [2Jb");
}

class Watch : public testing::Test {
 protected:
  void SetUp() override { ::signal(SIGPIPE, SIG_IGN); }  // as the daemon does

  // Steps until every worker that was asked has answered or was killed.
  void settle(NodeWatch& watch, NodeWatch::Clock::time_point as_of) {
    watch.step(as_of);
    for (int i = 0; i < 400; ++i) {
      std::vector<pollfd> fds;
      watch.add_poll_fds(fds);
      if (fds.empty()) return;
      ::poll(fds.data(), fds.size(), 50);
      watch.step(as_of + late_);
    }
    FAIL() << "workers do not answer";
  }
  static std::vector<std::string> classes(const NodeWatch& watch) {
    std::vector<std::string> names;
    for (const auto& finding : watch.findings()) names.push_back(finding.verdict.fault_class);
    return names;
  }
  void add_check(const std::string& script, CheckMode mode) {
    directory_.write("check", "#!/bin/sh\n" + script);
    ::chmod(directory_.path("check").c_str(), 0755);
    CheckRule rule;
    rule.name = "site";
    rule.program = {directory_.path("check")};
    rule.action = Action::kDrain;
    rule.mode = mode;
    rule.timeout_s = 20;
    config_.checks = {rule};
    config_.node_check_interval_s = 0;
  }

  Config config_;
  TemporaryDirectory directory_;
  NodeWatch::Clock::time_point now_ = NodeWatch::Clock::now();
  seconds late_{0};
};

TEST_F(Watch, FindsWhatIsWrongInATree) {
  config_.node_root = directory_.path();
  directory_.write("proc/meminfo", "MemTotal: 1000 kB\nHardwareCorrupted: 4 kB\n");
  NodeWatch watch(config_, ACRF_HEALTHD, "n1", "");
  settle(watch, now_);
  EXPECT_THAT(classes(watch), testing::ElementsAre("memory_corrupted"));
  EXPECT_TRUE(watch.silent().empty());
}

TEST_F(Watch, ShadowAndDisabledRulesChangeNothing) {
  config_.node_root = directory_.path();
  directory_.write("proc/meminfo", "MemTotal: 1000 kB\nHardwareCorrupted: 4 kB\n");
  for (const auto mode : {RuleMode::kShadow, RuleMode::kOff}) {
    FaultRule rule;
    rule.fault_class = "memory_corrupted";
    rule.mode = mode;
    config_.faults = {rule};
    NodeWatch watch(config_, ACRF_HEALTHD, "n1", "");
    settle(watch, now_);
    EXPECT_TRUE(watch.findings().empty());
  }
}

// A program that never answers stands for one that is stuck in stat(2).
TEST_F(Watch, AHungFileSystemIsAFindingAndTheOthersGoOn) {
  config_.file_systems = "/hung,/proc";
  directory_.write("healthd",
                   "#!/bin/sh\n[ \"$2\" != /hung ] || exec sleep 1000\nexec " ACRF_HEALTHD
                   " \"$@\"\n");
  ::chmod(directory_.path("healthd").c_str(), 0755);
  NodeWatch watch(config_, directory_.path("healthd"), "n1", "");
  for (int i = 0; i < 3; ++i) {
    late_ = seconds(0);
    watch.step(now_);
    // The others answer in time; only then is the hung one late.
    for (int round = 0; round < 400; ++round) {
      std::vector<pollfd> fds;
      watch.add_poll_fds(fds);
      if (fds.size() <= 1) break;
      ::poll(fds.data(), fds.size(), 50);
      watch.step(now_);
    }
    watch.step(now_ + seconds(config_.probe_timeout_s));
    now_ += seconds(config_.node_check_interval_s + config_.probe_timeout_s);
  }
  const auto found = watch.findings();
  const auto hung = std::find_if(found.begin(), found.end(), [](const Finding& finding) {
    return finding.verdict.fault_class == "fs_hung";
  });
  ASSERT_NE(hung, found.end());
  EXPECT_EQ(hung->where, "/hung");
  EXPECT_EQ(hung->verdict.action, Action::kWatch);  // what it is was never known
  EXPECT_EQ(std::count_if(found.begin(), found.end(),
                          [](const Finding& finding) { return finding.where == "/proc"; }),
            0);
}

TEST_F(Watch, ASilentNodeWorkerIsUnknown) {
  NodeWatch watch(config_, "/bin/false", "n1", "");
  settle(watch, now_);
  ASSERT_EQ(watch.silent().size(), 1u);
  EXPECT_THAT(watch.silent()[0], HasSubstr("node checks"));
  EXPECT_TRUE(watch.findings().empty());
}

TEST_F(Watch, ASiteCheckThatIsOnDrainsAfterTwoOfThree) {
  add_check("echo bad; exit 2", CheckMode::kOn);
  NodeWatch watch(config_, ACRF_HEALTHD, "n1", "");
  settle(watch, now_);
  EXPECT_TRUE(watch.findings().empty());
  // On a busy machine the first worker may not be gone yet, for all that an hour has passed.
  for (int i = 1; i < 100 && watch.findings().empty(); ++i) settle(watch, now_ + hours(i));
  ASSERT_EQ(watch.findings().size(), 1u);
  EXPECT_EQ(watch.findings()[0].verdict.fault_class, "check_site");
  EXPECT_EQ(watch.findings()[0].evidence, "bad");
}

TEST_F(Watch, ASiteCheckInShadowOrOffChangesNothing) {
  for (const auto mode : {CheckMode::kShadow, CheckMode::kOff}) {
    add_check("exit 2", mode);
    NodeWatch watch(config_, ACRF_HEALTHD, "n1", "");
    for (int i = 0; i < 3; ++i) settle(watch, now_ + hours(i));
    EXPECT_TRUE(watch.findings().empty());
  }
}

TEST_F(Watch, NothingToWatchNeverWakes) {
  config_.node_check_interval_s = 0;
  const NodeWatch watch(config_, ACRF_HEALTHD, "n1", "");
  EXPECT_EQ(watch.next_wake(), NodeWatch::Clock::time_point::max());
}

}  // namespace
}  // namespace acrf
