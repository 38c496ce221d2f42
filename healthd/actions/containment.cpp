// SPDX-License-Identifier: GPL-2.0-or-later
#include "actions/containment.h"

#include <spdlog/spdlog.h>

#include "common/braked_act.h"
#include "core/maintenance.h"
#include "core/undo.h"

namespace acrf {
namespace {

using State = Contained::State;

constexpr char kObserve[] = "Mode=observe";
constexpr char kMaintenance[] = "the node is under maintenance";

// Silence is worth another try at once, a no is not.
State state_of(const Error& error) {
  return error.code == ErrorCode::kUnavailable ? State::kSoon : State::kRefused;
}

AuditEntry entry_for(const ContainTarget& target, AuditKind kind, const std::string& what) {
  AuditEntry entry;
  entry.node = target.node;
  entry.incident = target.incident;
  entry.kind = kind;
  entry.what = what;
  entry.subject =
      target.gpu_index ? target.node + " GPU " + std::to_string(*target.gpu_index) : target.node;
  entry.decided_by = target.fault_class;
  entry.mode = Mode::kEnforce;
  entry.evidence = target.evidence;
  return entry;
}

}  // namespace

Contained Containment::contain(const ContainTarget& target) {
  const auto fleet = slurm_.fleet(topology_dir_);
  if (!fleet) return {state_of(fleet.error()), fleet.error().sentence};
  const FleetNode* node = fleet->find(target.node);
  if (!node) return {State::kRefused, "slurmctld knows no node " + target.node};
  if (is_only_watched(*node)) return {State::kObserved, kObserve};
  if (is_under_maintenance(*node, target.fault_class, fleet->now_unix_s))
    return hold(target, kMaintenance);
  const auto decision = act_within_brakes(
      slurm_, config_,
      {{target.node, cause_of(target.fault_class, target.shared), speaker_for(target.node)},
       topology_dir_,
       [&](const SlurmClient::ChangeToken& counted) { return act(target, counted); },
       pause_});
  if (!decision) return {state_of(decision.error()), decision.error().sentence};
  if (decision->permission == Permission::kAct) return {State::kDone, ""};
  if (decision->permission == Permission::kHeld) {
    mark_suspect(target.node);
    return hold(target, decision->sentence);
  }
  return {State::kSoon, decision->sentence};
}

Result<std::string> Containment::why_left_alone(const std::string& name,
                                                const std::string& fault_class) {
  const auto fleet = slurm_.fleet(topology_dir_);
  if (!fleet) return fleet.error();
  const FleetNode* node = fleet->find(name);
  if (!node) return Error{ErrorCode::kNotFound, "slurmctld knows no node " + name};
  if (is_only_watched(*node)) return std::string(kObserve);
  const bool maintained = is_under_maintenance(*node, fault_class, fleet->now_unix_s);
  return std::string(maintained ? kMaintenance : "");
}

bool Containment::is_only_watched(const FleetNode& node) const {
  return mode_for_node(config_, node.partitions) == Mode::kObserve;
}

bool Containment::is_under_maintenance(const FleetNode& node, const std::string& fault_class,
                                       std::int64_t now_unix_s) const {
  return node.maintenance ||
         maintenance_of(config_.maintenance, node.name, fault_class, now_unix_s);
}

// Told once.
Contained Containment::hold(const ContainTarget& target, const std::string& why) {
  const auto said = target.incident + why;
  if (said != last_held_) {
    last_held_ = said;
    spdlog::error("incident {}: node {} is left in service: {}", target.incident, target.node, why);
    audit_.record(entry_for(target, AuditKind::kDecision, "hold"), AuditResult::skipped(why));
  }
  return {State::kHeld, why};
}

// Jobs avoid the node while others fit.
void Containment::mark_suspect(const std::string& node) {
  const auto marked =
      slurm_.change_token(node, [](NodeToken& token) { token.health.suspect = true; });
  if (!marked) spdlog::warn("node {}: {}", node, marked.error().sentence);
}

// Written to the audit log before it is done. `counted` is what the brakes want to read later.
Status Containment::act(const ContainTarget& target, const SlurmClient::ChangeToken& counted) {
  auto entry = entry_for(target, AuditKind::kAct, target.gpu_index ? "quarantine" : "drain");
  entry.undo = to_text(target.gpu_index
                           ? Undo{Undo::Kind::kUnquarantine, target.node, *target.gpu_index, {}, {}}
                           : Undo{Undo::Kind::kResume, target.node, 0, {}, {}});
  const auto id = audit_.begin(std::move(entry));
  const auto done = write(target, [&](NodeToken& token) {
    token.health.suspect = token.health.suspect && !token.braked;
    token.health.probation = false;
    if (!target.gpu_index) token.left.clear();  // of an earlier drain
    if (target.gpu_index) token.health.quarantined |= GpuMask{1} << *target.gpu_index;
    counted(token);
  });
  audit_.finish(id, done ? AuditResult::done() : AuditResult::failed(done.error().sentence));
  return done;
}

Status Containment::write(const ContainTarget& target, const SlurmClient::ChangeToken& change) {
  if (target.gpu_index) return slurm_.change_token(target.node, change);
  return slurm_.drain(target.node, target.reason, SlurmClient::OthersReason::kStays, change);
}

void Containment::give_up(const std::string& node) {
  const auto cleared = slurm_.change_token(node, [&](NodeToken& token) {
    token.health.suspect = token.health.suspect && !token.braked;
    clear_wish(token, speaker_for(node));
  });
  if (!cleared) spdlog::warn("node {}: {}", node, cleared.error().sentence);
}

}  // namespace acrf
