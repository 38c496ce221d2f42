// SPDX-License-Identifier: GPL-2.0-or-later
// What the live tests share: a private cluster per test, and the looks a user would take at it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "minicluster/cluster.h"
#include "minicluster/fault_run.h"

namespace acrf::minicluster {

class LiveCluster : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // A small cluster; a test changes what it needs.
  ClusterOptions small() const;
  void start(const ClusterOptions& options);
  void stop() { cluster_.reset(); }
  Cluster& cluster() { return *cluster_; }

  // Training on two nodes that has written its first checkpoint.
  std::string train(const TrainingJob& changes = {});
  std::string checkpoints() const { return root_ + "/checkpoints"; }
  std::string output() const { return root_ + "/train.out"; }

  void inject(const std::string& node);
  JobLook job(const std::string& id);
  NodeLook node(const std::string& name) { return look_at_node(cluster(), name); }
  bool runs_again(const std::string& id, int restarts,
                  std::chrono::seconds limit = std::chrono::seconds(60));
  bool healthd_says(const std::string& node, const std::string& text);
  // A fault before that has no UUID to be remembered by.
  bool healthd_knows_its_gpus(const std::string& node);

  // A small cluster whose acrf-healthd can be held: while it is, it stops before the step of that
  // name (see hold_calls.c), on all nodes or on one.
  ClusterOptions holding() const;
  void hold(const std::string& step, const std::string& node = "");
  bool is_held(const std::string& step, const std::string& node);
  void let_go(const std::string& step, const std::string& node = "");

  // True when slurmctld has written its jobs to disk after now.
  bool job_state_is_saved();
  // Why a user other than root can't run what was built here (a checkout under /root, often); empty
  // when such a user can.
  static std::string closed_to_users();
  // What scontrol shows of the node.
  std::string record(const std::string& node);
  // A script outside of the cluster's directory, which is removed with the test.
  std::string program(const std::string& name, const std::string& script);
  // A command for such a script: what `acrf inject --repair` does to the node.
  std::string cure(const std::string& node) const;
  void inject_fault(const std::string& node, const std::vector<std::string>& fault);
  // What a reboot is to the daemon: it ends, and begins with another boot id.
  void reboot_node(const std::string& node, int boot);
  std::string programs() const { return root_ + "-programs"; }

  std::string root_;

 private:
  std::unique_ptr<Cluster> cluster_;
};

std::string text_of(const std::string& path);

}  // namespace acrf::minicluster
