// SPDX-License-Identifier: GPL-2.0-or-later
#include "actions/last_checkpoint.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "actions/newest_checkpoint.h"
#include "common/signal_name.h"
#include "core/text.h"

namespace acrf {
namespace {

constexpr char kOwner[] = "look";
constexpr int kLookLimit_s = 10;
constexpr char kUnknown[] = "?";  // nobody could look: the whole time is waited

AuditEntry entry_for(const Incident& incident, std::uint32_t job) {
  AuditEntry entry;
  entry.node = incident.node;
  entry.incident = incident.id;
  entry.kind = AuditKind::kAct;
  entry.what = "last_checkpoint";
  entry.subject = "job " + std::to_string(job);
  entry.decided_by = incident.root.verdict.fault_class;
  entry.mode = Mode::kEnforce;
  return entry;
}

}  // namespace

bool LastCheckpoint::holds_back(Incident& incident, const JobView& job, const Save& save) {
  if (job.state != JobState::kRunning) return false;
  const auto policy = find_policy(job.admin_comment);
  const int limit_s = policy ? last_checkpoint_s(*policy, config_.last_checkpoint_time_s) : 0;
  auto& orders = incident.last_checkpoints;
  const auto order = std::find_if(orders.begin(), orders.end(), [&](const auto& known) {
    return known.job == job.id.value && known.restarts == job.restarts;
  });
  const bool is_allowed = allows_last_checkpoint(incident.root.verdict) && limit_s > 0;
  if (order == orders.end()) return is_allowed && ask(incident, job, limit_s, save);
  if (order->is_over) return false;
  if (is_allowed) return wait(incident, *order, job, limit_s, save);
  end(incident, *order, "it was not waited for: " + incident.root.verdict.fault_class, false, save);
  return false;
}

// What there was before is looked at first. Who cannot be asked is not waited for.
bool LastCheckpoint::ask(Incident& incident, const JobView& job, int limit_s, const Save& save) {
  const auto policy = *find_policy(job.admin_comment);
  const auto before = newest(job, policy);
  if (!before) return true;
  const auto& name =
      policy.checkpoint_signal.empty() ? config_.checkpoint_signal : policy.checkpoint_signal;
  spdlog::warn("incident {}: asking job {} for a last checkpoint by SIG{}, within {} s",
               incident.id, job.id.value, name, limit_s);
  incident.last_checkpoints.push_back(
      {job.id.value, job.restarts, std::time(nullptr), *before, false});
  save(incident);
  auto entry = entry_for(incident, job.id.value);
  entry.evidence = fmt::format("SIG{}, {} s", name, limit_s);
  looks_.at(job.id).audit = audit_.begin(std::move(entry));
  const auto sent = slurm_.signal_steps(job.id, signal_number(name));
  if (!sent && sent.error().code == ErrorCode::kUnavailable) {
    spdlog::warn("incident {}: {}; trying again", incident.id, sent.error().sentence);
    audit_.finish(looks_.at(job.id).audit, AuditResult::failed(sent.error().sentence));
    looks_.at(job.id).audit = {};
    incident.last_checkpoints.pop_back();
    save(incident);
    return true;
  }
  if (!sent) end(incident, incident.last_checkpoints.back(), sent.error().sentence, false, save);
  return sent.ok();
}

bool LastCheckpoint::wait(Incident& incident, LastCheckpointOrder& order, const JobView& job,
                          int limit_s, const Save& save) {
  const auto waited_s = std::time(nullptr) - order.asked_unix_s;
  const auto now = newest(job, *find_policy(job.admin_comment));
  const bool saved =
      now && !now->empty() && *now != kUnknown && order.newest != kUnknown && *now != order.newest;
  if (!saved && waited_s >= 0 && waited_s < limit_s) return true;
  end(incident, order,
      saved ? fmt::format("{} after {} s", now->substr(now->rfind('/') + 1), waited_s)
            : fmt::format("no checkpoint within {} s", limit_s),
      saved, save);
  return false;
}

void LastCheckpoint::end(Incident& incident, LastCheckpointOrder& order, const std::string& how,
                         bool saved, const Save& save) {
  spdlog::warn("incident {}: last checkpoint of job {}: {}", incident.id, order.job, how);
  order.is_over = true;
  save(incident);
  const auto result = saved ? AuditResult::done(how) : AuditResult::failed(how);
  const auto look = looks_.find(JobId{order.job});
  if (look != looks_.end() && look->second.audit.value != 0)
    audit_.finish(look->second.audit, result);
  else  // a daemon before this one has asked
    audit_.record(entry_for(incident, order.job), result);
  looks_.erase(JobId{order.job});
}

std::optional<std::string> LastCheckpoint::newest(const JobView& job, const JobPolicy& policy) {
  const auto now = ProgramRun::Clock::now();
  auto& run = looks_.try_emplace(job.id, node_).first->second.run;
  const auto state = run.state(kOwner, now);
  if (state == ProgramState::kRunning) return std::nullopt;
  std::optional<std::string> found;
  if (state != ProgramState::kNone) found = kUnknown;
  if (state == ProgramState::kPassed) found = std::string(trim(run.output()));
  const auto held = slurm_.job_on_node(job.id, node_);
  if (held)
    (void)run.start(
        kOwner,
        newest_checkpoint_command(held->user, policy.checkpoint_format, policy.checkpoint_dir),
        kLookLimit_s, now);
  return found;
}

}  // namespace acrf
