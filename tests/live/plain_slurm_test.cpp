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

// Both slurmds are gone, so that nobody tells slurmctld that the job has left a node.
TEST_F(PlainSlurm, CountsALostNodeTwiceForAJobRequeuedWhileCompleting) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
  GTEST_SKIP() << "known of Slurm 22.05";
#endif
  auto options = small();
  options.nodes = 2;
  options.healthd = false;
  options.select = SelectInstall::kStock;
  options.slurm_conf += "JobSubmitPlugins=logging\n";
  start(options);
  const auto submitted = cluster().run({"sbatch", "--parsable", "--output=/dev/null", "--requeue",
                                        "-N2", "--ntasks-per-node=6", "--wrap=sleep 1000"});
  ASSERT_TRUE(submitted.ok()) << submitted.errors;
  const std::string id(trim(submitted.output));
  ASSERT_TRUE(wait_until([&] { return job(id).state == "RUNNING"; }));
  for (const char* daemon : {"slurmd-n1", "slurmd-n2"}) ASSERT_TRUE(cluster().kill(daemon).ok());
  ASSERT_TRUE(cluster().run({"scancel", id}).ok());
  ASSERT_TRUE(wait_until([&] { return job(id).state == "COMPLETING"; }));

  admin({"update", "NodeName=n1", "State=DOWN", "Reason=test"});
  admin({"requeue", id});
  ASSERT_TRUE(cluster().restart_slurmctld().ok());
  EXPECT_THAT(slurmctld_log(), Not(HasSubstr("underflow")));
  admin({"update", "NodeName=n2", "State=DOWN", "Reason=test"});

  const std::string line = "error: job_update_tres_cnt: cpu_cnt underflow (6 > 0) on JobId=";
  EXPECT_THAT(slurmctld_log(), HasSubstr(line + id));
  EXPECT_THAT(suspicious_errors(slurmctld_log()), IsEmpty());
  EXPECT_THAT(suspicious_errors(slurmctld_log() + "[t] " + line + "77\n"), SizeIs(1));
}

}  // namespace
}  // namespace acrf::minicluster
