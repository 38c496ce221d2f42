// SPDX-License-Identifier: GPL-2.0-or-later
// What is done about GPUs that are too hot, while their jobs run on: the node is marked as hot in
// slurmctld's record, for the brakes of its neighbours to count, and where the site says so the
// power limit of each such GPU is lowered until it has been cool for a while (core/power_cap.h).
// When many nodes of its switch are hot too, people are told and nothing else is done. Called by
// the responder's thread alone.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actions/program_run.h"
#include "common/audit_log.h"
#include "common/lasting_problem.h"
#include "common/slurm_client.h"
#include "core/config.h"
#include "core/incident.h"
#include "core/power_cap.h"
#include "part_signs.h"

namespace acrf {

class PowerCaps {
 public:
  using Clock = std::chrono::steady_clock;

  struct Parts {
    const Config& config;
    SlurmClient& slurm;
    AuditLog& audit;
    const PartSigns& signs;
    const std::string& node;
    const std::string& topology_dir;
    std::function<void(const Incident&, const std::string& state, const std::string& news)> tell;
  };

  // Takes up what an earlier run has lowered.
  explicit PowerCaps(Parts parts);

  // Does what is due; says when to call again.
  Clock::time_point step(Clock::time_point now);

 private:
  // Whether anything may be done about heat here.
  enum class Word { kUnknown, kObserve, kHeld, kFree };

  void note_heat(const std::vector<GpuHeat>& heat, Clock::time_point now);
  Word ask();
  void hold(const std::string& kind, const std::string& why);
  void say_what_would_be_done();
  void mark(bool hot, std::int64_t unix_s);
  void take_lifted();
  void treat(const GpuHeat& gpu, Clock::time_point now);
  void lower(const GpuHeat& gpu, const std::string& path, Clock::time_point now);
  void run(PowerCap& cap, bool lowers, const std::string& path, Clock::time_point now);
  void take_program_end(Clock::time_point now);
  bool save();

  Parts parts_;
  std::string path_;
  std::vector<PowerCap> caps_;
  std::set<std::string> hot_;  // UUIDs
  Word word_ = Word::kUnknown;
  Clock::time_point next_ask_{};
  std::optional<bool> marked_;  // as slurmctld has it; nothing: not known
  std::int64_t marked_s_ = 0;
  Incident incident_;  // of the present heat
  std::string told_;   // of it, in one word
  ProgramRun program_;
  std::string running_;  // UUID of the GPU that the program runs for
  AuditId program_audit_;
  LastingProblem problem_{"record of lowered power limits"};
};

}  // namespace acrf
