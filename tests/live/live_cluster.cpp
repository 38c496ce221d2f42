// SPDX-License-Identifier: GPL-2.0-or-later
#include "live_cluster.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "build_paths.h"
#include "common/checkpoint_dir.h"
#include "common/file.h"

namespace acrf::minicluster {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value ? value : otherwise;
}

// In the build tree, unless its path is too long for the cluster's sockets.
std::string choose_root() {
  const std::string name = "live-" + std::to_string(::getpid());
  const std::string in_build = std::string(ACRF_BUILD) + "/" + name;
  return in_build.size() <= 60 ? in_build : "/tmp/acrf-" + name;
}

}  // namespace

std::string text_of(const std::string& path) {
  const auto text = read_file(path);
  return text ? *text : "";
}

void LiveCluster::SetUp() {
  if (::geteuid() != 0) GTEST_SKIP() << "a private Slurm cluster needs root";
  root_ = choose_root();
}

ClusterOptions LiveCluster::small() const {
  ClusterOptions options;
  options.root = root_;
  options.controller_stage = variable("LIVE_CONTROLLER_STAGE", "");
  options.sanitizer_runtimes = variable("LIVE_RUNTIMES", "");
  options.healthd_program = variable("LIVE_HEALTHD", "");
  options.nodes = 4;
  options.slurm_conf = "SchedulerParameters=batch_sched_delay=0,bf_interval=1\n";
  return options;
}

void LiveCluster::start(const ClusterOptions& options) {
  stop();
  auto started = Cluster::start(options);
  // Ends the test: an assertion would only end this function.
  if (!started) throw std::runtime_error(started.error().sentence);
  cluster_ = std::move(*started);
  fs::create_directories(checkpoints());
  if (options.acrf_conf.find("GpuQuarantine=on") == std::string::npos) return;
  // A GPU whose number is not known yet can't be hidden: its node would be drained.
  for (const auto& name : node_names(options))
    if (!healthd_says(name, "knows the numbers of"))
      throw std::runtime_error("healthd of " + name + " does not know its GPUs' numbers");
}

std::string LiveCluster::closed_to_users() {
  for (fs::path path = ACRF_BUILD; path.has_relative_path(); path = path.parent_path())
    if ((fs::status(path).permissions() & fs::perms::others_exec) == fs::perms::none)
      return "users other than root cannot enter " + path.string();
  return "";
}

// A failed test leaves its cluster's files, logs above all, for a look.
void LiveCluster::TearDown() {
  stop();
  if (root_.empty()) return;
  std::error_code error;
  fs::remove_all(programs(), error);
  for (const auto& entry : fs::directory_iterator(root_ + "/log", error))
    if (entry.path().filename().string().rfind("sanitizer", 0) == 0)
      ADD_FAILURE() << entry.path() << ":\n" << text_of(entry.path());
  if (HasFailure()) {
    std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    std::replace(name.begin(), name.end(), '/', '-');
    const std::string kept = root_ + "-" + name;
    fs::remove_all(kept, error);
    fs::rename(root_, kept, error);
    GTEST_LOG_(INFO) << "the cluster's files are kept in " << kept;
  } else {
    fs::remove_all(root_, error);
    fs::remove(root_ + ".lock", error);
  }
}

std::string LiveCluster::train(const TrainingJob& changes) {
  TrainingJob training = changes;
  if (training.checkpoint_dir.empty()) training.checkpoint_dir = checkpoints();
  if (training.output.empty()) training.output = output();
  training.variables.insert(training.variables.begin(),
                            {"TRAIN_STEPS=100000", "TRAIN_STEP_SECONDS=0.1"});
  const auto id = submit(cluster(), training);
  EXPECT_TRUE(id.ok()) << id.error().sentence;
  if (!id) return "0";
  EXPECT_TRUE(wait_until([&] { return text_of(output()).find("rank 1 on ") != std::string::npos; }))
      << "job " << *id << " did not start; " << text_of(output());
  return *id;
}

void LiveCluster::inject(const std::string& node) {
  const auto injected = cluster().run({"acrf", "inject", "--node", node, "--xid", "79"});
  ASSERT_TRUE(injected.ok()) << injected.errors;
}

JobLook LiveCluster::job(const std::string& id) {
  const auto look = look_at_job(cluster(), id);
  EXPECT_TRUE(look.ok()) << look.error().sentence;
  return look ? *look : JobLook{};
}

bool LiveCluster::runs_again(const std::string& id, int restarts, std::chrono::seconds limit) {
  return wait_until(
      [&] {
        const auto look = look_at_job(cluster(), id);
        return look && look->state == "RUNNING" && look->restarts == restarts;
      },
      limit, std::chrono::milliseconds(100));
}

bool LiveCluster::healthd_says(const std::string& node, const std::string& text) {
  return wait_until([&] {
    return text_of(cluster().path("log/healthd-" + node + ".log")).find(text) != std::string::npos;
  });
}

bool LiveCluster::healthd_knows_its_gpus(const std::string& node) {
  return wait_until(
      [&] { return cluster().healthd_life(node).find("nvml: ") != std::string::npos; });
}

ClusterOptions LiveCluster::holding() const {
  auto options = small();
  options.healthd_preload = ACRF_BUILD "/tests/.libs/hold_calls.so";
  return options;
}

void LiveCluster::hold(const std::string& step, const std::string& node) {
  ASSERT_TRUE(write_file(root_ + "/run/" + step + (node.empty() ? "" : "." + node), "").ok());
}

bool LiveCluster::is_held(const std::string& step, const std::string& node) {
  return wait_until([&] { return fs::exists(root_ + "/run/held." + step + "." + node); });
}

void LiveCluster::let_go(const std::string& step, const std::string& node) {
  fs::remove(root_ + "/run/" + step + (node.empty() ? "" : "." + node));
}

bool LiveCluster::job_state_is_saved() {
  const auto before = fs::file_time_type::clock::now();
  return wait_until([&] {
    std::error_code error;
    return fs::last_write_time(root_ + "/state/job_state", error) > before && !error;
  });
}

std::string LiveCluster::record(const std::string& node) {
  return cluster().run({"scontrol", "show", "node", node}).output;
}

std::string LiveCluster::program(const std::string& name, const std::string& script) {
  fs::create_directories(programs());
  const auto path = programs() + "/" + name;
  EXPECT_TRUE(write_file(path, "#!/bin/sh\n" + script, 0755).ok());
  return path;
}

std::string LiveCluster::cure(const std::string& node) const {
  return "env SLURM_CONF=" + root_ + "/etc/slurm.conf " + ACRF_STAGE +
         "/usr/bin/acrf inject --node " + node + " --repair\n";
}

void LiveCluster::inject_fault(const std::string& node, const std::vector<std::string>& fault) {
  std::vector<std::string> command = {"acrf", "inject", "--node", node};
  command.insert(command.end(), fault.begin(), fault.end());
  const auto done = cluster().run(command);
  ASSERT_TRUE(done.ok()) << done.errors;
}

void LiveCluster::reboot_node(const std::string& node, int boot) {
  ASSERT_TRUE(cluster().kill("healthd-" + node).ok());
  const auto directory = root_ + "/nodes/" + node + "/root/proc/sys/kernel/random";
  fs::create_directories(directory);
  ASSERT_TRUE(write_file(directory + "/boot_id", "boot " + std::to_string(boot) + "\n").ok());
  ASSERT_TRUE(cluster().start_healthd(node).ok());
  // A log in a file is read from its end after a boot.
  ASSERT_TRUE(wait_until(
      [&] { return cluster().healthd_life(node).find(" watches node ") != std::string::npos; }));
}

}  // namespace acrf::minicluster
