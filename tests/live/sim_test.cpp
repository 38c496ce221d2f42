// SPDX-License-Identifier: GPL-2.0-or-later
// acrf-sim live, as a user starts it.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "build_paths.h"
#include "common/file.h"
#include "core/text.h"
#include "live_cluster.h"

namespace acrf::minicluster {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class SimLive : public LiveCluster {
 protected:
  void SetUp() override {
    LiveCluster::SetUp();
    std::filesystem::create_directories(root_);
  }
  CommandResult simulate(std::vector<std::string> words) {
    words.insert(words.begin(), ACRF_SIM);
    words.insert(words.end(), {"--root", root_ + "/sim", "--port", "0"});
    return run_command(words, environment_with({}), std::chrono::minutes(10));
  }
  json report() { return json::parse(text_of(root_ + "/report.json"), nullptr, false); }
  std::string page() const { return root_ + "/report.html"; }
};

std::vector<json> lines_of(const std::string& path) {
  std::vector<json> lines;
  const auto text = text_of(path);
  for (const auto line : split(trim(text), '\n')) lines.push_back(json::parse(line));
  return lines;
}

// LIVE_SIM_SECONDS: how long; the page stays beside the cluster for people to look at.
TEST_F(SimLive, JobsSurviveWhatBreaksAndTheReportSaysSo) {
  const char* longer = std::getenv("LIVE_SIM_SECONDS");
  const std::string seconds = longer ? longer : "20";
  const auto ran = simulate({"live",
                             "--nodes",
                             longer ? "8" : "4",
                             "--seconds",
                             seconds,
                             "--rate",
                             "30",
                             "--failures",
                             longer ? "20-40" : "60-80",
                             "--job-seconds",
                             "2-6",
                             "--repair",
                             "1-3",
                             "--seed",
                             "4",
                             "--report",
                             page(),
                             "--record",
                             root_ + "/run.jsonl",
                             "--settle",
                             "120"});
  EXPECT_EQ(ran.status, 0) << ran.output << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("No job was lost, none ran twice."));
  const auto told = report();
  EXPECT_GT(told["submitted"], 4);
  EXPECT_EQ(told["completed"], told["submitted"]) << ran.output;
  EXPECT_GT(told["injected"], 0);
  EXPECT_GT(told["repaired"], 0) << ran.output;
  EXPECT_THAT(text_of(page()), HasSubstr("<svg"));
  EXPECT_EQ(lines_of(root_ + "/run.jsonl").size(),
            1 + told["submitted"].get<std::size_t>() - told["retried"].get<std::size_t>() +
                told["injected"].get<std::size_t>() - told["by_jobs"].get<std::size_t>());
}

TEST_F(SimLive, NonsenseIsRefusedWithTheOptionsName) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"live", "--rate", "51"}, "--rate"},
      {{"live", "--failures", "12-5"}, "--failures"},
      {{"live", "--nodes", "0"}, "--nodes"},
      {{"live", "--seconds", "-1"}, "--seconds"},
      {{"live", "--job-types", "/nowhere"}, "--job-types"}};
  for (const auto& [words, option] : cases) {
    const auto ran = simulate(words);
    EXPECT_NE(ran.status, 0) << option;
    EXPECT_THAT(ran.errors, HasSubstr(option));
  }
}

TEST_F(SimLive, MoreNodesThanTheKernelHasWatchesForAreRefusedAtOnce) {
  const auto most = parse_unsigned(trim(text_of("/proc/sys/fs/inotify/max_user_instances")));
  ASSERT_TRUE(most);
  if (*most >= 3000) GTEST_SKIP() << "this machine has inotify instances for 1000 nodes";
  const auto ran = simulate({"live", "--nodes", "1000"});
  EXPECT_EQ(ran.status, 1) << ran.output;
  EXPECT_THAT(ran.errors, AllOf(HasSubstr("raise the sysctl fs.inotify.max_user_instances"),
                                HasSubstr(std::to_string(*most / 3) + " nodes at most")));
}

TEST_F(SimLive, ARecordedRunIsDoneAgain) {
  ASSERT_TRUE(write_file(root_ + "/run.jsonl", R"({"acrf_sim":1,"nodes":2,"gpus":2,"seed":1}
{"at_ms":0,"job":"one","type":"training","priority":"high","nodes":1,"gpus":1,"seconds":8}
{"at_ms":500,"job":"two","type":"matrix","nodes":1,"gpus":1,"seconds":8}
{"at_ms":1000,"fault":"gpu-lost","node":0,"gpu":0,"repair_s":1}
)")
                  .ok());
  const auto ran =
      simulate({"replay", root_ + "/run.jsonl", "--report", page(), "--settle", "120"});
  EXPECT_EQ(ran.status, 0) << ran.output << ran.errors;
  const auto told = report();
  EXPECT_EQ(told["submitted"], 2);
  EXPECT_EQ(told["completed"], 2);
  EXPECT_EQ(told["injected"], 1);
  const auto log = text_of(root_ + "/sim/log/sim.log");
  EXPECT_THAT(log, HasSubstr("submitted: one, 1 node, 1 GPU each, 8 s, priority high"));
  EXPECT_THAT(log, HasSubstr("fault: gpu-lost on GPU 0 of n1"));
}

// Slurm rounds a second up to a minute, so that this takes two.
TEST_F(SimLive, ProgramsOfOnesOwnAreJobsAndAreTriedAgainWhenTheyFailOrTakeTooLong) {
  std::filesystem::create_directories(root_ + "/types");
  // Each does at its second trial what is wanted.
  const std::pair<const char*, const char*> types[] = {
      {"moody", "exit 3"}, {"slow", "exec sleep 600"}, {"hopeless", "rm -f \"$0.tried\"; exit 4"}};
  for (const auto& [name, first] : types)
    ASSERT_TRUE(write_file(root_ + "/types/" + name,
                           std::string("#!/bin/sh\n[ -e \"$0.tried\" ] && exit\n"
                                       "touch \"$0.tried\"\n") +
                               first + "\n",
                           0755)
                    .ok());
  ASSERT_TRUE(write_file(root_ + "/run.jsonl", R"({"acrf_sim":1,"nodes":1,"gpus":4,"seed":1}
{"at_ms":0,"job":"one","type":"moody","nodes":1,"gpus":1,"seconds":1}
{"at_ms":0,"job":"two","type":"slow","nodes":1,"gpus":1,"seconds":1}
{"at_ms":0,"job":"three","type":"hopeless","nodes":1,"gpus":1,"seconds":1}
)")
                  .ok());
  const auto ran =
      simulate({"replay", root_ + "/run.jsonl", "--job-types", root_ + "/types", "--retries", "2",
                "--timeout", "1", "--report", page(), "--settle", "240"});
  EXPECT_EQ(ran.status, 0) << ran.output << ran.errors;
  const auto told = report();
  EXPECT_EQ(told["submitted"], 7);  // moody and slow twice, hopeless three times
  EXPECT_EQ(told["retried"], 4);
  EXPECT_EQ(told["failed"], 5);
  EXPECT_EQ(told["completed"], 2);
  EXPECT_THAT(text_of(root_ + "/sim/log/sim.log"),
              AllOf(HasSubstr("ended: TIMEOUT"), HasSubstr("submitted: two, 1 node"),
                    HasSubstr("priority normal, retry 2"), Not(HasSubstr("retry 3"))));
}

TEST_F(SimLive, ATerminalHasOneLineInColours) {
  const auto ran = run_command({"script", "--quiet", "--return", "--command",
                                ACRF_SIM " live --nodes 1 --gpus 1 --rate 30 --seconds 5 --settle 0"
                                         " --port 0 --root " +
                                    root_ + "/sim",
                                "/dev/null"},
                               environment_with({"TERM=xterm"}), std::chrono::minutes(2));
  EXPECT_EQ(ran.status, 0) << ran.output << ran.errors;
  EXPECT_THAT(ran.output, AllOf(HasSubstr("\r"), HasSubstr("\033[32m"), HasSubstr("00:03")));
  EXPECT_THAT(text_of(root_ + "/sim/log/sim.log"),
              AllOf(HasSubstr("submitted"), Not(HasSubstr("\033"))));
}

TEST_F(SimLive, AnInterruptStopsEverything) {
  const auto ran = run_command({"timeout", "--foreground", "--preserve-status", "--signal=INT",
                                "15", ACRF_SIM, "live", "--nodes", "2", "--gpus", "2", "--rate",
                                "30", "--report", page(), "--root", root_ + "/sim", "--port", "0"},
                               environment_with({}), std::chrono::minutes(5));
  EXPECT_EQ(ran.status, 0) << ran.output << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("The cluster is stopped."));
  EXPECT_THAT(text_of(page()), HasSubstr("<svg"));
  EXPECT_THAT(ran.output, Not(HasSubstr("\033")));  // it is no terminal
  const auto left = run_command({"pgrep", "-f", root_ + "/sim/"}, environment_with({}));
  EXPECT_EQ(left.output, "");
}

}  // namespace
}  // namespace acrf::minicluster
