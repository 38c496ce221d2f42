// SPDX-License-Identifier: GPL-2.0-or-later
#include "soak_log.h"

#include <cctype>

#include "core/text.h"

namespace acrf::minicluster {
namespace {

// The words of Slurm's gres and select code.
constexpr const char* kSuspicious[] = {
    "gres",        "GRES",       "select",     "cons_",    "dealloc ",  "overalloc", "underalloc",
    "-allocated",  "underflow",  "overflow",   "miscount", "mis-count", "mismatch",  "mis-match",
    "core_bitmap", "job_resrcs", "oversubscr", "anomaly",  "acrf: ",
};

// What Slurm 22.05 and 24.11 write by themselves in a soak with LIVE_SOAK_SELECT=stock, and why.
constexpr const char* kPlainSlurm[] = {
    // More CPUs per GPU than the node has left: an ordinary refusal.
    "gres_min_cpus=",
    "Failed to validate job spec",
    // Jobs that ran across slurmctld's restart are counted before their nodes have registered, and
    // so without their GPUs' type.
    "type h100 gres count underflow",
    // A request by socket or task that does not fit what the node has left.
    "job_spec lacks GRES counter",
    // A suspended job is resumed on cores that others have got since.
    "job overflow: could not find idle resources",
    // Room that only preemption would make is found on nodes where there is nothing to preempt; the
    // job is tried again.
    "Select plugin failed to set job resources",
};

// Not about the books: that the machine is busy, and slurmctld's own counts of the jobs on a node
// that --exclusive=user gave to one user and, in 24.11, of those that are ending there, in which a
// select plugin has no part.
constexpr const char* kElsewhere[] = {
    "the placement engine took too long",
    "make_node_idle: node_ptr->owner_job_cnt underflow",
    "comp_job_cnt underflow",
};

bool contains_any(std::string_view text, const auto& words) {
  for (const std::string_view word : words)
    if (text.find(word) != std::string_view::npos) return true;
  return false;
}

// The text behind "[time] ", when it is an error.
std::string_view error_text(std::string_view line) {
  const auto at = line.find("] ");
  if (at == std::string_view::npos) return {};
  const auto text = line.substr(at + 2);
  return starts_with(text, "error: ") || starts_with(text, "fatal: ") ? text : std::string_view();
}

}  // namespace

std::map<std::string, int> kinds_of_errors(std::string_view log) {
  std::map<std::string, int> kinds;
  for (const auto line : split(log, '\n')) {
    std::string kind;
    for (const char c : error_text(line)) {
      if (std::isdigit(static_cast<unsigned char>(c))) {
        if (kind.empty() || kind.back() != '#') kind += '#';
      } else {
        kind += c;
      }
    }
    if (!kind.empty()) ++kinds[kind];
  }
  return kinds;
}

std::vector<std::string> suspicious_errors(std::string_view log) {
  std::vector<std::string> lines;
  for (const auto line : split(log, '\n')) {
    const auto text = error_text(line);
    if (text.empty()) continue;
    if (starts_with(text, "fatal: ") ||
        (contains_any(text, kSuspicious) && !contains_any(text, kPlainSlurm) &&
         !contains_any(text, kElsewhere)))
      lines.emplace_back(line);
  }
  return lines;
}

}  // namespace acrf::minicluster
