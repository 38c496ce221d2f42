// SPDX-License-Identifier: GPL-2.0-or-later
#include "figures.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "core/gpu_metrics.h"

namespace acrf {
namespace {

// A site's own rules may make any number of classes.
constexpr std::size_t kMostClasses = 100;

}  // namespace

void Figures::note_incident(const std::string& fault_class) {
  const bool has_room = incidents_.contains(fault_class) || incidents_.size() < kMostClasses;
  ++incidents_[has_room ? fault_class : "other"];
}

std::string Figures::to_json(const NodeNow& now,
                             const std::vector<std::pair<std::string, AnswerTimes>>& sources,
                             std::uint64_t lost_records) const {
  nlohmann::json answers = nlohmann::json::object(), gpus = nlohmann::json::object();
  for (const auto& [name, times] : sources)
    answers[name] = {{"count", times.count},
                     {"sum_s", times.sum_s},
                     {"bounds_s", AnswerTimes::kBounds_s},
                     {"up_to", times.up_to}};
  auto parts = nlohmann::json::array();
  for (const auto& gpu : now.gpus) {
    parts.push_back(nlohmann::json(gpu_object(now, gpu)));
    const auto readings = metrics_of(*gpu.sample, gpu.other);
    for (std::size_t i = 0; i < readings.size(); ++i)
      if (readings[i]) parts.back()[std::string(kGpuMetrics[i])] = *readings[i];
    auto& count = gpus[std::string(state_of(now, *gpu.sample))];
    count = count.is_null() ? 1 : count.get<int>() + 1;
  }
  const nlohmann::json figures = {{"pid", ::getpid()},
                                  {"started_ms", started_ms_},
                                  {"state", state_of(now)},
                                  {"gpus", std::move(gpus)},
                                  {"incidents", incidents_},
                                  {"sources", std::move(answers)},
                                  {"lost_records", lost_records},
                                  {"parts", std::move(parts)}};
  return figures.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace acrf
