// SPDX-License-Identifier: GPL-2.0-or-later
#include "hub/model_json.h"

#include "core/hostlist.h"

namespace acrf::hub {

using nlohmann::ordered_json;

std::string changes_to_json(std::uint64_t seq, const std::vector<NodeChange>& changes) {
  ordered_json nodes = ordered_json::array();
  for (const auto& change : changes)
    nodes.push_back({{"i", change.number},
                     {"node", change.name},
                     {"state", static_cast<int>(change.state)},
                     {"gpus", change.gpus}});
  return ordered_json{{"seq", seq}, {"nodes", std::move(nodes)}}.dump();
}

ordered_json to_json(const JobLook& job) {
  ordered_json all = {{"id", job.id},
                      {"name", job.name},
                      {"user", job.user},
                      {"partition", job.partition},
                      {"state", job.state},
                      {"reason", job.reason},
                      {"nodes", job.nodes},
                      {"gpus", job.gpus},
                      {"submit_ms", job.submit_ms},
                      {"start_ms", job.start_ms},
                      {"end_ms", job.end_ms},
                      {"restarts", job.restarts},
                      {"policy", job.policy},
                      {"workload", job.workload},
                      {"ranges", ordered_json::array()}};
  if (job.state == "RUNNING" || job.state == "SUSPENDED") all["ranges"] = job.node_ranges;
  all["ettr"] = job.ettr ? ordered_json(*job.ettr) : ordered_json();
  return all;
}

ordered_json to_json(const Stats& stats) {
  ordered_json nodes, gpus;
  for (std::size_t i = 0; i < kPartStates.size(); ++i) {
    nodes[std::string(kPartStates[i])] = stats.nodes[i];
    gpus[std::string(kPartStates[i])] = stats.gpus[i];
  }
  ordered_json histogram = ordered_json::array();
  for (const auto& [bound, count] : stats.recoveries.histogram) histogram.push_back({bound, count});
  const auto maybe = [](const std::optional<double>& value) {
    return value ? ordered_json(*value) : ordered_json();
  };
  return {{"unix_ms", stats.unix_ms},
          {"nodes", std::move(nodes)},
          {"gpus", std::move(gpus)},
          {"jobs", stats.jobs},
          {"gpu_utilization", maybe(stats.gpu_utilization)},
          {"incidents",
           {{"open", stats.incidents_open},
            {"last_hour", stats.incidents_last_hour},
            {"by_class", stats.incidents_by_class}}},
          {"recoveries",
           {{"count", stats.recoveries.count},
            {"p50_s", stats.recoveries.p50_s},
            {"p99_s", stats.recoveries.p99_s},
            {"histogram", std::move(histogram)}}},
          {"ettr", maybe(stats.ettr)},
          {"hub",
           {{"nodes_reporting", stats.hub.nodes_reporting},
            {"reports_per_s", stats.hub.reports_per_s},
            {"lag_ms_p50", stats.hub.lag_ms_p50},
            {"lag_ms_p99", stats.hub.lag_ms_p99},
            {"spooled", stats.hub.spooled}}}};
}

ordered_json to_json(const BrakeState& brake) {
  return {{"brake", name_of(brake.brake)},
          {"group", brake.group},
          {"counted", brake.counted()},
          {"limit", brake.limit},
          {"full", brake.is_full()},
          {"nodes", compress_hostlist(brake.nodes)},
          {"sentence", sentence_of(brake)}};
}

}  // namespace acrf::hub
