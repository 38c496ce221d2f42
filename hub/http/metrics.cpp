// SPDX-License-Identifier: GPL-2.0-or-later
#include "hub/http/metrics.h"

#include "common/metric_text.h"
#include "core/fleet.h"

namespace acrf::hub {
namespace {

// A class of a site's own rules makes no new series without end.
constexpr std::size_t kMostClasses = 100;

MetricText::Histogram histogram_of(const Recoveries& recoveries) {
  MetricText::Histogram histogram;
  histogram.sum = recoveries.sum_s;
  histogram.count = recoveries.count;
  std::uint64_t so_far = 0;
  for (const auto& [bound, count] : recoveries.histogram)
    histogram.buckets.emplace_back(bound, so_far += count);
  return histogram;
}

std::map<std::string, std::uint64_t> drained_by_class(const std::vector<NodeLook>& nodes) {
  std::map<std::string, std::uint64_t> drained;
  for (const auto& node : nodes)
    if (const auto fault = class_in_reason(node.reason); !fault.empty())
      ++drained[drained.size() < kMostClasses ? std::string(fault) : "other"];
  return drained;
}

void add_states(MetricText& text, const Stats& stats) {
  text.begin("acrf_nodes", "Nodes by state", MetricText::Kind::kGauge);
  for (std::size_t i = 0; i < kPartStates.size(); ++i)
    text.add({{"state", kPartStates[i]}}, stats.nodes[i]);
  text.begin("acrf_gpus", "GPUs by state", MetricText::Kind::kGauge);
  for (std::size_t i = 0; i < kPartStates.size(); ++i)
    text.add({{"state", kPartStates[i]}}, stats.gpus[i]);
}

void add_incidents(MetricText& text, const Stats& stats) {
  text.gauge("acrf_incidents_open", "Incidents that are not closed",
             static_cast<double>(stats.incidents_open));
  text.begin("acrf_incidents_total", "Incidents that nodes have reported, by class",
             MetricText::Kind::kCounter);
  std::size_t shown = 0;
  for (const auto& [fault, count] : stats.incidents_by_class)
    if (++shown <= kMostClasses) text.add({{"class", fault}}, static_cast<double>(count));
}

void add_hub(MetricText& text, const HubStats& hub) {
  text.gauge("acrf_hub_nodes_reporting", "Nodes that reported within the last minute",
             hub.nodes_reporting);
  text.begin("acrf_hub_reports_total", "Reports taken in", MetricText::Kind::kCounter);
  text.add({}, static_cast<double>(hub.reports));
  text.begin("acrf_hub_reports_refused_total", "Reports refused", MetricText::Kind::kCounter);
  text.add({}, static_cast<double>(hub.refused));
  text.begin("acrf_hub_lag_seconds", "From a sample's time to its arrival",
             MetricText::Kind::kGauge);
  text.add({{"quantile", "0.5"}}, hub.lag_ms_p50 / 1000);
  text.add({{"quantile", "0.99"}}, hub.lag_ms_p99 / 1000);
  text.gauge("acrf_hub_spooled_items", "Items that wait to be committed",
             static_cast<double>(hub.spooled));
}

}  // namespace

void HubMetrics::note_answer(int status) {
  const std::lock_guard lock(mutex_);
  ++answers_[std::to_string(status / 100) + "xx"];
}

void HubMetrics::note_action(std::string_view action, std::string_view result) {
  const std::lock_guard lock(mutex_);
  ++actions_[{std::string(action), std::string(result)}];
}

std::string HubMetrics::text(const Model& model, const History& history, std::size_t followers,
                             std::int64_t now_ms) {
  const auto stats = model.stats(now_ms);
  MetricText text;
  add_states(text, stats);
  text.begin("acrf_jobs", "Jobs by what became of them", MetricText::Kind::kGauge);
  for (const auto& [state, count] : stats.jobs)
    text.add({{"state", state}}, static_cast<double>(count));
  if (stats.gpu_utilization)
    text.gauge("acrf_gpu_allocated_ratio", "Share of the GPUs that jobs hold",
               *stats.gpu_utilization);
  add_incidents(text, stats);
  text.begin("acrf_drained_nodes", "Nodes that ACRF holds drained, by class",
             MetricText::Kind::kGauge);
  for (const auto& [fault, count] : drained_by_class(model.nodes()))
    text.add({{"class", fault}}, static_cast<double>(count));
  text.histogram("acrf_recovery_seconds", "From a job's requeue to its next start",
                 histogram_of(stats.recoveries));
  if (stats.ettr)
    text.gauge("acrf_ettr_ratio", "Useful share of the time of jobs that came back", *stats.ettr);
  text.begin("acrf_brake_full", "1 while a brake of this kind is full", MetricText::Kind::kGauge);
  std::map<std::string, double> full;
  for (const auto& brake : model.brakes()) {
    auto& value = full[std::string(name_of(brake.brake))];
    value = std::max(value, brake.is_full() ? 1.0 : 0.0);
  }
  for (const auto& [brake, value] : full) text.add({{"brake", brake}}, value);
  model.acts().add_to(text, "acrf_actions_total", "acrf_drains_total");
  add_hub(text, stats.hub);
  text.gauge("acrf_hub_history_bytes", "Size of the history", static_cast<double>(history.size()));
  text.gauge("acrf_hub_followers", "Clients of the event feed", static_cast<double>(followers));
  const std::lock_guard lock(mutex_);
  decisions_.read_on();
  decisions_.add_to(text);
  text.begin("acrf_hub_http_answers_total", "HTTP answers by kind", MetricText::Kind::kCounter);
  for (const auto& [kind, count] : answers_) text.add({{"code", kind}}, static_cast<double>(count));
  text.begin("acrf_hub_actions_total", "Acts of admins through the hub",
             MetricText::Kind::kCounter);
  for (const auto& [act, count] : actions_)
    text.add({{"action", act.first}, {"result", act.second}}, static_cast<double>(count));
  return text.to_string();
}

}  // namespace acrf::hub
