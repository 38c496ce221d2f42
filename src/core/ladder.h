// SPDX-License-Identifier: GPL-2.0-or-later
// The way of a sick part (a GPU, or the node itself) back into service, or to the people who
// replace it. A case begins when the part has been taken from the jobs; from then on each look at
// the world gives the one step that follows from it. Nothing is remembered but the case itself,
// which is recorded before its step's act: a daemon that was killed asks again and goes on.
//
//   quarantined -> drained -> resetting -> testing -> probation -> healthy
//   draining    ----^  ^----- rebooting ----^  |
//                      ^------- not cured -----+          rma, attended: people
//
// Each remedy that does not cure raises the next: reset, reboot, replacement. doc/design/repair.md
// lists every transition.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/fault.h"

namespace acrf {

enum class CaseState {
  kQuarantined,  // the GPU is hidden from jobs, one may still hold it; its node serves on
  kDraining,     // the node is drained, jobs run on it still
  kDrained,      // no job is left on the part: the next remedy is chosen
  kResetting,
  kRebooting,
  kTesting,    // a remedy was tried: is the part healthy?
  kProbation,  // back in service, for small jobs
  kRma,        // the part must be replaced
  kAttended,   // automation has come to its end; people decide
  // The case is over.
  kHealthy,    // proven, and in service
  kTakenOver,  // an admin has the part now
};

enum class Remedy { kNone, kReset, kReboot, kReplace };

std::string_view name_of(CaseState state);
std::string_view name_of(Remedy remedy);
std::optional<CaseState> parse_case_state(std::string_view name);
std::optional<Remedy> parse_remedy(std::string_view name);

bool is_over(CaseState state);
// The states in which nothing more happens until people act.
bool waits_for_people(CaseState state);
// The states in which the part is kept from jobs.
bool keeps_from_jobs(CaseState state);

struct TriedRemedy {
  Remedy remedy = Remedy::kNone;
  std::int64_t unix_s = 0;
};

struct Case {
  std::string key;  // its own lasting name: the first incident's
  std::string id;   // of the incident that it is about now
  std::string node;
  std::string gpu_uuid;  // empty: the node itself
  PciAddress gpu;
  std::string place;             // as findings name it
  std::optional<int> gpu_index;  // among the node's GPUs as Slurm counts them
  int gpus_expected = 0;         // of the node
  std::string fault_class;
  Action asked = Action::kDrain;  // by the verdict
  bool whole_node = true;         // the node is drained; false: only the GPU is in quarantine
  CaseState state = CaseState::kDraining;
  std::int64_t since_s = 0;      // when it came into the state
  std::int64_t contained_s = 0;  // when the part was first seen kept from jobs in this state
  std::string boot_id;           // of the fault, then when the last remedy or test began
  bool program_started = false;  // the state's program; recorded before it runs
  bool program_ended = true;     // and its end was seen: false when the daemon died meanwhile
  std::vector<TriedRemedy> tried;
  std::vector<std::int64_t> faults_s;  // bursts that belong to it, the first one first
  std::int64_t ended_s = 0;
  std::string outcome;  // for people
};

// Whether slurmctld keeps the part from jobs, and on whose word.
enum class Hold {
  kUnknown,  // slurmctld did not answer
  kNone,
  kOurs,
  kOthers,  // drained for another reason: its owner's
};

enum class Sign { kUnknown, kPresent, kGone };
enum class ProgramState { kNone, kRunning, kPassed, kFailed, kLate, kMissing };

// What is true of the part right now.
struct PartView {
  std::int64_t now_s = 0;
  std::string boot_id;
  Hold hold = Hold::kUnknown;
  bool may_be_lost = false;  // a controller may have lost what it was told
  bool busy = true;          // a job holds it
  Sign fault = Sign::kUnknown;
  bool complete = false;     // the node has all its GPUs
  std::string gpu_in_place;  // UUID of the GPU that answers where it was; empty: unknown
  ProgramState program = ProgramState::kNone;
  bool program_lost = false;  // it ended with the daemon that ran it, or was never run
};

struct LadderLimits {
  std::int64_t drain_s = 7 * 86400;
  std::int64_t reset_s = 120;
  std::int64_t reboot_s = 1800;
  std::int64_t test_s = 1800;
  std::int64_t probation_s = 86400;
  int most_remedies = 5;   // of a node in seven days
  int most_faults = 5;     // of a part in a day
  bool can_reboot = true;  // there is a program for it
};

enum class Act {
  kNone,
  kContain,  // keep it from jobs (again): drain the node or hide the GPU, by the brakes' leave
  kRunReset,
  kRunReboot,
  kRunReplace,  // tell the site's program that the part must go
  kRunTest,
  kReturn,  // resume the node or take the GPU out of quarantine, on probation
  kEndProbation,
};

std::string_view name_of(Act act);
// Runs a program of the site.
bool is_program(Act act);

struct LadderStep {
  CaseState state;
  Act act = Act::kNone;
  std::string why;  // of a change, for people
};

// The step that follows. `past` are the node's other cases, for what was tried before.
LadderStep next_step(const Case& sick, const PartView& view, std::span<const Case> past,
                     const LadderLimits& limits);

// Records the step in the case; to be saved before the act.
void take_step(Case& sick, const LadderStep& step, const PartView& view);

// A fault on a part whose case is open, for which the part, or with `whole_node` its node, has been
// taken from the jobs. True when it changed the case: one on probation goes back, and one about a
// GPU whose node served on becomes one about the node.
bool relapse(Case& sick, const std::string& incident_id, const Verdict& verdict, bool whole_node,
             std::int64_t now_s, const std::string& boot_id);

}  // namespace acrf
