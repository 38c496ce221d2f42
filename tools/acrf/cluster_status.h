// SPDX-License-Identifier: GPL-2.0-or-later
// The cluster in ten lines, and Nagios' word for it.
#pragma once

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cluster_view.h"

namespace acrf {

struct StatusFacts {
  std::string cluster, mode;
  std::string source;  // "slurmctld", "hub http://..."
  std::string note;    // why it is not the other one; empty: nothing to say
  bool told = false;   // nodes speak for themselves, through a hub
  std::array<int, kPartStates.size()> nodes{}, gpus{};
  std::optional<int> gpus_in_use;
  std::map<std::string, std::uint64_t> jobs;  // pending, running; with a hub also what has ended
  struct Recoveries {
    std::uint64_t count = 0;
    double p50_s = 0, p99_s = 0;
  };
  std::optional<Recoveries> recoveries;
  std::optional<double> ettr;
  std::optional<std::uint64_t> incidents_open, incidents_last_hour;
  std::vector<std::string> brakes_full;  // a sentence each
  std::string held;                      // host list: a brake holds their acrf-healthd back
  std::vector<NodeShown> out;            // some that are out of service
  std::string here;                      // this node; empty: it is none of the cluster's
  NodeVerdict here_verdict;
};

// Shares of the nodes, in percent, that may be out of service.
struct StatusLimits {
  double warning = 0, critical = 10;
};

struct StatusJudgement {
  CheckStatus status = CheckStatus::kOk;
  std::string sentence;
};
StatusJudgement judge_status(const StatusFacts& facts, const StatusLimits& limits);

// Ten lines at most; the first is the one that Nagios shows.
std::string status_text(const StatusFacts& facts, const StatusJudgement& judgement);
nlohmann::ordered_json status_json(const StatusFacts& facts, const StatusJudgement& judgement);

}  // namespace acrf
