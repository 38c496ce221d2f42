// SPDX-License-Identifier: GPL-2.0-or-later
// What Slurm does by itself, without select/acrf and job_submit/acrf: the ground on which a soak
// forgives a line in slurmctld's log.
#include <gmock/gmock.h>
#include <slurm/slurm_version.h>

#include "core/text.h"
#include "live_cluster.h"
#include "soak_log.h"

namespace acrf::minicluster {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class PlainSlurm : public LiveCluster {
 protected:
  std::string slurmctld_log() { return text_of(cluster().path("log/slurmctld.log")); }

  void admin(std::vector<std::string> words) {
    words.insert(words.begin(), "scontrol");
    const auto done = cluster().run(words);
    EXPECT_TRUE(done.ok()) << done.errors;
  }
};

// A job that has lost a node and is requeued while it completes: slurmctld waits for the lost node
// again, and may count its CPUs a second time. All slurmds are gone, so that nobody tells slurmctld
// that the job has left a node.
class LostNode : public PlainSlurm {
 protected:
  void start_job(int nodes, const std::vector<std::string>& size) {
    auto options = small();
    options.nodes = nodes;
    options.healthd = false;
    options.select = SelectInstall::kStock;
    options.slurm_conf += "JobSubmitPlugins=logging\nSlurmctldDebug=debug\n";
    start(options);
    std::vector<std::string> words = {"sbatch",    "--parsable", "--output=/dev/null",
                                      "--requeue", "-N",         std::to_string(nodes)};
    words.insert(words.end(), size.begin(), size.end());
    words.push_back("--wrap=sleep 1000");
    const auto submitted = cluster().run(words);
    ASSERT_TRUE(submitted.ok()) << submitted.errors;
    id_ = trim(submitted.output);
    ASSERT_TRUE(wait_until([&] { return job(id_).state == "RUNNING"; }));
  }

  void lose_a_node_and_requeue() {
    for (int node = 1; node <= cluster().options().nodes; ++node)
      ASSERT_TRUE(cluster().kill("slurmd-n" + std::to_string(node)).ok());
    ASSERT_TRUE(cluster().run({"scancel", id_}).ok());
    ASSERT_TRUE(wait_until([&] { return job(id_).state == "COMPLETING"; }));
    down("n1");
    admin({"requeue", id_});
  }

  void down(const std::string& node) {
    admin({"update", "NodeName=" + node, "State=DOWN", "Reason=test"});
  }

  // Said by slurmctld, and forgiven for this job alone.
  void expect_underflow(const std::string& numbers) {
    const auto line = "error: job_update_tres_cnt: cpu_cnt underflow (" + numbers + ") on JobId=";
    EXPECT_THAT(slurmctld_log(), HasSubstr(line + id_));
    EXPECT_THAT(suspicious_errors(slurmctld_log()), IsEmpty());
    EXPECT_THAT(suspicious_errors(slurmctld_log() + "[t] " + line + "77\n"), SizeIs(1));
  }

  std::string id_;
};

TEST_F(LostNode, IsCountedTwiceWhenSlurmctldReadsTheJobInAgain) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
  GTEST_SKIP() << "known of Slurm 22.05";
#endif
  ASSERT_NO_FATAL_FAILURE(start_job(2, {"--ntasks-per-node=6"}));
  ASSERT_NO_FATAL_FAILURE(lose_a_node_and_requeue());
  ASSERT_TRUE(cluster().restart_slurmctld().ok());
  EXPECT_THAT(slurmctld_log(), Not(HasSubstr("cpu_cnt underflow")));
  down("n2");
  expect_underflow("6 > 0");
}

// The first node has two of the job's four tasks, so that two others are left when it has been
// counted twice.
TEST_F(LostNode, IsCountedTwiceWhenItIsLostAgain) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
  GTEST_SKIP() << "known of Slurm 22.05";
#endif
  ASSERT_NO_FATAL_FAILURE(start_job(3, {"--ntasks=4"}));
  ASSERT_NO_FATAL_FAILURE(lose_a_node_and_requeue());
  admin({"update", "NodeName=n1", "State=RESUME"});
  down("n1");
  EXPECT_THAT(slurmctld_log(), Not(HasSubstr("cpu_cnt underflow")));
  down("n2");
  expect_underflow("1 > 0");
}

}  // namespace
}  // namespace acrf::minicluster
