// SPDX-License-Identifier: GPL-2.0-or-later
// The cluster, its nodes and its GPUs as the commands show them, from slurmctld alone or from a
// hub, and the same as text and JSON. A node that only slurmctld speaks of is not known to be
// healthy: it is shown as "in service".
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/node_verdict.h"
#include "core/gpu_metrics.h"
#include "core/part_state.h"

namespace acrf {

struct GpuView {
  std::string node;
  int index = 0;  // as Slurm counts
  PartState state = PartState::kUnknown;
  bool told = false;  // its node has spoken of it
  std::string uuid, pci, name, vendor;
  std::optional<std::uint32_t> job;
  std::array<std::optional<std::int64_t>, kGpuMetrics.size()> values{};
};

struct IncidentView {
  std::string id, fault_class, severity, state, where, text;
  std::int64_t opened_ms = 0;
};

// A row of a table of nodes, and what is known of one node beyond it.
struct NodeShown {
  std::string name, leaf, slurm_state, reason, verdict;
  std::vector<std::string> partitions;
  PartState state = PartState::kUnknown;
  bool told = false;  // the node itself has spoken
  int gpus = 0, gpus_out = 0;
  std::vector<std::uint32_t> jobs;
  int risk = 0;
  std::int64_t last_report_ms = 0;  // 0: none that is known
};
struct NodeDetails {
  NodeShown node;
  std::string verdict_text, driver, version;
  std::vector<GpuView> gpus;
  std::vector<IncidentView> incidents;  // the newest first
};

struct JobShown {
  std::uint32_t id = 0;
  std::string name, user, partition, state, reason, nodes;
  int gpus = 0;
  unsigned restarts = 0;
  std::int64_t start_ms = 0;
};

// "in service" for a node or GPU of which nobody knows more.
std::string state_word(PartState state, bool told);

// Nagios' status of one part.
CheckStatus check_of(PartState state, bool told);

// Tables with a heading, one row each; `details` is the whole page about one node or GPU.
std::string nodes_text(const std::vector<NodeShown>& nodes);
std::string gpus_text(const std::vector<GpuView>& gpus);
std::string details_text(const NodeDetails& details, std::int64_t now_ms);
std::string gpu_text(const GpuView& gpu);

nlohmann::ordered_json to_json(const NodeShown& node);
nlohmann::ordered_json to_json(const GpuView& gpu);
nlohmann::ordered_json to_json(const NodeDetails& details);
nlohmann::ordered_json to_json(const JobShown& job);

// "3 s", "5 min", "7 h", "2 d"
std::string age_text(std::int64_t ms);

}  // namespace acrf
