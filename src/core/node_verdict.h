// SPDX-License-Identifier: GPL-2.0-or-later
// What is wrong with the node now, and the one word for all of it. Findings come in two kinds:
// those of a log line, which stay for a time or for the boot, and those of a check, which stay for
// as long as the check says so. The worst one names the node's class.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/fault.h"

namespace acrf {

struct Finding {
  Verdict verdict;
  std::string where;     // "0000:1a:00", "mlx5_0/1", "/scratch"; empty: the node
  std::string evidence;  // one line for people
  std::optional<int> xid = std::nullopt;
};

// Exit codes of checks, as Nagios and Slurm's scripts know them.
enum class CheckStatus { kOk = 0, kWarning = 1, kCritical = 2, kUnknown = 3 };

std::string_view name_of(CheckStatus status);  // "OK", "WARNING", ...

struct NodeVerdict {
  CheckStatus status = CheckStatus::kOk;
  std::string node_class = "HEALTHY";
  std::string text;  // one printable line
  bool operator==(const NodeVerdict&) const = default;
};

// HEALTHY, XID_WARNING_<n>, XID_CRITICAL_<n>, ECC_ERROR, GPU_HEALTH_WARNING or GPU_HEALTH_ERROR.
std::string health_state(const Verdict& verdict, std::optional<int> xid);

// The worst of the findings. With none that matters, and a source that should have answered and
// did not, the node is UNKNOWN, which is not HEALTHY.
NodeVerdict judge_node(std::span<const Finding> findings, std::span<const std::string> silent);

// One line of at most `limit` bytes: control characters become blanks.
std::string printable_line(std::string_view text, std::size_t limit);

class CurrentFindings {
 public:
  static constexpr std::int64_t kForThisBoot = INT64_MAX;

  // From a log line: holds until `until_s`.
  void note(Finding finding, std::int64_t until_s);
  // An admin has taken the case over: what a check still says of it does not count until it has
  // stopped saying so.
  void forget(const std::string& fault_class, const std::string& where);
  // All that a check finds now, instead of what it found before.
  void replace(const std::string& check, std::vector<Finding> findings);

  std::vector<Finding> at(std::int64_t now_s) const;

 private:
  using Key = std::pair<std::string, std::string>;  // class, where
  struct Noted {
    Finding finding;
    std::int64_t until_s = 0;
  };
  std::map<Key, Noted> noted_;
  std::map<std::string, std::vector<Finding>> checked_;
  std::set<Key> dismissed_;
};

}  // namespace acrf
