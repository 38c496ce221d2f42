// SPDX-License-Identifier: GPL-2.0-or-later
// acrf undo ID: undoes what an entry of the audit log did, if the cluster is still as the entry
// left it. What an admin or somebody else changed since is theirs.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "audit_source.h"
#include "commands.h"
#include "common/admin_act.h"
#include "common/audit_log.h"
#include "common/file.h"
#include "common/slurm_client.h"
#include "core/power_cap.h"
#include "core/undo.h"

namespace acrf {
namespace {

constexpr std::chrono::seconds kWriting{5};

struct Wanted {
  AuditSource source;
  std::int64_t id = 0;
};

Result<AuditRecord> find_record(const std::string& path, std::int64_t id) {
  AuditQuery query;
  query.id = id;
  const auto records = find_audit_records(path, query);
  if (!records) return records.error();
  if (records->empty())
    return Error{ErrorCode::kNotFound, "the audit log has no entry " + std::to_string(id)};
  return records->front();
}

bool is_capped(const std::string& state_dir, const std::string& uuid) {
  const auto text = read_file(power_caps_path(state_dir));
  if (!text) return false;
  const auto caps = parse_power_caps(*text);
  return std::any_of(caps.begin(), caps.end(), [&](const PowerCap& cap) {
    return cap.uuid == uuid && !cap.lifted && !cap.is_others && !cap.restoring;
  });
}

Status lift_cap(const std::string& state_dir, const std::string& uuid) {
  const auto path = power_caps_lift_path(state_dir);
  const auto others = read_file(path);
  return write_file(path, (others ? *others : "") + uuid + "\n");
}

// Whether it may be done, without doing it.
Status check(SlurmClient& slurm, const Undo& undo, const AuditRecord& record,
             const std::string& state_dir) {
  if (undo.kind == Undo::Kind::kUncap) {
    if (is_capped(state_dir, undo.gpu_uuid)) return Done{};
    return Error{ErrorCode::kDenied,
                 "the power limit of GPU " + undo.gpu_uuid + " is not lowered any more"};
  }
  if (undo.kind == Undo::Kind::kRelease) {
    const auto held = slurm.is_held(undo.job);
    if (!held) return held.error();
    if (*held) return Done{};
    return Error{ErrorCode::kDenied, fmt::format("job {} is not held any more", undo.job.value)};
  }
  const auto node = slurm.node(undo.node);
  if (!node) return node.error();
  if (undo.kind == Undo::Kind::kResume) return may_resume(undo.node, *node, record.entry.incident);
  auto health = node->token.health;
  return take_out_of_quarantine(undo, health);
}

// As it is right before.
Status resume(SlurmClient& slurm, const Undo& undo, const AuditRecord& record) {
  const auto node = slurm.node(undo.node);
  if (!node) return node.error();
  if (const auto allowed = may_resume(undo.node, *node, record.entry.incident); !allowed)
    return allowed;
  return slurm.resume(undo.node, node->reason,
                      [](NodeToken& token) { token.health.suspect = false; });
}

Status carry_out(SlurmClient& slurm, const Undo& undo, const AuditRecord& record,
                 const std::string& state_dir) {
  switch (undo.kind) {
    // By acrf-healthd of the node, which knows what the limit was.
    case Undo::Kind::kUncap: return lift_cap(state_dir, undo.gpu_uuid);
    case Undo::Kind::kRelease: return slurm.release(undo.job);
    case Undo::Kind::kResume: return resume(slurm, undo, record);
    case Undo::Kind::kUnquarantine: break;
  }
  Status taken = Done{};
  const auto written = slurm.change_token(
      undo.node, [&](NodeToken& token) { taken = take_out_of_quarantine(undo, token.health); });
  return written ? taken : written;
}

Status undo_entry(const std::string& state_dir, std::int64_t id, bool json) {
  const auto path = audit_path(state_dir);
  const auto record = find_record(path, id);
  if (!record) return record.error();
  const auto undo = undo_of(*record);
  if (!undo) return undo.error();
  SlurmClient slurm;
  if (const auto allowed = check(slurm, *undo, *record, state_dir); !allowed) return allowed;
  AuditEntry entry;
  entry.node = record->entry.node;
  entry.incident = record->entry.incident;
  entry.kind = AuditKind::kAdmin;
  entry.what = "undo";
  entry.subject = record->entry.subject;
  entry.decided_by = calling_admin();
  entry.mode = Mode::kEnforce;
  entry.evidence = fmt::format("{} (entry {})", to_text(*undo), id);
  AuditLog audit({path, {}, kWriting});
  const auto by = audit.begin(std::move(entry));
  if (!by.is_recorded())
    return Error{ErrorCode::kSystem, path + " can't be written: nothing was done"};
  const auto done = carry_out(slurm, *undo, *record, state_dir);
  audit.finish(by, done ? AuditResult::done() : AuditResult::failed(done.error().sentence));
  if (done) audit.mark_undone({id}, by);
  audit.flush(kWriting);
  if (done && json)
    fmt::print(
        "{}\n",
        nlohmann::ordered_json{{"undone", id}, {"by", by.value}, {"did", to_text(*undo)}}.dump());
  else if (done)
    fmt::print("done: {}\n", to_text(*undo));
  return done;
}

}  // namespace

void add_undo_command(CommandLine& line) {
  auto* command = line.app.add_subcommand("undo", "undo what an entry of the audit log did");
  const auto wanted = std::make_shared<Wanted>();
  add_audit_source(command, wanted->source);
  command->add_option("--node", wanted->source.node, "whose audit log (default: this host's)");
  command->add_option("ID", wanted->id, "the entry's number, as acrf audit shows it")
      ->required()
      ->check(CLI::PositiveNumber);
  command->callback([&line, wanted] {
    const auto state_dir = find_state_dir(line, wanted->source);
    if (!state_dir) return fail(line, state_dir.error());
    if (const auto done = undo_entry(*state_dir, wanted->id, line.json); !done)
      fail(line, done.error());
  });
}

}  // namespace acrf
