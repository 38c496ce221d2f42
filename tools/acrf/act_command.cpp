// SPDX-License-Identifier: GPL-2.0-or-later
// acrf drain|return|quarantine|clear: what an admin does to nodes and GPUs, by the same code as the
// hub's actions. Each act is in the audit log before it is done.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "audit_source.h"
#include "cluster_source.h"
#include "cluster_commands.h"
#include "common/admin_act.h"
#include "common/admin_rehearsal.h"
#include "common/config_file.h"
#include "common/slurm_conf_file.h"
#include "core/hostlist.h"
#include "core/text.h"
#include "hub_client.h"

namespace acrf {
namespace {

constexpr std::chrono::seconds kWriting{5};

struct ActOptions {
  AdminAct::Kind kind = AdminAct::Kind::kDrain;
  std::vector<std::string> targets;  // NODES or NODES:GPU
  std::string reason;
  AuditSource audit;
  SourceOptions source;
  bool dry_run = false;
};

// What came of one act.
struct ActReport {
  AdminAct act;
  std::int64_t audit = 0;
  std::string result;  // done, skipped, failed
  std::string sentence;
};

Result<std::vector<AdminAct>> acts_of(const ActOptions& options) {
  std::vector<AdminAct> acts;
  for (const auto& target : options.targets) {
    const auto colon = target.rfind(':');
    AdminAct act{options.kind, "", {}, options.reason, calling_admin()};
    if (colon != std::string::npos) {
      const auto gpu = parse_unsigned(std::string_view(target).substr(colon + 1));
      if (!gpu || *gpu > 63)
        return Error{ErrorCode::kInvalid, target + ": a GPU's number is from 0 to 63"};
      act.gpu = static_cast<int>(*gpu);
    }
    const auto names = expand_hostlist(std::string_view(target).substr(0, colon));
    if (!names) return names.error();
    for (const auto& name : *names) {
      act.node = name;
      if (const auto fault = fault_in(act); !fault.empty())
        return Error{ErrorCode::kInvalid, target + ": " + fault};
      acts.push_back(act);
    }
  }
  return acts;
}

std::string subject_of(const AdminAct& act) {
  return act.gpu ? fmt::format("{}:{}", act.node, *act.gpu) : act.node;
}

bool is_fine(const ActReport& report) {
  return report.result == "done" || report.result == "would be done";
}

void print(const CommandLine& line, const ActReport& report, const std::string& undo) {
  if (line.json) {
    nlohmann::ordered_json all = {{"action", name_of(report.act.kind)},
                                  {"node", report.act.node},
                                  {"result", report.result},
                                  {"text", report.sentence},
                                  {"audit", report.audit}};
    if (report.act.gpu) all["gpu"] = *report.act.gpu;
    return print_json(all);
  }
  const bool done = report.result == "done";
  fmt::print(is_fine(report) ? stdout : stderr, "{} {}: {}: {}{}\n", name_of(report.act.kind),
             subject_of(report.act), report.result, printable_line(report.sentence, 300),
             done && !undo.empty() && !undo_text(report.act).empty()
                 ? fmt::format(" (to undo: {} {})", undo, report.audit)
                 : "");
}

// Every one is tried; that one cannot be done is no reason to leave the others.
void report_on(CommandLine& line, const ActReport& report, const std::string& undo = "") {
  print(line, report, undo);
  if (!is_fine(report)) line.status = 1;
}

void rehearse_all(CommandLine& line, const std::vector<AdminAct>& acts) {
  SlurmClient slurm;
  for (const auto& act : acts) {
    const auto result = rehearse(act, slurm);
    const bool fine = result.state == AuditResult::State::kDone;
    report_on(line, {act, 0, fine ? "would be done" : std::string(name_of(result.state)),
                     result.sentence});
  }
}

void act_through_hub(CommandLine& line, const HubClient& hub, const std::vector<AdminAct>& acts) {
  for (const auto& act : acts) {
    nlohmann::json wanted = {
        {"action", name_of(act.kind)}, {"node", act.node}, {"reason", act.reason}};
    if (act.gpu) wanted["gpu"] = *act.gpu;
    const auto said = hub.act(wanted);
    if (!said) return fail(line, said.error());
    report_on(line, {act, value_of<std::int64_t>(*said, "audit"),
                     value_of<std::string>(*said, "result"), value_of<std::string>(*said, "text")});
  }
}

void act_here(CommandLine& line, const ActOptions& options, const std::vector<AdminAct>& acts) {
  if (::geteuid() != 0)
    return fail(line, {ErrorCode::kDenied, fmt::format("{} is for root, who alone may write the "
                                                       "audit log",
                                                       name_of(options.kind))});
  const auto state_dir = find_state_dir(line, options.audit);
  if (!state_dir) return fail(line, state_dir.error());
  std::error_code error;
  std::filesystem::create_directories(*state_dir, error);
  SlurmClient slurm;
  AuditLog audit({audit_path(*state_dir), {}, kWriting});
  const auto undo =
      "acrf undo" +
      (options.audit.state_dir.empty() ? "" : " --state-dir " + options.audit.state_dir);
  for (const auto& act : acts) {
    const auto outcome = carry_out(act, slurm, audit);
    report_on(line,
              {act, outcome.audit.value, std::string(name_of(outcome.result.state)),
               outcome.result.sentence},
              undo);
  }
  audit.flush(kWriting);
}

void act(CommandLine& line, const ActOptions& options) {
  const auto acts = acts_of(options);
  if (!acts) return fail(line, acts.error());
  if (options.dry_run) return rehearse_all(line, *acts);
  if (options.source.hub.empty() || options.source.hub == "none")
    return act_here(line, options, *acts);
  const auto token = hub_token(options.source);
  if (!token) return fail(line, token.error());
  const auto user = ::geteuid();
  if (token->empty() && user != 0 && user != slurm_user_id(slurm_directory()))
    return fail(line, {ErrorCode::kDenied,
                       fmt::format("{} through a hub is for root and SlurmUser, or for who has an "
                                   "admin's token",
                                   name_of(options.kind))});
  act_through_hub(line, HubClient(options.source.hub, *token), *acts);
}

void add_act(CommandLine& line, AdminAct::Kind kind, const std::string& help,
             const std::string& targets) {
  auto* command = line.app.add_subcommand(std::string(name_of(kind)), help);
  command->fallthrough();
  const auto options = std::make_shared<ActOptions>();
  options->kind = kind;
  command->add_option("TARGET", options->targets, targets)->required();
  command->add_option("--reason", options->reason, "for people, and for the audit log");
  command->add_flag("--dry-run", options->dry_run, "say what would come of it; nothing is done");
  add_audit_source(command, options->audit);
  command->add_option("--hub", options->source.hub,
                      "URL of an acrf-hub that is to do it (default: it is done from here)");
  add_token_option(command, options->source);
  command->callback([&line, options] { act(line, *options); });
}

}  // namespace

void add_act_commands(CommandLine& line) {
  add_act(line, AdminAct::Kind::kDrain, "take nodes from new jobs", "such as gpu[1-4]");
  add_act(line, AdminAct::Kind::kReturn, "end a drain of ACRF's or of acrf drain",
          "such as gpu[1-4]");
  add_act(line, AdminAct::Kind::kQuarantine, "hide GPUs from new jobs",
          "NODES:GPU, such as gpu1:3; GPUs as Slurm counts");
  add_act(line, AdminAct::Kind::kClear, "end quarantine, and a node's suspicion and probation",
          "NODES or NODES:GPU");
}

}  // namespace acrf
