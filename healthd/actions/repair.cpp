// SPDX-License-Identifier: GPL-2.0-or-later
#include "actions/repair.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <ctime>

namespace acrf {
namespace {

using std::chrono::seconds;

// A drain that is missing for longer than this was not lost by a controller.
constexpr std::int64_t kMayBeLost_s = 600;
// slurmctld writes changed state within five seconds (its SAVE_MAX_WAIT); twice that is safe. A
// return that it has lost is made again on probation, and never after.
constexpr int kLeastProbation_s = 10;
constexpr seconds kSoon{1};
constexpr seconds kLeftAlone{15};

int probation_s(const Config& config) {
  return std::max(config.probation_time_s, kLeastProbation_s);
}

// slurmctld is asked no more often than a state can change.
seconds pause_in(const Case& sick, const Config& config) {
  switch (sick.state) {
    case CaseState::kProbation: {
      const auto left = sick.since_s + probation_s(config) - std::time(nullptr);
      return seconds(std::clamp<std::int64_t>(left, 1, 30));
    }
    case CaseState::kRma:
    case CaseState::kAttended: return seconds(15);
    case CaseState::kQuarantined:
    case CaseState::kDraining: return seconds(2);
    default: return kSoon;
  }
}

LadderLimits limits_of(const Config& config) {
  LadderLimits limits;
  limits.drain_s = config.drain_time_limit_s;
  limits.reset_s = config.reset_time_limit_s;
  limits.reboot_s = config.reboot_time_limit_s;
  limits.test_s = config.test_time_limit_s;
  limits.probation_s = probation_s(config);
  limits.most_remedies = config.max_remedies;
  limits.most_faults = config.max_faults;
  limits.can_reboot = !config.reboot_program.empty() && config.reboot_program != "none";
  return limits;
}

struct Program {
  std::string path;  // empty: there is none
  int limit_s = 0;
};

Program program_for(const Config& config, Act act) {
  switch (act) {
    case Act::kRunReset:
      return {site_program(config, config.reset_program, "reset-gpu"), config.reset_time_limit_s};
    case Act::kRunReboot:
      return {site_program(config, config.reboot_program, ""), config.reset_time_limit_s};
    case Act::kRunReplace:
      return {site_program(config, config.replace_program, ""), config.reset_time_limit_s};
    case Act::kRunTest:
      return {site_program(config, config.test_program, "test-node"), config.test_time_limit_s};
    default: return {};
  }
}

std::string part_name(const Case& sick) {
  return sick.gpu_uuid.empty() ? "node " + sick.node
                               : fmt::format("GPU {} ({})", to_string(sick.gpu), sick.gpu_uuid);
}

std::string drain_reason_of(const Case& sick) {
  return fmt::format("ACRF: {} {} {} [{}]", sick.fault_class,
                     sick.gpu_uuid.empty() ? "node" : to_string(sick.gpu), name_of(sick.asked),
                     sick.id);
}

// Of a GPU whose node serves on; none where its number is not known.
GpuMask bit_of(const Case& sick) { return sick.gpu_index ? GpuMask{1} << *sick.gpu_index : 0; }

// Another case may hold the node of a GPU: what holds the GPU is its own mark.
Hold hold_of(const Case& sick, const NodeView& node) {
  if (node.draining && !is_acrf_reason(node.reason)) return Hold::kOthers;
  if (sick.whole_node) return node.draining ? Hold::kOurs : Hold::kNone;
  if (!sick.gpu_index) return Hold::kUnknown;
  return node.token.health.quarantined & bit_of(sick) ? Hold::kOurs : Hold::kNone;
}

AuditEntry entry_for(const Case& sick, AuditKind kind, std::string what) {
  AuditEntry entry;
  entry.node = sick.node;
  entry.incident = sick.id;
  entry.kind = kind;
  entry.what = std::move(what);
  entry.subject = sick.gpu_uuid.empty() ? sick.node : sick.gpu_uuid;
  entry.decided_by = "ladder: " + sick.fault_class;
  entry.mode = Mode::kEnforce;
  return entry;
}

}  // namespace

Repair::Repair(Parts parts, CaseStore store, std::string node, std::string boot_id)
    : parts_(std::move(parts)),
      store_(std::move(store)),
      node_(std::move(node)),
      boot_id_(std::move(boot_id)),
      program_("/proc/self/exe", node_) {
  std::vector<std::string> complaints;
  for (auto& sick : store_.load_all(std::time(nullptr), complaints)) {
    if (!is_over(sick.state))
      spdlog::info("case {}: {} is {}; taken up again", sick.key, part_name(sick),
                   name_of(sick.state));
    patients_.push_back({std::move(sick)});
  }
  for (const auto& complaint : complaints) spdlog::error("set aside as unreadable: {}", complaint);
}

void Repair::open(const Incident& incident) {
  const auto& root = incident.root;
  const auto now_s = static_cast<std::int64_t>(std::time(nullptr));
  const bool whole_node = !incident.quarantined_gpu;
  const std::string part = root.part.empty() ? root.gpu_uuid : "";
  for (auto& patient : patients_) {
    if (is_over(patient.sick.state) || patient.sick.gpu_uuid != part) continue;
    if (patient.sick.id == incident.id && (patient.sick.whole_node || !whole_node)) return;
    if (incident.quarantined_gpu) patient.sick.gpu_index = incident.quarantined_gpu;
    relapse(patient.sick, incident.id, root.verdict, whole_node, now_s, boot_id_);
    save(patient.sick);
    patient.due = {};
    return;
  }
  Case sick;
  sick.key = sick.id = incident.id;
  sick.node = node_;
  sick.gpu_uuid = part;
  sick.gpu = root.gpu;
  sick.place = place_of(root);
  sick.gpu_index = incident.quarantined_gpu;
  sick.gpus_expected = incident.node_gpus;
  sick.fault_class = root.verdict.fault_class;
  sick.asked = root.verdict.action;
  sick.whole_node = whole_node;
  sick.state = whole_node ? CaseState::kDraining : CaseState::kQuarantined;
  sick.since_s = sick.contained_s = now_s;
  sick.boot_id = root.boot_id;
  sick.faults_s = {root.unix_s};
  save(sick);
  spdlog::info("case {}: {} is {}", sick.key, part_name(sick), name_of(sick.state));
  patients_.push_back({std::move(sick)});
}

void Repair::adopt(const NodeView& node) {
  if (!node.draining || has_open_case() || !enforces_anywhere(parts_.config)) return;
  const auto found = drained_for(node.reason);
  const auto gpus = found ? parts_.slurm.gpus_of_node(node_) : Result<int>(0);
  if (!found || !gpus) return;
  Incident incident;
  incident.node_gpus = *gpus;
  incident.id = found->id;
  incident.node = node_;
  incident.root.verdict = found->verdict;
  if (found->gpu)
    incident.root.gpu = *found->gpu;  // and whose UUID that was is known no more
  else
    incident.root.part = "node";
  incident.root.boot_id = boot_id_;
  incident.root.unix_s = std::time(nullptr);
  open(incident);
}

void Repair::hand_over(const std::string& incident) {
  for (auto& patient : patients_) {
    auto& sick = patient.sick;
    if (sick.id != incident || !keeps_from_jobs(sick.state)) continue;
    const auto before = sick.state;
    PartView view;
    view.now_s = std::time(nullptr);
    view.boot_id = boot_id_;
    take_step(sick, {CaseState::kTakenOver, Act::kNone, "an admin put it back into service"}, view);
    save(sick);
    announce(sick, before, sick.outcome);
  }
}

bool Repair::has_open_case() const {
  return std::any_of(patients_.begin(), patients_.end(),
                     [](const Patient& patient) { return !is_over(patient.sick.state); });
}

bool Repair::hides_only_gpu_of(const std::string& incident) const {
  return std::any_of(patients_.begin(), patients_.end(), [&](const Patient& patient) {
    return patient.sick.id == incident && !patient.sick.whole_node &&
           keeps_from_jobs(patient.sick.state);
  });
}

bool Repair::has_returned(const std::string& incident) const {
  return std::any_of(patients_.begin(), patients_.end(), [&](const Patient& patient) {
    return patient.sick.id == incident && (patient.sick.state == CaseState::kProbation ||
                                           patient.sick.state == CaseState::kHealthy);
  });
}

Repair::Clock::time_point Repair::step(Clock::time_point now) {
  auto next = Clock::time_point::max();
  for (auto& patient : patients_) {
    if (is_over(patient.sick.state)) continue;
    if (now >= patient.due) step_case(patient, now);
    next = std::min(next, patient.due);
  }
  return next;
}

void Repair::step_case(Patient& patient, Clock::time_point now) {
  const auto node = parts_.slurm.node(node_);
  memory_.controller_was_away = memory_.controller_was_away || !node || node->answer_was_slow ||
                                node->controller_started_unix_s != controller_started_s_;
  if (!node) spdlog::warn("case {}: {}; trying again", patient.sick.key, node.error().sentence);
  const auto view = look(patient.sick, node, now);
  if (view.hold == Hold::kOurs) {
    memory_ = {false, node->token.acted ? node->token.acted->unix_s : 0};
    controller_started_s_ = node->controller_started_unix_s;
  }
  note_program_end(patient.sick, view.program);
  const auto step = next_step(patient.sick, view, others(patient.sick), limits_of(parts_.config));
  const auto before = patient.sick.state;
  patient.due = now + pause_in(patient.sick, parts_.config);
  // One program at a time: what can't be started now must not be recorded as started.
  if (is_program(step.act) && !program_.is_free()) return;
  if (is_left_alone(patient, step, view)) {
    patient.due = now + kLeftAlone;
    return;
  }
  if (!leave(patient.sick, step) || !record(patient.sick, step, view)) return;
  if (step.state != before) {
    announce(patient.sick, before, step.why);
    patient.due = now;
  }
  carry_out(patient.sick, step, now);
}

// Where people work, or where ACRF may only watch, the case stands still; an admin's word ends it
// there, too. A proof of health from before is none afterwards: the test is made again.
bool Repair::is_left_alone(Patient& patient, const LadderStep& step, const PartView& view) {
  auto& sick = patient.sick;
  const bool is_news = step.state != sick.state || step.act != Act::kNone;
  if (!is_news || step.state == CaseState::kTakenOver || step.act == Act::kContain) return false;
  const auto why = parts_.containment.why_left_alone(sick.node, sick.fault_class);
  if (!why) spdlog::warn("case {}: {}; trying again", sick.key, why.error().sentence);
  if (why && why->empty()) {
    patient.left_alone.clear();
    return false;
  }
  if (sick.state == CaseState::kTesting && view.program != ProgramState::kRunning) {
    program_.forget(sick.key);
    sick.since_s = view.now_s;
  }
  if (!why || *why == patient.left_alone) return true;
  patient.left_alone = *why;
  spdlog::warn("case {}: {} stays {}: {}", sick.key, part_name(sick), name_of(sick.state), *why);
  auto entry = entry_for(sick, AuditKind::kDecision, "hold");
  parts_.audit.record(std::move(entry), AuditResult::skipped(*why));
  return true;
}

// What has to be done before the state is left. False: not yet.
bool Repair::leave(const Case& sick, const LadderStep& step) {
  const bool ends = sick.state == CaseState::kProbation && step.state != CaseState::kProbation;
  return !ends || end_probation(sick);
}

// Takes the step and saves it, before its act. False: what must not be done twice is not done, for
// it could not be recorded.
bool Repair::record(Case& sick, const LadderStep& step, const PartView& view) {
  Case after = sick;
  take_step(after, step, view);
  const bool is_news =
      step.state != sick.state || step.act != Act::kNone || after.contained_s != sick.contained_s;
  const bool saved = !is_news || save(after);
  if (!saved && (step.act == Act::kRunReset || step.act == Act::kRunReboot)) return false;
  sick = std::move(after);
  return true;
}

void Repair::announce(const Case& sick, CaseState before, const std::string& why) {
  program_.forget(sick.key);
  spdlog::warn("case {}: {}: {} -> {}: {}", sick.key, part_name(sick), name_of(before),
               name_of(sick.state), why);
  auto entry = entry_for(sick, AuditKind::kDecision, std::string(name_of(sick.state)));
  entry.evidence = why;
  parts_.audit.record(std::move(entry), AuditResult::done());
  parts_.tell(sick, why);
}

// While slurmctld does not say, it may.
bool Repair::may_be_in_use(GpuMask gpus) {
  const auto used = parts_.slurm.gpus_in_use(node_);
  return !used || (*used & gpus) != 0;
}

PartView Repair::look(const Case& sick, const Result<NodeView>& node, Clock::time_point now) {
  PartView view;
  view.now_s = std::time(nullptr);
  view.boot_id = boot_id_;
  view.program = program_.state(sick.key, now);
  view.program_lost =
      sick.program_started && !sick.program_ended && !begun_here_.contains(sick.key);
  if (node) {
    view.hold = hold_of(sick, *node);
    view.busy = node->busy && (sick.whole_node || may_be_in_use(bit_of(sick)));
    view.may_be_lost =
        (memory_.controller_was_away || node->controller_started_unix_s >= sick.contained_s) &&
        !memory_.is_kept_by(*node) && view.now_s - sick.contained_s < kMayBeLost_s;
  }
  view.gpu_in_place = parts_.signs.gpu_at(sick.gpu);
  // A GPU that was lost before anybody knew its UUID is known by its place once it answers again.
  const auto& gpu = sick.gpu_uuid.empty() ? view.gpu_in_place : sick.gpu_uuid;
  view.fault = is_silence({sick.fault_class}) ? parts_.signs.sign_of_silence(sick.since_s)
                                              : parts_.signs.sign_of(gpu, sick.since_s);
  const auto recent_s = view.now_s - 3 * parts_.config.sample_interval_s - 1;
  view.complete =
      parts_.signs.answering_since(std::max(sick.since_s, recent_s)) >= sick.gpus_expected;
  return view;
}

void Repair::carry_out(const Case& sick, const LadderStep& step, Clock::time_point now) {
  switch (step.act) {
    case Act::kNone:
    case Act::kEndProbation: return;  // done before the state was left
    case Act::kContain: return contain_again(sick);
    case Act::kReturn: return return_to_service(sick);
    case Act::kRunReset:
    case Act::kRunReboot:
    case Act::kRunReplace:
    case Act::kRunTest: return run_program(sick, step.act, now);
  }
}

void Repair::contain_again(const Case& sick) {
  const auto contained =
      parts_.containment.contain({node_, sick.whole_node ? std::nullopt : sick.gpu_index, sick.id,
                                  sick.fault_class, drain_reason_of(sick), "ladder", ""});
  if (contained.state != Contained::State::kDone)
    spdlog::warn("case {}: {} is not kept from jobs: {}", sick.key, part_name(sick),
                 contained.sentence);
}

// Every program gets the same arguments: node, GPU's UUID and address, class and incident. Jobs may
// be at work on the other GPUs: a test is told how much is its own.
void Repair::run_program(const Case& sick, Act act, Clock::time_point now) {
  begun_here_.insert(sick.key);
  const auto program = program_for(parts_.config, act);
  if (program.path.empty()) return program_.be_missing(sick.key);
  auto entry = entry_for(sick, AuditKind::kProgram, std::string(name_of(act)));
  entry.evidence = program.path;
  program_audit_ = parts_.audit.begin(std::move(entry));
  spdlog::warn("case {}: {} of {}: {} runs", sick.key, name_of(act), part_name(sick), program.path);
  const bool is_gpu = !sick.gpu_uuid.empty();
  std::vector<std::string> command = {
      program.path,     node_,  is_gpu ? sick.gpu_uuid : "-", is_gpu ? to_string(sick.gpu) : "-",
      sick.fault_class, sick.id};
  if (act == Act::kRunTest) command.push_back(sick.whole_node ? "node" : "gpu");
  const auto started = program_.start(sick.key, command, program.limit_s, now);
  if (!started) parts_.audit.finish(program_audit_, AuditResult::failed(started.error().sentence));
  if (started && act == Act::kRunReset)
    parts_.signs.rest_looks_until(now + std::chrono::seconds(program.limit_s));
}

void Repair::note_program_end(Case& sick, ProgramState state) {
  if (state == ProgramState::kNone || state == ProgramState::kRunning) return;
  parts_.signs.rest_looks_until({});
  if (!sick.program_ended) {
    sick.program_ended = true;
    save(sick);
  }
  if (program_audit_.value == 0) return;
  const bool passed = state == ProgramState::kPassed;
  spdlog::info("case {}: the program {}: {}", sick.key, passed ? "succeeded" : "did not succeed",
               program_.output());
  parts_.audit.finish(program_audit_, passed ? AuditResult::done(program_.output())
                                             : AuditResult::failed(program_.output()));
  program_audit_ = {};
}

std::vector<Case> Repair::others(const Case& sick) const {
  std::vector<Case> others;
  for (const auto& patient : patients_)
    if (patient.sick.key != sick.key) others.push_back(patient.sick);
  return others;
}

bool Repair::others_hold_node(const Case& sick) const {
  return std::any_of(patients_.begin(), patients_.end(), [&](const Patient& patient) {
    return patient.sick.key != sick.key && patient.sick.whole_node &&
           keeps_from_jobs(patient.sick.state);
  });
}

// Only what ACRF took away is given back, and only what still carries its word.
void Repair::return_to_service(const Case& sick) {
  if (sick.whole_node && others_hold_node(sick)) return;
  const auto node = parts_.slurm.node(node_);
  if (!node) return;
  const auto change = [&](NodeToken& token) {
    token.health.probation = true;
    token.health.suspect = false;  // for which a brake had held it
    if (sick.whole_node) token.left.clear();
    token.health.quarantined &= ~bit_of(sick);
  };
  if (sick.whole_node && !(node->draining && is_acrf_reason(node->reason))) return;
  // slurmctld would refuse, and yet end the drain.
  if (sick.whole_node && node->unheard) return;
  const auto id = parts_.audit.begin(
      entry_for(sick, AuditKind::kReturn, sick.whole_node ? "resume" : "unquarantine"));
  const auto done = sick.whole_node ? parts_.slurm.resume(node_, node->reason, change)
                                    : parts_.slurm.change_token(node_, change);
  parts_.audit.finish(id, done ? AuditResult::done() : AuditResult::failed(done.error().sentence));
  if (!done) return spdlog::error("case {}: {}; trying again", sick.key, done.error().sentence);
  spdlog::warn("case {}: {} is back in service, on probation", sick.key, part_name(sick));
}

bool Repair::end_probation(const Case& sick) {
  const bool another = std::any_of(patients_.begin(), patients_.end(), [&](const Patient& other) {
    return other.sick.key != sick.key && other.sick.state == CaseState::kProbation;
  });
  if (another) return true;
  const auto done =
      parts_.slurm.change_token(node_, [](NodeToken& token) { token.health.probation = false; });
  if (!done) spdlog::error("case {}: {}; trying again", sick.key, done.error().sentence);
  return done.ok();
}

bool Repair::save(const Case& sick) {
  const auto saved = store_.save(sick);
  problem_.note(saved);
  return saved.ok();
}

}  // namespace acrf
