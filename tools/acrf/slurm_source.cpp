// SPDX-License-Identifier: GPL-2.0-or-later
#include "slurm_source.h"

#include <algorithm>
#include <bit>
#include <filesystem>

#include "child_output.h"
#include "common/config_file.h"
#include "common/file.h"
#include "common/host_name.h"
#include "common/incident_store.h"
#include "common/verdict_file.h"
#include "core/brakes.h"
#include "core/hostlist.h"
#include "core/text.h"
#include "hub_source.h"

namespace acrf {
namespace {

using nlohmann::json;

constexpr std::size_t kMostIncidents = 50;

bool is_active(const WatchedJob& job) { return job.start_unix_s != 0 && job.end_unix_s == 0; }

// What acrf-healthd of a node keeps can be read on that node, or where StateDir is one for each.
bool is_within_reach(const Config& config, const std::string& node) {
  return node == short_host_name() || config.state_dir.find("%n") != std::string::npos;
}

IncidentView view_of(const Incident& incident) {
  const auto& root = incident.root;
  const bool closed = incident.closed_unix_s != 0;
  return {incident.id,
          root.verdict.fault_class,
          std::string(name_of(root.verdict.severity)),
          closed ? "closed" : std::string(name_of(incident.phase)),
          place_of(root),
          closed ? incident.outcome : root.evidence,
          root.unix_s * 1000};
}

// Nothing when they are not this user's to read.
std::vector<IncidentView> read_incidents(const std::string& directory) {
  std::vector<IncidentView> all;
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(directory, error)) {
    if (file.path().extension() != ".json") continue;
    const auto text = read_file(file.path());
    const auto incident = text ? incident_from_json(*text) : Result<Incident>(text.error());
    if (incident) all.push_back(view_of(*incident));
  }
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.opened_ms > b.opened_ms; });
  if (all.size() > kMostIncidents) all.resize(kMostIncidents);
  return all;
}

// Beside this program, or in the sbin beside its bin.
std::string healthd_path() {
  std::error_code error;
  const auto directory = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  const auto beside = directory / "acrf-healthd";
  if (std::filesystem::exists(beside, error)) return beside;
  return (directory.parent_path() / "sbin/acrf-healthd").string();
}

}  // namespace

NodeVerdict parse_check_line(std::string_view line) {
  const auto words = split(trim(line), ' ');
  if (words.size() >= 4 && words[0] == "ACRF" && words[2] == "-")
    for (const auto status :
         {CheckStatus::kOk, CheckStatus::kWarning, CheckStatus::kCritical, CheckStatus::kUnknown})
      if (words[1] == name_of(status)) {
        const auto rest = trim(line).substr(trim(line).find(" - ") + 3);
        const auto colon = rest.find(": ");
        const auto text = colon == std::string_view::npos ? "" : rest.substr(colon + 2);
        return {status, std::string(rest.substr(0, colon)), std::string(text)};
      }
  return {CheckStatus::kUnknown, "UNKNOWN", "acrf-healthd did not answer"};
}

NodeVerdict SlurmSource::ask_healthd(const std::string& node) const {
  std::vector<std::string> words = {healthd_path(), "--check-once", "--node", node};
  if (!config_path_.empty()) words.insert(words.end(), {"--config", config_path_});
  const auto said = output_of(std::move(words));
  return said ? parse_check_line(*said)
              : NodeVerdict{CheckStatus::kUnknown, "UNKNOWN", said.error().sentence};
}

Status SlurmSource::look() {
  auto nodes = watch_.nodes();
  if (!nodes) return nodes.error();
  if (*nodes) {
    nodes_ = std::move(**nodes);
    if (const auto looked = look_at_brakes(); !looked) return looked;
  }
  auto jobs = watch_.jobs();
  if (!jobs) return jobs.error();
  if (!*jobs) return Done{};
  jobs_ = std::move(**jobs);
  jobs_of_.clear();
  for (const auto& job : jobs_) {
    if (!is_active(job)) continue;
    const auto names = expand_hostlist(job.nodes);
    if (!names) continue;
    for (const auto& name : *names) jobs_of_[name].push_back(&job);
  }
  return Done{};
}

// They count by switch, too, which takes a look of its own.
Status SlurmSource::look_at_brakes() {
  const auto fleet = slurm_.fleet(slurm_directory());
  if (!fleet) return fleet.error();
  brakes_full_.clear();
  for (const auto& state : brake_states(config_, *fleet))
    if (state.is_full()) brakes_full_.push_back(sentence_of(state));
  leaf_of_.clear();
  for (const auto& node : fleet->nodes)
    if (!node.leaf.empty()) leaf_of_[node.name] = node.leaf;
  return Done{};
}

const WatchedNode* SlurmSource::find(const std::string& name) const {
  const auto found = std::find_if(nodes_.nodes.begin(), nodes_.nodes.end(),
                                  [&](const auto& node) { return node.node.name == name; });
  return found == nodes_.nodes.end() ? nullptr : &*found;
}

std::vector<GpuView> SlurmSource::gpus_of(const WatchedNode& node) const {
  const auto state = slurm_state_of(node.node, node.busy);
  std::vector<GpuView> all;
  for (int i = 0; i < node.gpus; ++i) {
    GpuView gpu;
    gpu.node = node.node.name;
    gpu.index = i;
    gpu.state = slurm_state_of_gpu(state, node.node.token.health, i);
    all.push_back(std::move(gpu));
  }
  const auto jobs = jobs_of_.find(node.node.name);
  if (jobs == jobs_of_.end()) return all;
  for (const auto* job : jobs->second)
    for (const auto& [name, mask] : job->gpus_on)
      for (auto& gpu : all)
        if (name == gpu.node && gpu.index < 64 && (mask >> gpu.index & 1)) gpu.job = job->id;
  return all;
}

NodeShown SlurmSource::shown(const WatchedNode& node) const {
  NodeShown row;
  row.name = node.node.name;
  if (const auto leaf = leaf_of_.find(row.name); leaf != leaf_of_.end()) row.leaf = leaf->second;
  row.slurm_state = node.state;
  row.reason = node.node.reason;
  row.partitions = node.node.partitions;
  row.state = slurm_state_of(node.node, node.busy);
  row.gpus = node.gpus;
  row.gpus_out = row.state >= PartState::kDraining
                     ? node.gpus
                     : std::popcount(node.node.token.health.quarantined);
  row.risk = node.node.token.health.risk;
  const auto jobs = jobs_of_.find(row.name);
  if (jobs != jobs_of_.end())
    for (const auto* job : jobs->second) row.jobs.push_back(job->id);
  return row;
}

Result<StatusFacts> SlurmSource::status() {
  if (const auto looked = look(); !looked) return looked.error();
  StatusFacts facts;
  facts.cluster = watch_.cluster();
  facts.mode = mode_name(config_.mode);
  facts.source = "slurmctld";
  facts.note = note_;
  facts.gpus_in_use = 0;
  std::vector<std::string> held;
  for (const auto& node : nodes_.nodes) {
    const auto row = shown(node);
    ++facts.nodes[static_cast<std::size_t>(row.state)];
    for (const auto& gpu : gpus_of(node)) {
      ++facts.gpus[static_cast<std::size_t>(gpu.state)];
      if (gpu.job) ++*facts.gpus_in_use;
    }
    if (is_out_of_service(row.state)) facts.out.push_back(row);
    if (node.node.token.braked) held.push_back(row.name);
  }
  facts.held = compress_hostlist(held);
  facts.brakes_full = brakes_full_;
  facts.jobs = {{"running", 0}, {"pending", 0}};
  for (const auto& job : jobs_) {
    if (is_active(job)) ++facts.jobs["running"];
    if (job.state == "PENDING") ++facts.jobs["pending"];
  }
  if (find(short_host_name())) {
    facts.here = short_host_name();
    facts.here_verdict = ask_healthd(facts.here);
  }
  return facts;
}

Result<std::vector<NodeShown>> SlurmSource::nodes() {
  if (const auto looked = look(); !looked) return looked.error();
  std::vector<NodeShown> all;
  for (const auto& node : nodes_.nodes) all.push_back(shown(node));
  return all;
}

void SlurmSource::read_local_gpus(NodeDetails& details) const {
  const auto& name = details.node.name;
  const auto file = read_file(verdict_path(expand_node(config_.state_dir, name)));
  const auto record = file ? json::parse(*file, nullptr, false) : json();
  const auto figures = value_of<json>(record, "figures");
  for (const auto& part : value_of<std::vector<json>>(figures, "parts")) {
    auto told = gpu_from_json(part, name);
    for (auto& gpu : details.gpus) {
      if (gpu.index != told.index) continue;
      told.state = std::max(told.state, gpu.state);
      told.job = gpu.job;
      gpu = told;
    }
  }
}

// A verdict that is not fresh says nothing about the node.
void SlurmSource::read_local(NodeDetails& details) const {
  auto& node = details.node;
  if (!is_within_reach(config_, node.name)) return;
  const auto verdict = ask_healthd(node.name);
  node.verdict = verdict.node_class;
  details.verdict_text = verdict.text;
  if (verdict.status != CheckStatus::kUnknown) {
    node.told = true;
    node.state = std::max(
        node.state, verdict.status == CheckStatus::kOk ? PartState::kHealthy : PartState::kSuspect);
  }
  if (node.told) read_local_gpus(details);
  details.incidents = read_incidents(expand_node(config_.state_dir, node.name) + "/incidents");
}

Result<NodeDetails> SlurmSource::node(const std::string& name) {
  if (const auto looked = look(); !looked) return looked.error();
  const auto* found = find(name);
  if (!found) return Error{ErrorCode::kNotFound, "slurmctld knows no node " + name};
  NodeDetails details;
  details.node = shown(*found);
  details.gpus = gpus_of(*found);
  read_local(details);
  return details;
}

Result<std::vector<GpuView>> SlurmSource::gpus() {
  if (const auto looked = look(); !looked) return looked.error();
  std::vector<GpuView> all;
  for (const auto& node : nodes_.nodes)
    for (auto& gpu : gpus_of(node)) all.push_back(std::move(gpu));
  return all;
}

Result<GpuView> SlurmSource::gpu(const std::string& uuid) {
  if (const auto here = node(short_host_name()))
    for (const auto& gpu : here->gpus)
      if (gpu.uuid == uuid) return gpu;
  return Error{
      ErrorCode::kNotFound,
      "GPU " + uuid +
          ": none of this host, and slurmctld does not know UUIDs; ask for NODE:INDEX, or a hub"};
}

Result<std::vector<JobShown>> SlurmSource::jobs() {
  if (const auto looked = look(); !looked) return looked.error();
  std::vector<JobShown> all;
  for (const auto& job : jobs_)
    if (job.end_unix_s == 0)
      all.push_back({job.id, job.name, job.user, job.partition, job.state, job.reason, job.nodes,
                     job.gpus, job.restarts, job.start_unix_s * 1000});
  return all;
}

}  // namespace acrf
