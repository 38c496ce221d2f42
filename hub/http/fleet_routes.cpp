// SPDX-License-Identifier: GPL-2.0-or-later
// Of Api: the cluster as a whole.
#include <algorithm>

#include "acrf_config.h"
#include "hub/http/api.h"
#include "hub/model_json.h"

namespace acrf::hub {
namespace {

using Json = nlohmann::ordered_json;

Json pods_of(const Layout& layout) {
  Json pods = Json::array();
  for (const auto& pod : layout.pods) {
    Json leaves = Json::array();
    for (int i = pod.first; i < pod.first + pod.count; ++i) {
      const auto& leaf = layout.leaves[static_cast<std::size_t>(i)];
      const auto first = layout.names.begin() + leaf.first;
      leaves.push_back(
          {{"name", leaf.name}, {"nodes", std::vector<std::string>(first, first + leaf.count)}});
    }
    pods.push_back({{"name", pod.name}, {"leaves", std::move(leaves)}});
  }
  return pods;
}

// One number when all nodes have as many.
Json gpu_count_of(const Layout& layout) {
  const auto& gpus = layout.gpus;
  const bool alike =
      std::adjacent_find(gpus.begin(), gpus.end(), std::not_equal_to<>()) == gpus.end();
  if (gpus.empty()) return 0;
  return alike ? Json(gpus.front()) : Json(gpus);
}

Json jobs_of(const FleetLook& look) {
  Json jobs = Json::array();
  for (const auto& job : look.jobs) {
    auto one = to_json(job);
    one["nodes"] = job.node_ranges;
    jobs.push_back(std::move(one));
  }
  return jobs;
}

}  // namespace

Result<Json> Api::fleet(const Request&) {
  const auto look = parts_.model.fleet(unix_ms_now());
  return Json{{"seq", look.seq},
              {"unix_ms", look.unix_ms},
              {"cluster", look.cluster},
              {"mode", look.mode},
              {"states", kPartStates},
              {"pods", pods_of(*look.layout)},
              {"node_state", look.node_state},
              {"gpu_count", gpu_count_of(*look.layout)},
              {"gpu_state", look.gpu_state},
              {"jobs", jobs_of(look)}};
}

Result<Json> Api::stats(const Request&) { return to_json(parts_.model.stats(unix_ms_now())); }

Result<Json> Api::status(const Request& request) {
  auto all = to_json(parts_.model.stats(unix_ms_now()));
  const auto look = parts_.model.fleet(unix_ms_now());
  all["cluster"] = look.cluster;
  all["mode"] = look.mode;
  all["version"] = ACRF_VERSION;
  all["knows_cluster"] = parts_.model.knows_cluster();
  Json full = Json::array();
  for (const auto& brake : parts_.model.brakes())
    if (brake.is_full()) full.push_back(to_json(brake));
  all["brakes_full"] = std::move(full);
  all["access"] = access_of(request);
  return all;
}

Result<Json> Api::brakes(const Request&) {
  Json brakes = Json::array();
  for (const auto& brake : parts_.model.brakes()) brakes.push_back(to_json(brake));
  return Json{{"brakes", std::move(brakes)}};
}

}  // namespace acrf::hub
