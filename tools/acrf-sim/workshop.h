// SPDX-License-Identifier: GPL-2.0-or-later
// Everything a simulated GPU meets after it broke: the site's programs that ACRF's ladder runs
// (reset, reboot, test, replace), the machine room that takes its time, and the people who replace
// what automation has given up. Whether a part returns to service is ACRF's decision alone.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "books.h"
#include "minicluster/cluster.h"

namespace acrf::sim {

class Workshop {
 public:
  // Lines for acrf.conf: those programs, and brakes for a cluster of a few nodes.
  static std::string acrf_conf(const std::string& root);

  explicit Workshop(minicluster::Cluster& cluster) : cluster_(cluster) {}

  Status prepare();
  // The next repair on this node takes so long.
  Status set_repair_time(const std::string& node, double seconds);
  // Does what was asked for and is due, and tells the books how repairs stand. Gives what was done,
  // a sentence each.
  std::vector<std::string> serve(Books& books, std::int64_t now_ms, std::int64_t began_unix_ms);

 private:
  struct Asked {
    std::int64_t due_ms = 0;
  };
  bool is_due(const std::string& what, std::int64_t now_ms, double seconds);
  double repair_time(const std::string& node) const;
  void serve_cases(const std::string& node, Books& books, std::int64_t now_ms,
                   std::int64_t began_unix_ms, std::vector<std::string>& done);
  std::string serve_people(const std::string& node, const std::string& gpu_uuid);

  minicluster::Cluster& cluster_;
  std::map<std::string, Asked> asked_;  // what -> when it will be done
  std::map<std::string, bool> over_;    // files of cases that are over
};

}  // namespace acrf::sim
