// SPDX-License-Identifier: GPL-2.0-or-later
// What a node tells the hubs, as the JSON objects of POST /v1/report without their numbers.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/audit_entry.h"
#include "core/gpu_sample.h"
#include "core/incident.h"
#include "core/ladder.h"
#include "core/node_verdict.h"

namespace acrf {

struct ReportedPart {
  int index = 0;  // as Slurm counts, where that is known
  const GpuSample* sample = nullptr;
  const GpuSample* other = nullptr;  // DCGM's, where it is asked
};

// The node as it is now.
struct NodeNow {
  NodeVerdict verdict;
  std::vector<Finding> findings;
  std::vector<ReportedPart> gpus;
  std::vector<std::pair<std::string, CaseState>> cases;  // UUID of the GPU, or empty: the node
};

// unknown, healthy, suspect, probation or attended.
std::string_view state_of(const NodeNow& now);
std::string_view state_of(const NodeNow& now, const GpuSample& sample);

// What it is, and its state; nothing that changes from second to second.
nlohmann::ordered_json gpu_object(const NodeNow& now, const ReportedPart& gpu);

std::string sample_item(const std::vector<ReportedPart>& gpus, std::int64_t unix_ms);
std::string state_item(const NodeNow& now, std::int64_t unix_ms);
// `updated_ms`: when its record was last written.
std::string incident_item(const Incident& incident, const std::string& driver,
                          std::int64_t updated_ms);
std::string audit_item(const AuditRecord& record);

// `item` with its number.
std::string with_number(std::string_view item, std::uint64_t seq);

}  // namespace acrf
