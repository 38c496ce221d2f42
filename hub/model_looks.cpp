// SPDX-License-Identifier: GPL-2.0-or-later
// Of Model: what readers get.
#include "hub/model.h"

namespace acrf::hub {

bool Model::knows_cluster() const {
  const std::shared_lock lock(mutex_);
  return layout_ != nullptr;
}

std::shared_ptr<const Layout> Model::layout() const {
  const std::shared_lock lock(mutex_);
  return layout_ ? layout_ : std::make_shared<const Layout>();
}

FleetLook Model::fleet(std::int64_t now_ms) const {
  FleetLook look;
  look.unix_ms = now_ms;
  look.mode = mode_;
  // Before the states: what comes meanwhile is told twice rather than never.
  look.seq = feed_.last();
  const std::shared_lock lock(mutex_);
  look.cluster = cluster_;
  look.layout = layout_ ? layout_ : std::make_shared<const Layout>();
  look.node_state.reserve(nodes_.size());
  look.gpu_state.reserve(static_cast<std::size_t>(look.layout->total_gpus));
  for (const auto& node : nodes_) {
    look.node_state += digit_of(node.state);
    look.gpu_state += node.gpu_state;
  }
  for (const auto& job : jobs_)
    if (job.state == "RUNNING" || job.state == "SUSPENDED") look.jobs.push_back(job);
  return look;
}

NodeLook Model::look_at(int number) const {
  const auto at = static_cast<std::size_t>(number);
  const auto& node = nodes_[at];
  NodeLook look;
  look.number = number;
  look.name = layout_->names[at];
  look.leaf = layout_->leaves[static_cast<std::size_t>(layout_->leaf_of[at])].name;
  look.pod = layout_->pods[static_cast<std::size_t>(layout_->pod_of[at])].name;
  look.state = node.state;
  look.partitions = node.slurm.partitions;
  look.slurm_state = node.slurm_state;
  look.reason = node.slurm.reason;
  look.verdict = node.verdict;
  look.gpus = node.gpu_state;
  look.jobs = jobs_of_[at];
  look.last_report_ms = node.last_report_ms;
  look.risk = node.slurm.token.health.risk;
  return look;
}

NodeDetail Model::detail_of(int number) const {
  const auto at = static_cast<std::size_t>(number);
  const auto& node = nodes_[at];
  NodeDetail detail;
  detail.node = look_at(number);
  detail.driver = node.driver;
  detail.boot = node.boot;
  detail.version = node.version;
  detail.verdict_text = node.verdict_text;
  detail.address = node.address;
  for (std::size_t i = 0; i < node.gpu_state.size(); ++i) {
    GpuLook gpu;
    gpu.gpu.index = static_cast<int>(i);
    for (const auto& one : node.gpus)
      if (one.index == static_cast<int>(i)) gpu.gpu = one;
    gpu.gpu.state = static_cast<PartState>(node.gpu_state[i] - '0');
    gpu.values.fill(kNoValue);
    if (i < node.values.size()) gpu.values = node.values[i];
    detail.gpus.push_back(std::move(gpu));
  }
  for (const auto& job : jobs_)
    for (const auto& [where, mask] : job.gpus_on)
      for (std::size_t i = 0; where == number && i < detail.gpus.size(); ++i)
        if ((mask >> i & 1) && job.end_ms == 0) detail.gpus[i].job = job.id;
  return detail;
}

std::vector<NodeLook> Model::nodes() const {
  const std::shared_lock lock(mutex_);
  std::vector<NodeLook> all;
  all.reserve(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) all.push_back(look_at(static_cast<int>(i)));
  return all;
}

std::vector<NodeDetail> Model::details() const {
  const std::shared_lock lock(mutex_);
  std::vector<NodeDetail> all;
  all.reserve(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) all.push_back(detail_of(static_cast<int>(i)));
  return all;
}

std::optional<NodeDetail> Model::node(std::string_view name) const {
  const std::shared_lock lock(mutex_);
  const int number = layout_ ? layout_->find(name) : -1;
  if (number < 0) return std::nullopt;
  return detail_of(number);
}

std::vector<IncidentLook> Model::recent_incidents() const {
  const std::shared_lock lock(mutex_);
  std::vector<IncidentLook> all;
  for (const auto& [id, incident] : incidents_) all.push_back(incident);
  return all;
}

std::vector<BrakeState> Model::brakes() const {
  const std::shared_lock lock(mutex_);
  return brakes_;
}

std::vector<std::string> Model::advice_for(std::string_view name) const {
  const std::shared_lock lock(mutex_);
  const int number = layout_ ? layout_->find(name) : -1;
  std::vector<std::string> all;
  if (number < 0) return all;
  for (const auto& [kind, json] : nodes_[static_cast<std::size_t>(number)].advice)
    all.push_back(json);
  return all;
}

std::vector<FleetMember> Model::members() const {
  const std::shared_lock lock(mutex_);
  std::vector<FleetMember> all;
  for (const auto& node : nodes_) all.push_back({node.slurm.name, node.slurm.leaf, node.driver});
  return all;
}

std::optional<std::string> Model::address_of(std::string_view name) const {
  const std::shared_lock lock(mutex_);
  const int number = layout_ ? layout_->find(name) : -1;
  if (number < 0) return std::nullopt;
  return nodes_[static_cast<std::size_t>(number)].address;
}

}  // namespace acrf::hub
