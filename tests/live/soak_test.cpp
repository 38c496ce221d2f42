// SPDX-License-Identifier: GPL-2.0-or-later
// Random jobs and random trouble for select/acrf, and books that must be in order all the time and
// at the end. LIVE_SOAK_JOBS says how many jobs, LIVE_SOAK_SEED which ones, and
// LIVE_SOAK_SELECT=stock runs plain cons_tres: what that writes into the log, Slurm writes by
// itself.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>

#include "core/text.h"
#include "live_cluster.h"
#include "soak_driver.h"
#include "soak_log.h"

namespace acrf::minicluster {
namespace {

using testing::IsEmpty;

constexpr int kNodes = 10;

class Soak : public LiveCluster {
 protected:
  static std::uint64_t number(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text ? parse_unsigned(text).value_or(otherwise) : otherwise;
  }
  static bool is_stock() {
    const char* text = std::getenv("LIVE_SOAK_SELECT");
    return text && std::string(text) == "stock";
  }

  // Three levels of switches; NVLink joins the even GPUs and the odd ones.
  ClusterOptions three_levels() const {
    auto options = small();
    options.nodes = kNodes;
    options.healthd = false;
    options.gpu_islands = true;
    if (is_stock()) options.select = SelectInstall::kStock;
    options.topology =
        "SwitchName=l1 Nodes=n[1-3]\nSwitchName=l2 Nodes=n[4-5]\nSwitchName=l3 Nodes=n[6-8]\n"
        "SwitchName=l4 Nodes=n[9-10]\nSwitchName=p1 Switches=l[1-2]\n"
        "SwitchName=p2 Switches=l[3-4]\nSwitchName=core Switches=p[1-2]\n";
    options.slurm_conf +=
        "SlurmctldDebug=debug\n"  // says which jobs are requeued
        "MinJobAge=10\nKillWait=2\nPreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n"
        "PartitionName=high Nodes=ALL PriorityTier=10 State=UP\n"
        "PartitionName=whole Nodes=ALL OverSubscribe=EXCLUSIVE State=UP\n";
    return options;
  }

  static void expect_empty(const std::vector<NodeRecord>& nodes) {
    EXPECT_EQ(nodes.size(), std::size_t{kNodes});
    for (const auto& node : nodes)
      EXPECT_TRUE(node.is_idle() && node.is_empty())
          << fmt::format("{} is {}: {} CPUs, {} MB, GPUs {:#x}, '{}'", node.name, node.state,
                         node.cpus_allocated, node.memory_allocated_mb, node.gpus, node.allocated);
  }

  // All GPUs can be had at once, and only those.
  void expect_room_for(SoakDriver& soak, int gpus) {
    const auto submitted = cluster().run({"sbatch", "--parsable", "--output=/dev/null",
                                          fmt::format("--gpus={}", gpus), "--wrap=sleep 100"});
    ASSERT_TRUE(submitted.ok()) << submitted.errors;
    const std::string id(trim(submitted.output));
    EXPECT_TRUE(wait_until([&] { return job(id).state == "RUNNING"; }))
        << cluster().run({"scontrol", "-d", "show", "job", id}).output
        << cluster().run({"sinfo", "-h", "-N", "-O", "NodeList,StateLong,GresUsed:40"}).output;
    int used = 0;
    for (const auto& node : soak.nodes()) used += __builtin_popcountll(node.gpus);
    EXPECT_EQ(used, gpus);
    cluster().run({"scancel", id});
    soak.settle();
  }

  // How the plugin decided, for the record.
  std::string outcomes() {
    std::map<std::string, int> counts;
    const auto log = text_of(cluster().path("state/acrf-decisions"));
    for (const auto line : split(log, '\n')) {
      const auto at = line.find("\"outcome\":\"");
      if (at == std::string_view::npos) continue;
      const auto word = line.substr(at + 11);
      ++counts[std::string(word.substr(0, word.find('"')))];
    }
    std::string text;
    for (const auto& [outcome, count] : counts) text += fmt::format(" {}={}", outcome, count);
    return text;
  }
};

TEST_F(Soak, TwoThousandRandomJobsLeaveTheBooksInOrder) {
  const auto seed = number("LIVE_SOAK_SEED", 1);
  const auto jobs = static_cast<int>(number("LIVE_SOAK_JOBS", 0));
  if (jobs == 0) GTEST_SKIP() << "minutes long: contrib/check --long, or LIVE_SOAK_JOBS=150";
  GTEST_LOG_(INFO) << "seed " << seed << ", " << jobs << " jobs";
  start(three_levels());
  ASSERT_FALSE(HasFatalFailure());
  SoakDriver soak(cluster(), seed, !is_stock());
  soak.run(jobs);
  soak.settle();
  GTEST_LOG_(INFO) << soak.summary() << "; decisions:" << outcomes();
  const auto log = text_of(cluster().path("log/slurmctld.log"));
  if (is_stock()) {
    for (const auto& wrong : soak.wrongs()) GTEST_LOG_(INFO) << wrong;
    for (const auto& [kind, count] : kinds_of_errors(log))
      GTEST_LOG_(INFO) << count << " times: " << kind;
    GTEST_SKIP() << "plain Slurm was looked at, not judged";
  }
  expect_empty(soak.nodes());
  expect_room_for(soak, soak.healthy_gpus());
  soak.heal_all();
  expect_room_for(soak, soak.healthy_gpus());
  expect_empty(soak.nodes());
  EXPECT_THAT(soak.wrongs(), IsEmpty());
  EXPECT_THAT(suspicious_errors(log), IsEmpty());
}

}  // namespace
}  // namespace acrf::minicluster
