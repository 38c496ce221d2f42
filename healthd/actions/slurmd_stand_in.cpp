// SPDX-License-Identifier: GPL-2.0-or-later
#include "actions/slurmd_stand_in.h"

#include <signal.h>
#include <spdlog/spdlog.h>

#include "actions/local_job.h"
#include "peers/slurmd_look.h"

namespace acrf {
namespace {

// slurmd needs some milliseconds; one on a busy node a tenth of a second.
constexpr std::chrono::milliseconds kPatience{1000};

// The script's step daemon waits two seconds at most for an srun that still ends.
constexpr std::chrono::seconds kDaemonEndsWithin{5};

}  // namespace

bool SlurmdStandIn::slurmd_answers(const std::string& node) {
  const auto place = slurm_.place_of_node(node);
  return !place || slurmd_serves(place->address, place->slurmd_port, kPatience);
}

// Signals the job's program, and says whether it is gone. What its script left behind when it died
// is no longer known as the job's, but its step daemon sees to that before it goes.
bool SlurmdStandIn::has_ended(const std::string& node, JobId job, int kill_wait_s) {
  const auto local = find_job_here(*spool_, node, job);
  const auto now = Clock::now();
  if (local.program.empty() && !local.has_script_daemon) return true;
  const auto [entry, is_new] = ending_.emplace(job, Ending{now, std::nullopt});
  auto& ending = entry->second;
  if (local.program.empty()) {
    if (!ending.without_program) ending.without_program = now;
    return now - *ending.without_program >= kDaemonEndsWithin;
  }
  const bool kill = now - ending.since >= std::chrono::seconds(kill_wait_s);
  if (!is_new && !kill) return false;
  spdlog::warn("job {}: slurmd does not answer: sending {} to {} of its processes here", job.value,
               kill ? "SIGKILL" : "SIGTERM", local.program.size());
  for (const int pid : local.program) ::kill(pid, kill ? SIGKILL : SIGTERM);
  return false;
}

// Only of a node that ACRF drained: it is looked at once more.
bool SlurmdStandIn::tell(const Incident& incident, const std::set<JobId>& left) {
  const auto node = slurm_.node(incident.node);
  if (!node) return true;
  if (!node->draining || !is_acrf_reason(node->reason)) return false;
  AuditEntry entry;
  entry.node = entry.subject = incident.node;
  entry.incident = incident.id;
  entry.kind = AuditKind::kAct;
  entry.what = "not_responding";
  entry.decided_by = "slurmd does not answer";
  for (const auto job : left)
    entry.evidence +=
        (entry.evidence.empty() ? "has left: job " : ", ") + std::to_string(job.value);
  entry.mode = Mode::kEnforce;
  const auto id = audit_.begin(std::move(entry));
  const auto told = slurm_.say_not_responding(incident.node, [&](NodeToken& token) {
    for (const auto job : left) add_left(token, job.value);
  });
  audit_.finish(id, told ? AuditResult::done() : AuditResult::failed(told.error().sentence));
  return !told && told.error().code == ErrorCode::kUnavailable;
}

bool SlurmdStandIn::step(const Incident& incident, const std::set<JobId>& leaving,
                         int kill_wait_s) {
  std::erase_if(ending_, [&](const auto& job) { return !leaving.contains(job.first); });
  if (leaving.empty() || (ending_.empty() && slurmd_answers(incident.node))) return false;
  if (!spool_) {
    const auto spool = slurm_.slurmd_spool_directory(incident.node);
    if (!spool) return spool.error().code == ErrorCode::kUnavailable;
    spool_ = *spool;
  }
  bool all_ended = true;
  for (const auto job : leaving) all_ended &= has_ended(incident.node, job, kill_wait_s);
  return !all_ended || tell(incident, leaving);
}

}  // namespace acrf
