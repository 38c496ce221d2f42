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

  // While held, healthd stops before its call of that name (see hold_calls.c).
  void hold(const std::string& call);
  void let_go(const std::string& call);

  std::string root_;

 private:
  std::unique_ptr<Cluster> cluster_;
};

std::string text_of(const std::string& path);

}  // namespace acrf::minicluster
