// SPDX-License-Identifier: GPL-2.0-or-later
// select/acrf in front of cons_tres: how it is installed and turned off, and that jobs live through
// both. With Placement=off every kind of job gets what cons_tres alone would give it.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>

#include "core/text.h"
#include "live_cluster.h"

namespace acrf::minicluster {
namespace {

using testing::HasSubstr;

class Select : public LiveCluster {
 protected:
  ClusterOptions with(SelectInstall select) const {
    auto options = small();
    options.select = select;
    options.healthd = false;
    options.slurm_conf += "SlurmctldDebug=debug\n";
    return options;
  }

  std::string submit_sleeper(std::vector<std::string> options) {
    options.insert(options.begin(), {"sbatch", "--parsable", "--output=/dev/null"});
    options.push_back("--wrap=touch " + begun("$SLURM_JOB_ID") + "; sleep 1000");
    const auto submitted = cluster().run(options);
    EXPECT_TRUE(submitted.ok()) << submitted.errors;
    return std::string(trim(submitted.output));
  }

  // There once the job's script runs: until then slurmstepd may still read slurm.conf.
  std::string begun(const std::string& id) { return cluster().path("begun-" + id); }

  // State, and the nodes, cores and GPUs by index, of every task of a job.
  std::string allocation(const std::string& id) {
    std::string text;
    const auto shown = cluster().run({"scontrol", "-d", "show", "job", id}).output;
    for (const auto line : split(shown, '\n')) {
      const auto field = trim(line);
      for (const auto prefix : {"JobState=", "Nodes=", "TRES=", "NumNodes="})
        if (starts_with(field, prefix)) text += std::string(field) + "\n";
    }
    return text;
  }

  // A test that has failed already need not wait for what can't come.
  bool runs(const std::string& id) {
    return !HasFailure() && wait_until([&] { return job(id).state == "RUNNING"; });
  }

  // The same day's work under whichever select plugin is loaded.
  std::string day_of_work() {
    std::string record;
    const auto note = [&](const std::string& what, const std::string& id) {
      EXPECT_TRUE(runs(id)) << what;
      record += what + "\n" + allocation(id);
    };
    const auto reserved = cluster().run({"scontrol", "create", "reservation", "ReservationName=r",
                                         "Users=root", "Nodes=n4", "StartTime=now", "Duration=60"});
    EXPECT_TRUE(reserved.ok()) << reserved.errors;
    note("gpus", submit_sleeper({"--gpus=3"}));
    note("gres", submit_sleeper({"-N2", "--gres=gpu:2"}));
    note("gpus per task", submit_sleeper({"-n2", "--gpus-per-task=1", "-N1"}));
    note("exclusive", submit_sleeper({"-N1", "--exclusive"}));
    note("array", submit_sleeper({"--array=1-2", "--gpus=1"}));
    note("reservation", submit_sleeper({"--reservation=r", "--gpus=8"}));
    const auto blocked = submit_sleeper({"-N3", "--gpus-per-node=8", "--time=60"});
    note("backfill", submit_sleeper({"--gpus=1", "--time=1"}));
    record += "blocked: " + job(blocked).state + "\n";
    record += cluster().run({"sinfo", "-h", "-N", "-O", "NodeList,GresUsed:60"}).output;
    return record;
  }

  std::string day_under(SelectInstall select) {
    auto options = with(select);
    options.acrf_conf = "Placement=off\n";
    start(options);
    return day_of_work();
  }
};

TEST_F(Select, AllocatesAsConsTresDoesAsDropInAndByName) {
  const auto stock = day_under(SelectInstall::kStock);
  EXPECT_THAT(stock, HasSubstr("blocked: PENDING"));
  EXPECT_THAT(stock, HasSubstr("GRES=gpu:h100:3(IDX:0-2)"));
  EXPECT_EQ(day_under(SelectInstall::kDropIn), stock);
  EXPECT_THAT(text_of(cluster().path("log/slurmctld.log")),
              HasSubstr("select/acrf: delegating to"));
  EXPECT_EQ(day_under(SelectInstall::kNamed), stock);
  EXPECT_THAT(cluster().run({"scontrol", "show", "config"}).output, HasSubstr("= select/acrf"));
}

TEST_F(Select, RunningJobsSurviveReconfigureAndRestart) {
  for (const auto select : {SelectInstall::kDropIn, SelectInstall::kNamed}) {
    start(with(select));
    const auto id = submit_sleeper({"--gpus=3"});
    ASSERT_TRUE(runs(id));
    const auto before = allocation(id);
    ASSERT_TRUE(cluster().run({"scontrol", "reconfigure"}).ok());
    EXPECT_EQ(allocation(id), before);
    ASSERT_TRUE(cluster().restart_slurmctld().ok());
    EXPECT_EQ(allocation(id), before);
    EXPECT_EQ(job(id).state, "RUNNING");
    const auto next = submit_sleeper({"--gpus=8"});
    ASSERT_TRUE(runs(next));
    EXPECT_NE(job(next).nodes, job(id).nodes);
  }
}

TEST_F(Select, GoesInAndOutWhileJobsRun) {
  start(with(SelectInstall::kStock));
  std::vector<std::pair<std::string, std::string>> jobs;  // id, allocation
  const auto add_job = [&] {
    const auto id = submit_sleeper({"--gpus=2"});
    ASSERT_TRUE(runs(id));
    ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(begun(id)); }));
    jobs.emplace_back(id, allocation(id));
  };
  add_job();
  for (const auto select : {SelectInstall::kDropIn, SelectInstall::kStock, SelectInstall::kNamed,
                            SelectInstall::kDropIn, SelectInstall::kNamed, SelectInstall::kStock}) {
    const auto changed = cluster().change_select(select);
    ASSERT_TRUE(changed.ok()) << changed.error().sentence;
    for (const auto& [id, before] : jobs) ASSERT_EQ(allocation(id), before);
    add_job();
  }
  for (const auto& [id, before] : jobs) ASSERT_TRUE(cluster().run({"scancel", id}).ok());
  EXPECT_TRUE(wait_until([&] {
    const auto used = cluster().run({"sinfo", "-h", "-N", "-O", "GresUsed:40"}).output;
    return used.find("gpu:h100:0(IDX:N/A)") != std::string::npos &&
           cluster().run({"sinfo", "-h", "-N", "-t", "mix,alloc,comp"}).output.empty();
  }));
}

}  // namespace
}  // namespace acrf::minicluster
