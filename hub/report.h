// SPDX-License-Identifier: GPL-2.0-or-later
// What a node tells the hub: the body of POST /v1/report, read.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/audit_entry.h"
#include "core/gpu_metrics.h"
#include "core/part_state.h"
#include "core/result.h"

namespace acrf::hub {

inline constexpr std::int32_t kNoValue = std::numeric_limits<std::int32_t>::min();

using GpuValues = std::array<std::int32_t, kGpuMetrics.size()>;  // kNoValue: not known
inline constexpr std::size_t kMostGpus = 64;

// Index into kGpuMetrics, or -1.
int metric_named(std::string_view name);

struct ReportedGpu {
  int index = 0;  // in Slurm's numbers, where those are known
  std::string uuid, pci, name, vendor;
  PartState state = PartState::kUnknown;
  bool operator==(const ReportedGpu&) const = default;
};

struct ReportedSample {
  std::vector<GpuValues> gpus;
};
struct ReportedState {
  std::string verdict;  // HEALTHY and so on
  std::string verdict_text;
  PartState state = PartState::kUnknown;
  std::vector<ReportedGpu> gpus;
};
struct ReportedIncident {
  std::string id, node, fault_class, severity, action, driver;
  std::int64_t opened_ms = 0, updated_ms = 0, closed_ms = 0;  // closed: 0 while it is open
  std::string json;  // the object as the API shows it, one line
};
struct ReportedAudit {
  std::int64_t id = 0, unix_ms = 0;
  std::string incident;
  std::string json;
  std::optional<AuditKind> kind = {};  // nullopt: none that this hub knows
  std::optional<AuditResult::State> result = {};
  std::string what = {}, fault_class = {};
};
struct ReportedPeer {
  std::string json;
};

struct ReportItem {
  std::uint64_t seq = 0;
  std::int64_t ms = 0;
  std::variant<ReportedSample, ReportedState, ReportedIncident, ReportedAudit, ReportedPeer> what;
};

struct Report {
  std::string node, boot, stream, version, driver;
  std::uint64_t first = 0;        // the lowest number that the node still has of the stream
  std::vector<ReportItem> items;  // numbers ascend
};

// An Error for anything malformed, oversized or out of order; nothing of such a report is used.
Result<Report> parse_report(std::string_view body);

}  // namespace acrf::hub
