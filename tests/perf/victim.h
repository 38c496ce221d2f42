// SPDX-License-Identifier: GPL-2.0-or-later
// The job that acrf-recover lets faults befall: two nodes, one rank each. A rank holds a lock on a
// file of its own while it lives, so that two runs at once show, and says which checkpoint it was
// given when it begins.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "minicluster/cluster.h"

namespace acrf::perf {

class Victim {
 public:
  Victim(minicluster::Cluster& cluster, int number);

  struct Habits {
    bool resilient = true;
    bool ignores_term = false;
  };
  // Beside the checkpoint to begin from there is a newer one that is not complete.
  bool submit(Habits habits);

  // Until slurmctld has given the job its nodes for its restart of this number.
  bool runs(int restart);
  // Until the first rank of that restart has begun.
  bool has_begun(int restart, std::chrono::seconds patience);
  // All ranks are at work, half a second after they began.
  bool works(int restart);
  // Every rank of every run began from the newest complete checkpoint.
  bool began_from_newest(int restart) const;
  // Lets the program end; true when it did, and the job with it.
  bool completes();

  void finish();
  bool has_finished() const;
  int twice() const;
  void cancel();
  const std::string& id() const { return id_; }
  // Of the last runs().
  const std::vector<std::string>& nodes() const { return nodes_; }

 private:
  bool prepare();
  std::string file(const std::string& name) const { return directory_ + "/" + name; }
  std::string began(int restart) const;

  minicluster::Cluster& cluster_;
  std::string directory_, id_;
  std::vector<std::string> nodes_;
};

}  // namespace acrf::perf
