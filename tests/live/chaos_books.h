// SPDX-License-Identifier: GPL-2.0-or-later
// Which faults befell which node, what ACRF did about them, and what was wrong with that: a drain
// without a fault, a return without a passed test. Times are seconds since the run began.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "soak_records.h"

namespace acrf::minicluster {

class ChaosBooks {
 public:
  // A fault that asks for the node's drain, or one for which a drain is allowed (a node that was
  // silent as a whole, or its slurmd).
  void note_fault(const std::string& node, double at_s, bool must_drain);
  void note_controller_killed(double at_s) { controller_killed_s_ = at_s; }
  // The site's test passed on the node.
  void note_proof(const std::string& node, double at_s) { nodes_[node].proof_s = at_s; }

  // One look at all nodes; gives what has changed, in words.
  std::vector<std::string> see(const std::vector<NodeRecord>& nodes, double at_s);
  // At the end: `sick` are nodes whose GPUs still are.
  std::vector<std::string> judge_end(const std::vector<std::string>& sick) const;

  const std::vector<std::string>& wrongs() const { return wrongs_; }
  int drains() const { return drains_; }
  int returns() const { return returns_; }

 private:
  static constexpr double kNever = -1e9;
  struct Node {
    double fault_s = kNever;    // the last that asks for a drain
    double silence_s = kNever;  // the last that allows one
    double proof_s = kNever;
    double drained_s = kNever;  // first look of the present drain
    bool drained = false;
    bool owes_drain = false;  // for a fault; lost with a slurmctld, it has to come again
    double returned_s = kNever;
  };
  // The last fault, of either kind.
  static double cause_of(const Node& node);
  // What slurmctld did about then was perhaps not saved when it was killed. The drain that comes
  // back so has to go again: at the end all nodes are in service.
  bool may_be_lost(double done_s) const;
  std::string see_drain(const std::string& name, Node& node, const std::string& reason,
                        double at_s);
  std::string see_return(const std::string& name, Node& node, double at_s);

  std::map<std::string, Node> nodes_;
  double controller_killed_s_ = kNever;
  std::vector<std::string> wrongs_;
  int drains_ = 0, returns_ = 0;
};

}  // namespace acrf::minicluster
