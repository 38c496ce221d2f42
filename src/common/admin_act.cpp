// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/admin_act.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

#include "common/admin_rehearsal.h"
#include "core/hostlist.h"

namespace acrf {
namespace {

AuditEntry entry_for(const AdminAct& act) {
  AuditEntry entry;
  entry.node = act.node;
  entry.kind = AuditKind::kAdmin;
  entry.what = name_of(act.kind);
  entry.subject = act.gpu ? fmt::format("{} GPU {}", act.node, *act.gpu) : act.node;
  entry.decided_by = act.by;
  entry.mode = Mode::kEnforce;
  entry.evidence = act.reason;
  entry.undo = undo_text(act);
  return entry;
}

Result<AdminView> look_at(SlurmClient& slurm, const AdminAct& act) {
  AdminView view;
  if (act.kind == AdminAct::Kind::kQuarantine) {
    const auto gpus = slurm.gpus_of_node(act.node);
    if (!gpus) return gpus.error();
    const auto hides = slurm.hides_gpus();
    if (!hides) return hides.error();
    view.gpus = *gpus;
    view.hides_gpus = *hides;
  }
  // Last, so that it is as fresh as can be when the act is done.
  auto node = slurm.node(act.node);
  if (!node) return node.error();
  view.node = std::move(*node);
  return view;
}

Status write(const AdminAct& act, const AdminView& view, SlurmClient& slurm) {
  const auto change = [&](NodeToken& token) { change_token(act, token); };
  switch (act.kind) {
    case AdminAct::Kind::kDrain:
      return slurm.drain(act.node, admin_reason(act), SlurmClient::OthersReason::kGoes);
    case AdminAct::Kind::kReturn: return slurm.resume(act.node, view.node.reason, change);
    case AdminAct::Kind::kQuarantine:
    case AdminAct::Kind::kClear: break;
  }
  return slurm.change_token(act.node, change);
}

std::string sentence_of(const AdminAct& act, const AdminView& view) {
  switch (act.kind) {
    case AdminAct::Kind::kDrain: return fmt::format("node {} is drained", act.node);
    case AdminAct::Kind::kReturn:
      return fmt::format("node {} is back in service{}", act.node,
                         view.node.token.health.quarantined == 0
                             ? ""
                             : "; it has GPUs in quarantine, which clear ends");
    case AdminAct::Kind::kQuarantine:
      return fmt::format("GPU {} of node {} is given to no new job", *act.gpu, act.node);
    case AdminAct::Kind::kClear: break;
  }
  return act.gpu ? fmt::format("GPU {} of node {} is back in service", *act.gpu, act.node)
                 : fmt::format("node {} has no GPU in quarantine and no mark any more", act.node);
}

enum class Earnest { kReally, kRehearsal };

AuditResult attempt(const AdminAct& act, SlurmClient& slurm, Earnest earnest) {
  const auto view = look_at(slurm, act);
  if (!view) return AuditResult::failed(view.error().sentence);
  if (const auto objection = objection_to(act, *view); !objection.empty())
    return AuditResult::skipped(objection);
  if (earnest == Earnest::kRehearsal) return AuditResult::done("nothing stands against it");
  const auto done = write(act, *view, slurm);
  return done ? AuditResult::done(sentence_of(act, *view))
              : AuditResult::failed(done.error().sentence);
}

AuditResult attempt_reset(const ResetScope& scope, SlurmClient& slurm,
                          const std::string& topology_dir) {
  const auto fleet = slurm.fleet(topology_dir);
  if (!fleet) return AuditResult::failed(fleet.error().sentence);
  const auto nodes = nodes_to_reset(*fleet, scope);
  for (const auto& node : nodes) {
    const auto done =
        slurm.change_token(node, [&](NodeToken& token) { reset_marks(token, fleet->now_unix_s); });
    if (!done) return AuditResult::failed(done.error().sentence);
  }
  if (nodes.empty()) return AuditResult::skipped("nothing was counted or held");
  return AuditResult::done("no longer counted or held: " + compress_hostlist(nodes));
}

// Records, then tries.
AdminOutcome audited(AuditEntry entry, AuditLog& audit,
                     const std::function<AuditResult()>& attempt_it) {
  const auto id = audit.begin(std::move(entry));
  if (!id.is_recorded()) {
    const auto result = AuditResult::failed("the audit log can't be written: nothing was done");
    audit.finish(id, result);
    return {id, result};
  }
  const auto result = attempt_it();
  audit.finish(id, result);
  return {id, result};
}

}  // namespace

AdminOutcome carry_out(const AdminAct& act, SlurmClient& slurm, AuditLog& audit) {
  if (const auto fault = fault_in(act); !fault.empty()) return {{}, AuditResult::failed(fault)};
  return audited(entry_for(act), audit, [&] { return attempt(act, slurm, Earnest::kReally); });
}

AuditResult rehearse(const AdminAct& act, SlurmClient& slurm) {
  if (const auto fault = fault_in(act); !fault.empty()) return AuditResult::failed(fault);
  return attempt(act, slurm, Earnest::kRehearsal);
}

AdminOutcome reset_brakes(const ResetScope& scope, const std::string& by, SlurmClient& slurm,
                          AuditLog& audit, const std::string& topology_dir) {
  AuditEntry entry;
  entry.kind = AuditKind::kAdmin;
  entry.what = "brakes-reset";
  entry.subject = !scope.partition.empty()     ? "partition " + scope.partition
                  : !scope.fault_class.empty() ? "class " + scope.fault_class
                                               : "cluster";
  entry.decided_by = by;
  entry.mode = Mode::kEnforce;
  return audited(std::move(entry), audit,
                 [&] { return attempt_reset(scope, slurm, topology_dir); });
}

std::string calling_admin() {
  const char* sudo = std::getenv("SUDO_USER");
  const passwd* user = ::getpwuid(::getuid());
  const std::string name = sudo ? sudo : user ? user->pw_name : "";
  return fmt::format("admin {} ({})", name, ::getuid());
}

}  // namespace acrf
