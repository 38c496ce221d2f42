// SPDX-License-Identifier: GPL-2.0-or-later
// Of Model: what comes in.
#include "hub/model.h"

#include <algorithm>

#include "hub/model_json.h"

namespace acrf::hub {
namespace {

constexpr std::int64_t kSilentAfter_ms = 60'000;
constexpr std::size_t kMostClosedIncidents = 1000;
constexpr std::size_t kMostLags = 4096;
constexpr std::int64_t kHour_ms = 3'600'000;
constexpr std::int64_t kSweepEvery_ms = 1000;

}  // namespace

int Layout::find(std::string_view name) const {
  const auto found = number_of_.find(std::string(name));
  return found == number_of_.end() ? -1 : found->second;
}

bool Layout::operator==(const Layout& other) const {
  const auto same = [](const auto& a, const auto& b) {
    return a.name == b.name && a.first == b.first && a.count == b.count;
  };
  return names == other.names && gpus == other.gpus &&
         std::equal(leaves.begin(), leaves.end(), other.leaves.begin(), other.leaves.end(), same) &&
         std::equal(pods.begin(), pods.end(), other.pods.begin(), other.pods.end(), same);
}

void Layout::index() {
  number_of_.clear();
  first_gpu.clear();
  total_gpus = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    number_of_[names[i]] = static_cast<int>(i);
    first_gpu.push_back(total_gpus);
    total_gpus += gpus[i];
  }
  leaf_of.assign(names.size(), 0);
  pod_of.assign(names.size(), 0);
  for (std::size_t pod = 0; pod < pods.size(); ++pod)
    for (int leaf = pods[pod].first; leaf < pods[pod].first + pods[pod].count; ++leaf) {
      const auto& holder = leaves[static_cast<std::size_t>(leaf)];
      for (int node = holder.first; node < holder.first + holder.count; ++node) {
        leaf_of[static_cast<std::size_t>(node)] = leaf;
        pod_of[static_cast<std::size_t>(node)] = static_cast<int>(pod);
      }
    }
}

void Model::take_cluster(ClusterLook look) {
  const std::unique_lock lock(mutex_);
  cluster_ = look.cluster;
  brakes_ = std::move(look.brakes);
  if (!layout_ || !(look.layout == *layout_)) {
    look.layout.index();
    auto layout = std::make_shared<const Layout>(std::move(look.layout));
    std::vector<NodeRecord> nodes(layout->names.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const int old = layout_ ? layout_->find(layout->names[i]) : -1;
      if (old >= 0) nodes[i] = std::move(nodes_[static_cast<std::size_t>(old)]);
    }
    nodes_ = std::move(nodes);
    layout_ = std::move(layout);
    jobs_of_.assign(nodes_.size(), {});
    is_changed_.assign(nodes_.size(), false);
    changed_.clear();
    feed_.publish("reset", "{}");
  }
  for (std::size_t i = 0; i < look.fleet.nodes.size(); ++i) {
    const int number = layout_->find(look.fleet.nodes[i].name);
    if (number < 0) continue;
    auto& node = nodes_[static_cast<std::size_t>(number)];
    node.slurm = std::move(look.fleet.nodes[i]);
    node.slurm_state = std::move(look.slurm_states[i]);
    node.address = std::move(look.addresses[i]);
    node.busy = look.busy[i];
    compose(number);
  }
}

// The node's state and its GPUs' from all that is known; a change is kept for publishing.
void Model::compose(int number) {
  auto& node = nodes_[static_cast<std::size_t>(number)];
  const auto slurm = slurm_state_of(node.slurm, node.busy);
  const auto told = node.silent ? PartState::kUnknown : node.reported;
  auto state = std::max(slurm, told);
  // A node of which only slurmctld speaks well is not known to be healthy.
  std::string gpus(static_cast<std::size_t>(layout_->gpus[static_cast<std::size_t>(number)]), '0');
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    auto gpu = told >= PartState::kHealthy ? PartState::kHealthy : PartState::kUnknown;
    for (const auto& one : node.gpus)
      if (!node.silent && one.index == static_cast<int>(i)) gpu = one.state;
    gpu = std::max(gpu, slurm_state_of_gpu(state, node.slurm.token.health, static_cast<int>(i)));
    gpus[i] = digit_of(gpu);
    if (gpu == PartState::kQuarantined) state = std::max(state, gpu);
  }
  if (state == node.state && gpus == node.gpu_state) return;
  node.state = state;
  node.gpu_state = std::move(gpus);
  if (is_changed_[static_cast<std::size_t>(number)]) return;
  is_changed_[static_cast<std::size_t>(number)] = true;
  changed_.push_back(number);
}

Status Model::take_report(const Report& report, std::int64_t now_ms) {
  ++reports_;
  const std::unique_lock lock(mutex_);
  if (!layout_) return Error{ErrorCode::kUnavailable, "slurmctld has not answered this hub yet"};
  const int number = layout_->find(report.node);
  if (number < 0) return Error{ErrorCode::kNotFound, "slurmctld knows no node " + report.node};
  auto& node = nodes_[static_cast<std::size_t>(number)];
  node.last_report_ms = now_ms;
  bool changed = node.silent;
  node.silent = false;
  if (node.boot != report.boot) node.boot = report.boot;
  if (node.driver != report.driver) node.driver = report.driver;
  if (node.version != report.version) node.version = report.version;
  for (const auto& item : report.items) {
    if (const auto* sample = std::get_if<ReportedSample>(&item.what)) {
      node.values = sample->gpus;
      note_lag(now_ms - item.ms);
    } else if (const auto* state = std::get_if<ReportedState>(&item.what)) {
      node.verdict = state->verdict;
      node.verdict_text = state->verdict_text;
      node.reported = state->state;
      node.gpus = state->gpus;
      changed = true;
    }
  }
  if (changed) compose(number);
  return Done{};
}

void Model::note_lag(std::int64_t lag_ms) {
  const auto lag = static_cast<std::int32_t>(std::clamp<std::int64_t>(lag_ms, 0, 86'400'000));
  if (lags_.size() < kMostLags) return lags_.push_back(lag);
  lags_[next_lag_++ % kMostLags] = lag;
}

void Model::take_audit(const ReportedAudit& audit) {
  if (!audit.kind || !audit.result || *audit.result == AuditResult::State::kPending) return;
  const std::unique_lock lock(mutex_);
  acts_.take(*audit.kind, audit.what, *audit.result, audit.fault_class);
}

bool Model::take_incident(const ReportedIncident& incident, bool tell) {
  {
    const std::unique_lock lock(mutex_);
    auto& known = incidents_[incident.id];
    const bool is_new = known.id.empty();
    if (!is_new && known.node != incident.node) return false;
    if (known.json == incident.json) return true;
    const bool was_open = known.closed_ms == 0;
    known = {incident.id,         incident.node,      incident.fault_class, incident.opened_ms,
             incident.updated_ms, incident.closed_ms, incident.json};
    if (is_new) {
      opened_.emplace_back(incident.opened_ms, incident.id);
      ++by_class_[incident.fault_class];
    }
    if (incident.closed_ms != 0 && (is_new || was_open)) {
      closed_incidents_.push_back(incident.id);
      if (closed_incidents_.size() > kMostClosedIncidents) {
        incidents_.erase(closed_incidents_.front());
        closed_incidents_.pop_front();
      }
    }
  }
  if (tell) feed_.publish("incident", incident.json);
  return true;
}

void Model::advise(const std::string& name, const std::string& kind, const std::string& json) {
  const std::unique_lock lock(mutex_);
  const int number = layout_ ? layout_->find(name) : -1;
  if (number < 0) return;
  auto& advice = nodes_[static_cast<std::size_t>(number)].advice;
  if (json.empty())
    advice.erase(kind);
  else
    advice[kind] = json;
}

void Model::publish_changes(std::int64_t now_ms) {
  std::vector<NodeChange> changes;
  {
    const std::unique_lock lock(mutex_);
    if (now_ms - last_sweep_ms_ >= kSweepEvery_ms) sweep(now_ms);
    for (const int number : changed_) {
      const auto& node = nodes_[static_cast<std::size_t>(number)];
      changes.push_back(
          {number, layout_->names[static_cast<std::size_t>(number)], node.state, node.gpu_state});
      is_changed_[static_cast<std::size_t>(number)] = false;
    }
    changed_.clear();
  }
  if (!changes.empty())
    feed_.publish("fleet", [&](std::uint64_t seq) { return changes_to_json(seq, changes); });
}

// Forgets what is over, and gives up nodes that fell silent.
void Model::sweep(std::int64_t now_ms) {
  last_sweep_ms_ = now_ms;
  while (!opened_.empty() && opened_.front().first < now_ms - kHour_ms) opened_.pop_front();
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    auto& node = nodes_[i];
    if (node.silent || now_ms - node.last_report_ms <= kSilentAfter_ms) continue;
    node.silent = true;
    compose(static_cast<int>(i));
  }
}

}  // namespace acrf::hub
