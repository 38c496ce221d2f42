// SPDX-License-Identifier: GPL-2.0-or-later
// What a node tells the hub: the body of POST /v1/report, read.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/result.h"
#include "hub/part_state.h"

namespace acrf::hub {

// What a sample has of each GPU, in this order.
inline constexpr std::array<std::string_view, 8> kMetrics = {
    "temperature_c", "memory_temperature_c", "power_w",       "utilization_percent",
    "ecc_corrected", "ecc_uncorrected",      "nvlink_errors", "pcie_replays"};
inline constexpr std::int32_t kNoValue = std::numeric_limits<std::int32_t>::min();

using GpuValues = std::array<std::int32_t, kMetrics.size()>;  // kNoValue: not known
inline constexpr std::size_t kMostGpus = 64;

// Index into kMetrics, or -1.
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
  std::uint64_t first = 0;  // the lowest number that the node still has of the stream
  std::vector<ReportItem> items;  // numbers ascend
};

// An Error for anything malformed, oversized or out of order; nothing of such a report is used.
Result<Report> parse_report(std::string_view body);

}  // namespace acrf::hub
