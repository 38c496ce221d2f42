// SPDX-License-Identifier: GPL-2.0-or-later
#include "soak_log.h"

#include <cctype>
#include <set>

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

// A job's CPUs are counted down as its nodes leave it. Slurm 22.05 takes a lost node for one that
// has yet to leave when the job is requeued while it is completing (build_cg_bitmap() in
// _job_requeue_op(), which slurmctld also calls for jobs with lost nodes when it starts), and counts
// the node a second time when it leaves again or slurmctld reads the job in. The count serves
// nothing but squeue's column of CPUs. Plain Slurm says it too: see plain_slurm_test.cpp.
constexpr std::string_view kCountedTwice = "error: job_update_tres_cnt: cpu_cnt underflow (";
constexpr std::string_view kReadInAgain = "_sync_nodes_to_comp_job: JobId=";
constexpr std::string_view kRequeued = "debug:  _job_requeue_op: JobId=";

bool contains_any(std::string_view text, const auto& words) {
  for (const std::string_view word : words)
    if (text.find(word) != std::string_view::npos) return true;
  return false;
}

// The text behind "[time] ".
std::string_view text_behind_time(std::string_view line) {
  const auto at = line.find("] ");
  return at == std::string_view::npos ? std::string_view() : line.substr(at + 2);
}

// That text, when it is an error.
std::string_view error_text(std::string_view line) {
  const auto text = text_behind_time(line);
  return starts_with(text, "error: ") || starts_with(text, "fatal: ") ? text : std::string_view();
}

// The job that a line speaks of, as Slurm writes it: JobId=5_1(7).
std::string_view job_of(std::string_view text) {
  const auto at = text.find("JobId=");
  if (at == std::string_view::npos) return {};
  const auto job = text.substr(at);
  return job.substr(0, job.find(' '));
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
  std::set<std::string_view> wait_again;  // jobs that may wait for a lost node once more
  for (const auto line : split(log, '\n')) {
    const auto said = text_behind_time(line);
    if (starts_with(said, kReadInAgain) || starts_with(said, kRequeued))
      wait_again.insert(job_of(said));
    const auto text = error_text(line);
    if (text.empty()) continue;
    if (starts_with(text, kCountedTwice) && wait_again.count(job_of(text))) continue;
    if (starts_with(text, "fatal: ") ||
        (contains_any(text, kSuspicious) && !contains_any(text, kPlainSlurm) &&
         !contains_any(text, kElsewhere)))
      lines.emplace_back(line);
  }
  return lines;
}

}  // namespace acrf::minicluster
