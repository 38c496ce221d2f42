// SPDX-License-Identifier: GPL-2.0-or-later
// The private cluster itself: it ends with its owner, keeps apart from others, and cleans up.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <filesystem>

#include "build_paths.h"
#include "common/file.h"
#include "core/text.h"
#include "live_cluster.h"

extern char** environ;

namespace acrf::minicluster {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class PrivateCluster : public LiveCluster {
 protected:
  ClusterOptions bare() const {
    auto options = small();
    options.nodes = 2;
    return options;
  }

  // acrf-demo as contrib/demo starts it.
  pid_t start_demo(std::vector<std::string> options) {
    options.insert(options.begin(), {ACRF_BUILD "/acrf-demo", "--root", root_});
    std::vector<char*> arguments;
    for (auto& option : options) arguments.push_back(option.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t pid = -1;
    // A shell that put the tests into the background had them ignore SIGINT.
    sigset_t interrupt;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &interrupt);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    EXPECT_EQ(::posix_spawn(&pid, arguments[0], &files, &attributes, arguments.data(), environ), 0);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return pid;
  }

  // The cluster's first process, as init.pid names it, is alive.
  bool cluster_is_alive() {
    const auto identity = std::string(trim(text_of(root_ + "/init.pid")));
    const auto pid = parse_unsigned(identity.substr(0, identity.find(' ')));
    return pid && process_identity(static_cast<int>(*pid)) == identity;
  }
};

TEST_F(PrivateCluster, EndsWithItsOwnerHoweverThatEnds) {
  for (const int signal : {SIGINT, SIGKILL}) {
    const pid_t demo = start_demo({});
    ASSERT_TRUE(
        wait_until([&] { return cluster_is_alive() && fs::exists(root_ + "/log/slurmd-n8.log"); }));
    ::kill(demo, signal);
    int status = 0;
    ASSERT_EQ(::waitpid(demo, &status, 0), demo);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_TRUE(wait_until([&] { return !cluster_is_alive(); }));
  }
  EXPECT_TRUE(Cluster::clean(root_).ok());
  EXPECT_FALSE(fs::exists(root_));
}

TEST_F(PrivateCluster, KeptItOutlivesItsOwnerUntilItIsCleaned) {
  start(bare());
  ASSERT_TRUE(cluster().keep().ok());
  const auto environment = cluster().environment();
  stop();
  EXPECT_TRUE(cluster_is_alive());
  const auto nodes = run_command({"sinfo", "-h", "-N"}, environment);
  EXPECT_THAT(nodes.output, HasSubstr("n2"));
  EXPECT_TRUE(Cluster::clean(root_).ok());
  EXPECT_FALSE(fs::exists(root_));
}

TEST_F(PrivateCluster, TwoAtOnceDoNotMeet) {
  start(bare());
  auto options = bare();
  options.root = root_ + "b";
  options.nodes = 3;
  {
    const auto other = Cluster::start(options);
    ASSERT_TRUE(other.ok()) << other.error().sentence;
    EXPECT_EQ((*other)->run({"sinfo", "-h", "-o", "%D"}).output, "3\n");
    EXPECT_EQ(cluster().run({"sinfo", "-h", "-o", "%D"}).output, "2\n");
  }
  EXPECT_EQ(cluster().run({"sinfo", "-h", "-o", "%D"}).output, "2\n");
  EXPECT_TRUE(Cluster::clean(options.root).ok());
}

// A daemon that is being restarted does not listen for a moment.
TEST(Ports, AreNotGivenTwiceWhileTheirOwnerLives) {
  constexpr int kRange = 10000, kAtOnce = 100;
  const auto mine = claim_ports(2);
  ASSERT_TRUE(mine.ok()) << mine.error().sentence;
  for (int asked = 0; asked <= kRange; asked += kAtOnce) {
    const auto others = claim_ports(kAtOnce);
    ASSERT_TRUE(others.ok()) << others.error().sentence;
    for (const int port : others->numbers) EXPECT_THAT(mine->numbers, Not(Contains(port)));
  }
}

TEST_F(PrivateCluster, TakesATopology) {
  auto options = bare();
  options.gpus_per_node = 4;
  options.topology =
      "SwitchName=leaf1 Nodes=n1\nSwitchName=leaf2 Nodes=n2\n"
      "SwitchName=spine Switches=leaf[1-2]\n";
  start(options);
  EXPECT_THAT(cluster().run({"scontrol", "show", "topology"}).output,
              HasSubstr("SwitchName=leaf2 Level=0 LinkSpeed=1 Nodes=n2"));
  EXPECT_THAT(cluster().run({"sinfo", "-h", "-o", "%G"}).output, HasSubstr("gpu:h100:4"));
}

TEST_F(PrivateCluster, CloudNodesAreAllocatedWithoutSlurmdAndFreedAtOnce) {
  auto options = bare();
  options.cloud_nodes = true;
  options.nodes = 1000;
  start(options);
  const std::vector<std::string> states = {"sinfo", "-h", "-o", "%D %T"};
  for (int run = 0; run < 2; ++run) {
    const auto submitted =
        cluster().run({"sbatch", "--parsable", "--output=/dev/null", "--gpus=4000", "--wrap=true"});
    const std::string id(trim(submitted.output));
    ASSERT_TRUE(wait_until([&] { return job(id).state == "CONFIGURING"; })) << submitted.errors;
    EXPECT_EQ(job(id).nodes.size(), 500U);
    EXPECT_THAT(cluster().run({"scontrol", "-d", "show", "job", id}).output,
                HasSubstr("GRES=gpu:h100:8(IDX:0-7)"));
    ASSERT_TRUE(cluster().run({"scancel", id}).ok());
    EXPECT_EQ(cluster().run(states).output, "1000 idle~\n");
  }
}

TEST_F(PrivateCluster, DirectoryInUseOrNotACluster) {
  start(bare());
  const auto second = Cluster::start(bare());
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error().sentence, HasSubstr("in use"));
  EXPECT_TRUE(cluster_is_alive());

  auto options = bare();
  options.root = root_ + "c";
  fs::create_directories(options.root);
  ASSERT_TRUE(write_file(options.root + "/precious", "x").ok());
  const auto refused = Cluster::start(options);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().sentence, HasSubstr("is not a cluster's directory"));
  EXPECT_TRUE(fs::exists(options.root + "/precious"));
  fs::remove_all(options.root);
  fs::remove(options.root + ".lock");
}

}  // namespace
}  // namespace acrf::minicluster
