// SPDX-License-Identifier: GPL-2.0-or-later
// An incident's way through healthd, slurmctld and the jobs, put together from what each of them
// has told, in the order of time.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hub/model.h"

namespace acrf::hub {

class Trace {
 public:
  // As the API shows them.
  void add_incident(const nlohmann::ordered_json& incident);
  void add_audit(const nlohmann::ordered_json& record);

  // The node's reason now; it counts when it names the incident.
  void add_reason(const std::string& reason, const std::string& id);

  // Jobs that were requeued for the incident, by the entries added so far.
  std::vector<std::uint32_t> requeued_jobs() const;
  // Such a job as it is now.
  void add_restart(const JobLook& job);

  nlohmann::ordered_json to_json() const;

 private:
  struct Step {
    std::int64_t unix_ms = 0;
    std::string part, what, text;
  };
  struct Requeue {
    std::uint32_t job = 0;
    std::int64_t unix_ms = 0;
  };

  std::vector<Step> steps_;
  std::vector<Requeue> requeues_;
  std::int64_t opened_ms_ = 0, drained_ms_ = 0;
};

}  // namespace acrf::hub
