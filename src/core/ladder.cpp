// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/ladder.h"

#include <algorithm>
#include <iterator>

namespace acrf {
namespace {

constexpr std::int64_t kDay = 86400;
constexpr std::int64_t kRemembered_s = 30 * kDay;
constexpr std::int64_t kRemedyWindow_s = 7 * kDay;
// A program is ended by its own limit; this much later its silence counts as one.
constexpr std::int64_t kGrace_s = 30;

template <typename Enum>
struct Name {
  Enum value;
  std::string_view name;
};

constexpr Name<CaseState> kStates[] = {
    {CaseState::kQuarantined, "quarantined"}, {CaseState::kDraining, "draining"},
    {CaseState::kDrained, "drained"},         {CaseState::kResetting, "resetting"},
    {CaseState::kRebooting, "rebooting"},     {CaseState::kTesting, "testing"},
    {CaseState::kProbation, "probation"},     {CaseState::kRma, "rma"},
    {CaseState::kAttended, "attended"},       {CaseState::kHealthy, "healthy"},
    {CaseState::kTakenOver, "taken_over"}};
constexpr Name<Remedy> kRemedies[] = {{Remedy::kNone, "none"},
                                      {Remedy::kReset, "reset"},
                                      {Remedy::kReboot, "reboot"},
                                      {Remedy::kReplace, "replace"}};
constexpr Name<Act> kActs[] = {
    {Act::kNone, "none"},        {Act::kContain, "contain"},           {Act::kRunReset, "reset"},
    {Act::kRunReboot, "reboot"}, {Act::kRunReplace, "replace"},        {Act::kRunTest, "test"},
    {Act::kReturn, "return"},    {Act::kEndProbation, "end_probation"}};

template <typename Enum, std::size_t N>
std::string_view find_name(const Name<Enum> (&names)[N], Enum value) {
  for (const auto& each : names)
    if (each.value == value) return each.name;
  return "unknown";
}

template <typename Enum, std::size_t N>
std::optional<Enum> find_value(const Name<Enum> (&names)[N], std::string_view name) {
  for (const auto& each : names)
    if (each.name == name) return each.value;
  return std::nullopt;
}

Remedy asked_remedy(Action action) {
  switch (action) {
    case Action::kResetGpu: return Remedy::kReset;
    case Action::kRebootNode: return Remedy::kReboot;
    case Action::kRma: return Remedy::kReplace;
    default: return Remedy::kNone;
  }
}

Remedy above(Remedy remedy) {
  return remedy == Remedy::kReplace ? remedy : static_cast<Remedy>(static_cast<int>(remedy) + 1);
}

bool same_part(const Case& a, const Case& b) { return a.gpu_uuid == b.gpu_uuid; }

// The least remedy that is worth trying after what was tried on the part in the last 30 days.
Remedy least_after(const Case& tried, std::int64_t now_s) {
  Remedy least = Remedy::kNone;
  for (const auto& each : tried.tried)
    if (now_s - each.unix_s < kRemembered_s) least = std::max(least, above(each.remedy));
  return least;
}

Remedy next_remedy(const Case& sick, std::span<const Case> past, std::int64_t now_s) {
  Remedy remedy = std::max(asked_remedy(sick.asked), least_after(sick, now_s));
  for (const auto& other : past)
    if (same_part(sick, other)) remedy = std::max(remedy, least_after(other, now_s));
  // A node has nothing to reset.
  return remedy == Remedy::kReset && sick.gpu_uuid.empty() ? Remedy::kReboot : remedy;
}

// What was tried on the node, whichever its part: a test alone is no remedy.
int remedies_in_week(const Case& sick, std::int64_t now_s) {
  return static_cast<int>(
      std::count_if(sick.tried.begin(), sick.tried.end(), [&](const TriedRemedy& each) {
        return each.remedy != Remedy::kNone && now_s - each.unix_s < kRemedyWindow_s;
      }));
}

int faults_in_day(const Case& sick, std::int64_t now_s) {
  return static_cast<int>(
      std::count_if(sick.faults_s.begin(), sick.faults_s.end(),
                    [&](std::int64_t unix_s) { return now_s - unix_s < kDay; }));
}

// Why automation should not go on with this part; nothing: it may.
std::optional<std::string> cap_reached(const Case& sick, std::span<const Case> past,
                                       std::int64_t now_s, const LadderLimits& limits) {
  int remedies = remedies_in_week(sick, now_s);
  int faults = faults_in_day(sick, now_s);
  for (const auto& other : past) {
    remedies += remedies_in_week(other, now_s);
    if (same_part(sick, other)) faults += faults_in_day(other, now_s);
  }
  if (remedies >= limits.most_remedies)
    return std::to_string(remedies) + " remedies on this node in seven days";
  if (faults >= limits.most_faults) return std::to_string(faults) + " faults of this part in a day";
  return std::nullopt;
}

bool is_replaced(const Case& sick, const PartView& view) {
  return !sick.gpu_uuid.empty() && !view.gpu_in_place.empty() && view.gpu_in_place != sick.gpu_uuid;
}

LadderStep stay(const Case& sick, Act act = Act::kNone) { return {sick.state, act, ""}; }

LadderStep choose_remedy(const Case& sick, const PartView& view, std::span<const Case> past,
                         const LadderLimits& limits) {
  if (is_replaced(sick, view)) return {CaseState::kTesting, Act::kNone, "the part was replaced"};
  if (view.boot_id != sick.boot_id)
    return {CaseState::kTesting, Act::kNone, "the node was rebooted"};
  const Remedy remedy = next_remedy(sick, past, view.now_s);
  if (remedy == Remedy::kReplace)
    return {CaseState::kRma, Act::kNone, "nothing short of a replacement is left to try"};
  if (const auto cap = cap_reached(sick, past, view.now_s, limits))
    return {CaseState::kAttended, Act::kNone, *cap};
  if (remedy == Remedy::kNone)
    return {CaseState::kTesting, Act::kNone, "the fault asks for a test"};
  if (remedy == Remedy::kReset) return {CaseState::kResetting, Act::kNone, "a reset may cure it"};
  if (!limits.can_reboot)
    return {CaseState::kAttended, Act::kNone,
            "only a reboot is left to try, and there is no program for it"};
  // The GPU's node serves on: it has to be emptied for a reboot.
  if (!sick.whole_node) return {CaseState::kDraining, Act::kNone, "the node must be rebooted"};
  return {CaseState::kRebooting, Act::kNone, "a reboot may cure it"};
}

LadderStep while_draining(const Case& sick, const PartView& view, const LadderLimits& limits) {
  // Begun before the fault that brought the case back here: it comes to its end first.
  const auto longest_s = std::max(limits.reset_s, limits.test_s) + kGrace_s;
  if (view.program == ProgramState::kRunning && view.now_s - sick.since_s <= longest_s)
    return stay(sick);
  if (!view.busy) return {CaseState::kDrained, Act::kNone, "no job is left on it"};
  if (view.now_s - sick.since_s > limits.drain_s)
    return {CaseState::kAttended, Act::kNone, "its jobs do not end"};
  return stay(sick);
}

LadderStep while_resetting(const Case& sick, const PartView& view, const LadderLimits& limits) {
  if (view.boot_id != sick.boot_id)
    return {CaseState::kTesting, Act::kNone, "the node was rebooted"};
  if (!sick.program_started) {
    // Whoever got the part since then must not lose it to a reset.
    if (view.busy)
      return {sick.whole_node ? CaseState::kDraining : CaseState::kQuarantined, Act::kNone,
              "a job holds it again"};
    return stay(sick, Act::kRunReset);
  }
  switch (view.program) {
    case ProgramState::kRunning:
      if (view.now_s - sick.since_s <= limits.reset_s + kGrace_s) return stay(sick);
      [[fallthrough]];
    case ProgramState::kLate: return {CaseState::kDrained, Act::kNone, "the reset took too long"};
    case ProgramState::kFailed: return {CaseState::kDrained, Act::kNone, "the reset failed"};
    case ProgramState::kMissing:
      return {CaseState::kDrained, Act::kNone, "there is no program for a reset"};
    case ProgramState::kPassed: return {CaseState::kTesting, Act::kNone, "it was reset"};
    case ProgramState::kNone: break;
  }
  // Begun by a daemon that was killed: whether it was done, the test will say.
  return {CaseState::kTesting, Act::kNone, "a reset was begun"};
}

// A program ends with its daemon. Where the next one finds the same boot after a quarter of the
// limit, nothing came of it; once more is all, for the limit goes on.
bool may_reboot_again(const Case& sick, const PartView& view, const LadderLimits& limits) {
  const auto begun =
      std::count_if(sick.tried.begin(), sick.tried.end(), [&](const TriedRemedy& each) {
        return each.remedy == Remedy::kReboot && each.unix_s >= sick.since_s;
      });
  return view.program == ProgramState::kNone && !view.busy && begun < 2 &&
         view.now_s - sick.since_s > limits.reboot_s / 4;
}

LadderStep while_rebooting(const Case& sick, const PartView& view, const LadderLimits& limits) {
  if (view.boot_id != sick.boot_id)
    return {CaseState::kTesting, Act::kNone, "the node was rebooted"};
  if (!sick.program_started) {
    if (view.busy) return {CaseState::kDraining, Act::kNone, "a job is on the node again"};
    return stay(sick, Act::kRunReboot);
  }
  if (view.program == ProgramState::kMissing)
    return {CaseState::kAttended, Act::kNone, "there is no program for a reboot"};
  if (view.program == ProgramState::kFailed)
    return {CaseState::kAttended, Act::kNone, "the reboot could not be begun"};
  if (view.now_s - sick.since_s > limits.reboot_s)
    return {CaseState::kAttended, Act::kNone, "it was told to reboot and has not"};
  return stay(sick, may_reboot_again(sick, view, limits) ? Act::kRunReboot : Act::kNone);
}

LadderStep while_testing(const Case& sick, const PartView& view, const LadderLimits& limits) {
  const bool late = view.now_s - sick.since_s > 2 * limits.test_s + kGrace_s;
  // Nobody will hear of the old one again. The new one is tested from there.
  if (is_replaced(sick, view) && view.program != ProgramState::kRunning)
    return {CaseState::kDrained, Act::kNone, "the part was replaced"};
  if (view.fault == Sign::kPresent)
    return {CaseState::kDrained, Act::kNone, "the fault is still there"};
  switch (view.program) {
    case ProgramState::kFailed: return {CaseState::kDrained, Act::kNone, "the test failed"};
    case ProgramState::kLate: return {CaseState::kDrained, Act::kNone, "the test took too long"};
    case ProgramState::kMissing:
      return {CaseState::kAttended, Act::kNone, "there is no test that could prove its health"};
    case ProgramState::kPassed:
      if (view.fault == Sign::kGone && view.complete && !view.busy && view.hold == Hold::kOurs)
        return {CaseState::kProbation, Act::kReturn, "the fault is gone and the test passed"};
      break;
    case ProgramState::kRunning:
    case ProgramState::kNone: break;
  }
  if (late)
    return view.complete
               ? LadderStep{CaseState::kAttended, Act::kNone, "its health could not be proven"}
               : LadderStep{CaseState::kDrained, Act::kNone, "the node does not have all its GPUs"};
  const bool testable = view.fault == Sign::kGone && view.complete && !view.busy;
  // A test that a killed daemon had begun is made again: it changes nothing.
  if (view.program == ProgramState::kNone && testable) return stay(sick, Act::kRunTest);
  return stay(sick);
}

LadderStep on_probation(const Case& sick, const PartView& view, const LadderLimits& limits) {
  if (view.hold == Hold::kOurs) {
    // The return was not done yet, or a controller has lost it. The proof is this boot's.
    const bool proven = view.boot_id == sick.boot_id && view.fault != Sign::kPresent;
    if (proven) return stay(sick, Act::kReturn);
    return {CaseState::kTesting, Act::kNone, "it was not back in service and must be tested anew"};
  }
  if (view.hold == Hold::kNone && view.now_s - sick.since_s >= limits.probation_s)
    return {CaseState::kHealthy, Act::kEndProbation, "no fault while on probation"};
  return stay(sick);
}

LadderStep while_people_decide(const Case& sick, const PartView& view) {
  if (is_replaced(sick, view)) return {CaseState::kTesting, Act::kNone, "the part was replaced"};
  const bool to_tell =
      sick.state == CaseState::kRma && (!sick.program_started || view.program_lost);
  return stay(sick, to_tell ? Act::kRunReplace : Act::kNone);
}

// What counts as tried once the step is taken. A reboot that somebody else made counts too, and so
// does a test without a remedy: it is not made twice for the same fault.
std::optional<Remedy> begun_remedy(const Case& sick, const LadderStep& step, const PartView& view) {
  if (step.act == Act::kRunReset) return Remedy::kReset;
  if (step.act == Act::kRunReboot) return Remedy::kReboot;
  if (sick.state != CaseState::kDrained || step.state != CaseState::kTesting ||
      is_replaced(sick, view))
    return std::nullopt;
  return view.boot_id != sick.boot_id ? Remedy::kReboot : Remedy::kNone;
}

// An admin's word goes before ACRF's. Nothing: nobody has spoken.
std::optional<LadderStep> admins_word(const Case& sick, const PartView& view) {
  if (view.hold == Hold::kOthers)
    return LadderStep{CaseState::kTakenOver, Act::kNone, "the node is drained for another reason"};
  const bool should_be_held = keeps_from_jobs(sick.state) && sick.contained_s > 0;
  if (view.hold == Hold::kNone && should_be_held && !view.may_be_lost)
    return LadderStep{CaseState::kTakenOver, Act::kNone, "an admin put it back into service"};
  return std::nullopt;
}

}  // namespace

std::string_view name_of(CaseState state) { return find_name(kStates, state); }
std::string_view name_of(Remedy remedy) { return find_name(kRemedies, remedy); }
std::string_view name_of(Act act) { return find_name(kActs, act); }
std::optional<CaseState> parse_case_state(std::string_view name) {
  return find_value(kStates, name);
}
std::optional<Remedy> parse_remedy(std::string_view name) { return find_value(kRemedies, name); }

bool is_over(CaseState state) {
  return state == CaseState::kHealthy || state == CaseState::kTakenOver;
}

bool waits_for_people(CaseState state) {
  return state == CaseState::kRma || state == CaseState::kAttended;
}

bool keeps_from_jobs(CaseState state) { return !is_over(state) && state != CaseState::kProbation; }

LadderStep next_step(const Case& sick, const PartView& view, std::span<const Case> past,
                     const LadderLimits& limits) {
  if (is_over(sick.state) || view.hold == Hold::kUnknown) return stay(sick);
  if (const auto word = admins_word(sick, view)) return *word;
  // Before anything else is done to the part: it may be new, or a controller has lost it.
  if (view.hold == Hold::kNone && keeps_from_jobs(sick.state)) return stay(sick, Act::kContain);
  switch (sick.state) {
    case CaseState::kQuarantined:
    case CaseState::kDraining: return while_draining(sick, view, limits);
    case CaseState::kDrained: return choose_remedy(sick, view, past, limits);
    case CaseState::kResetting: return while_resetting(sick, view, limits);
    case CaseState::kRebooting: return while_rebooting(sick, view, limits);
    case CaseState::kTesting: return while_testing(sick, view, limits);
    case CaseState::kProbation: return on_probation(sick, view, limits);
    case CaseState::kRma:
    case CaseState::kAttended: return while_people_decide(sick, view);
    case CaseState::kHealthy:
    case CaseState::kTakenOver: break;
  }
  return stay(sick);
}

bool is_program(Act act) {
  return act == Act::kRunReset || act == Act::kRunReboot || act == Act::kRunReplace ||
         act == Act::kRunTest;
}

void take_step(Case& sick, const LadderStep& step, const PartView& view) {
  if (view.hold == Hold::kOurs && sick.contained_s == 0) sick.contained_s = view.now_s;
  if (const auto remedy = begun_remedy(sick, step, view))
    sick.tried.push_back({*remedy, view.now_s});
  if (is_program(step.act)) {
    sick.program_started = true;
    sick.program_ended = false;
  }
  if (step.state == sick.state) {
    if (step.act == Act::kReturn) sick.since_s = view.now_s;  // probation begins with the return
    return;
  }
  if (step.state == CaseState::kDraining && !sick.whole_node) {
    sick.whole_node = true;
    sick.contained_s = 0;  // the GPU is hidden, the node is not drained yet
  }
  // How long ago a fault was does not matter to the reboot that may have cured it.
  const bool emptied = step.state == CaseState::kDrained && sick.state != CaseState::kTesting &&
                       sick.state != CaseState::kResetting;
  if (!emptied) sick.boot_id = view.boot_id;
  // The new part has to be tested, and has no past.
  if (step.state == CaseState::kTesting && is_replaced(sick, view)) {
    sick.gpu_uuid = view.gpu_in_place;
    sick.asked = Action::kDrain;  // what the old one's fault asked for went with it
    sick.tried.clear();
    sick.faults_s.clear();
  }
  sick.state = step.state;
  sick.since_s = view.now_s;
  sick.program_started = false;
  if (!is_over(step.state)) return;
  sick.ended_s = view.now_s;
  sick.outcome = step.why;
}

bool relapse(Case& sick, const std::string& incident_id, const Verdict& verdict, bool whole_node,
             std::int64_t now_s, const std::string& boot_id) {
  if (is_over(sick.state)) return false;
  sick.faults_s.push_back(now_s);
  sick.asked = std::max(sick.asked, verdict.action,
                        [](Action a, Action b) { return asked_remedy(a) < asked_remedy(b); });
  const bool takes_node = whole_node && !sick.whole_node;
  const bool on_probation = sick.state == CaseState::kProbation;
  if (!on_probation && !takes_node) return false;
  sick.id = incident_id;
  sick.fault_class = verdict.fault_class;
  sick.whole_node = whole_node;
  sick.state = whole_node ? CaseState::kDraining : CaseState::kQuarantined;
  sick.since_s = now_s;
  sick.contained_s = on_probation ? 0 : now_s;
  sick.boot_id = boot_id;
  sick.program_started = false;
  return true;
}

}  // namespace acrf
