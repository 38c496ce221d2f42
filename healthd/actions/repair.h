// SPDX-License-Identifier: GPL-2.0-or-later
// Takes the parts that were kept from jobs up the ladder (core/ladder.h): looks at each case when
// it is due, records the step that follows, then does it. Called by the responder's thread alone.
#pragma once

#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "actions/containment.h"
#include "actions/program_run.h"
#include "common/case_store.h"
#include "common/lasting_problem.h"
#include "core/incident.h"
#include "core/recovery.h"
#include "part_signs.h"

namespace acrf {

class Repair {
 public:
  using Clock = std::chrono::steady_clock;

  struct Parts {
    const Config& config;
    SlurmClient& slurm;
    Containment& containment;
    AuditLog& audit;
    PartSigns& signs;
    std::function<void(const Case&, const std::string& why)> tell;  // people
  };

  // Takes up the cases that an earlier run left open.
  Repair(Parts parts, CaseStore store, std::string node, std::string boot_id);

  // The incident's part has been taken from the jobs.
  void open(const Incident& incident);

  // This node was found drained by ACRF: by a neighbour, for having been silent, or by a daemon
  // that could not record it before it was killed. Opens a case unless one is open.
  void adopt(const NodeView& node);

  // An admin has put the incident's part back into service: its case is the admin's now.
  void hand_over(const std::string& incident);

  // Does what is due; says when to call again.
  Clock::time_point step(Clock::time_point now);

  bool has_open_case() const;
  // The incident's part is a GPU whose node serves on without it.
  bool hides_only_gpu_of(const std::string& incident) const;
  // The part of which the incident speaks has been given back to the jobs.
  bool has_returned(const std::string& incident) const;

 private:
  struct Patient {
    Case sick;
    Clock::time_point due{};
    std::string left_alone{};  // why, as was said last
  };

  void step_case(Patient& patient, Clock::time_point now);
  bool may_be_in_use(GpuMask gpus);
  PartView look(const Case& sick, const Result<NodeView>& node, Clock::time_point now);
  bool is_left_alone(Patient& patient, const LadderStep& step, const PartView& view);
  bool leave(const Case& sick, const LadderStep& step);
  bool record(Case& sick, const LadderStep& step, const PartView& view);
  void announce(const Case& sick, CaseState before, const std::string& why);
  bool save(const Case& sick);
  void carry_out(const Case& sick, const LadderStep& step, Clock::time_point now);
  void contain_again(const Case& sick);
  void run_program(const Case& sick, Act act, Clock::time_point now);
  void note_program_end(Case& sick, ProgramState state);
  void return_to_service(const Case& sick);
  bool end_probation(const Case& sick);
  bool others_hold_node(const Case& sick) const;
  std::vector<Case> others(const Case& sick) const;

  Parts parts_;
  CaseStore store_;
  std::string node_;
  std::string boot_id_;
  ProgramRun program_;
  AuditId program_audit_;
  std::set<std::string> begun_here_;  // cases whose last program this daemon has run
  std::vector<Patient> patients_;
  LastingProblem problem_{"cases of repair"};
  Memory memory_{true, 0};                 // nobody knows what it did before this daemon began
  std::int64_t controller_started_s_ = 0;  // of the one that last held a part for us
};

}  // namespace acrf
