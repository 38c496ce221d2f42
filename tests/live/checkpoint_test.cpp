// SPDX-License-Identifier: GPL-2.0-or-later
// Checkpoints as a job meets them that comes back: who may publish, and which one it gets.
#include <gmock/gmock.h>

#include <filesystem>

#include "common/file.h"
#include "core/text.h"
#include "live_cluster.h"

namespace acrf::minicluster {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class Checkpoints : public LiveCluster {
 protected:
  void SetUp() override {
    LiveCluster::SetUp();
    auto options = small();
    options.healthd = false;
    options.acrf_conf = "RequeueBackoff=0\n";
    start(options);
    fs::create_directories(checkpoints());
  }
  std::string submit(const std::string& script) {
    EXPECT_TRUE(write_file(root_ + "/job.sh", "#!/bin/bash\ncd " + root_ + "\n" + script).ok());
    const auto submitted = cluster().run(
        {"sbatch", "--parsable", "--output=" + output(), "--gpus=1", "--acrf-policy=requeue",
         "--acrf-checkpoint-dir=" + checkpoints(), root_ + "/job.sh"});
    EXPECT_TRUE(submitted.ok()) << submitted.errors;
    return std::string(trim(submitted.output));
  }
  void requeue(const std::string& id) {
    const auto done = cluster().run({"scontrol", "requeue", id});
    EXPECT_TRUE(done.ok()) << done.errors;
  }
  void seal(const std::string& name) {
    fs::create_directories(checkpoints() + "/" + name);
    ASSERT_TRUE(write_file(checkpoints() + "/" + name + "/model", name).ok());
    const auto sealed = cluster().run({"acrf", "checkpoint", "seal", checkpoints() + "/" + name});
    ASSERT_TRUE(sealed.ok()) << sealed.errors;
  }
  bool says(const std::string& file, const std::string& text) {
    return wait_until([&] { return text_of(root_ + "/" + file).find(text) != std::string::npos; });
  }
};

// The first run's writer is in a session of its own: Slurm's kill does not reach it, as it would
// not reach a process on a node that froze.
TEST_F(Checkpoints, AWriterThatOutlivesItsRunCannotPublishOverTheNextOne) {
  const auto id = submit(
      "run=${SLURM_RESTART_COUNT:-0}\n"
      "mkdir $ACRF_CHECKPOINT_DIR/.draft-$run && echo $run "
      ">$ACRF_CHECKPOINT_DIR/.draft-$run/model\n"
      "publish='acrf checkpoint publish $ACRF_CHECKPOINT_DIR/.draft-'$run' --as step-9'\n"
      "if [ $run = 0 ]; then\n"
      "  setsid bash -c \"echo ready >first; until [ -e go ]; do sleep 0.1; done; $publish >old "
      "2>&1; "
      "echo status \\$? >>old\" &\n"
      "else\n"
      "  eval \"$publish\" >new 2>&1; echo status $? >>new; touch go\n"
      "fi\n"
      "sleep 600\n");
  ASSERT_TRUE(says("first", "ready"));
  requeue(id);
  ASSERT_TRUE(says("new", "status 0")) << text_of(root_ + "/new");
  ASSERT_TRUE(says("old", "status 1")) << text_of(root_ + "/old");
  EXPECT_THAT(text_of(root_ + "/old"), HasSubstr("restart"));
  EXPECT_EQ(text_of(checkpoints() + "/step-9/model"), "1\n");
}

TEST_F(Checkpoints, WithoutProgressTheOneBeforeIsTaken) {
  seal("step-10");
  seal("step-20");
  const auto id = submit("basename $ACRF_RESUME_FROM >>from\nsleep 600\n");
  const auto runs = [&](std::size_t times) {
    return wait_until([&] {
      const auto lines = text_of(root_ + "/from");
      return split(trim(lines), '\n').size() == times && lines.size() > 1;
    });
  };
  for (std::size_t run = 1; run <= 4; ++run) {
    ASSERT_TRUE(runs(run)) << text_of(root_ + "/from");
    if (run < 4) requeue(id);
  }
  const auto lines = text_of(root_ + "/from");
  EXPECT_THAT(split(trim(lines), '\n'), ElementsAre("step-20", "step-20", "step-20", "step-10"));
}

}  // namespace
}  // namespace acrf::minicluster
