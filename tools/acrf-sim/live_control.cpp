// SPDX-License-Identifier: GPL-2.0-or-later
// What the control socket can ask of a live run.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "live.h"

namespace acrf::sim {
namespace {

using nlohmann::json;

constexpr std::size_t kJobsShown = 20;

// Nodes differ in how often they fail, by as much as the default range does.
Range around(double percent) { return {percent * 0.6, std::min(percent * 1.4, 99.0)}; }

std::string preset_of(double rate) {
  for (const auto& preset : presets())
    if (preset.rate_per_min == rate) return std::string(preset.name);
  return "";
}

double number_in(const json& value, const char* name, double least, double most) {
  const double number = value.get<double>();
  if (!(number >= least && number <= most))
    throw std::invalid_argument(fmt::format("{} must be {} to {}", name, least, most));
  return number;
}

int restarts_of(const JobBook& job) {
  int most = 0;
  for (const auto& line : job.lines) most = std::max(most, line.restart);
  return most;
}

// The settings after the request; throws what to tell whoever asked.
PlanSettings changed(PlanSettings settings, const json& request) {
  if (request.contains("rate_per_min"))
    settings.rate_per_min =
        number_in(request["rate_per_min"], "rate_per_min", kLeastRate, kMostRate);
  if (request.contains("preset")) {
    const auto* preset = find_preset(request["preset"].get<std::string>());
    if (!preset) throw std::invalid_argument("there is no such preset");
    settings.rate_per_min = preset->rate_per_min;
  }
  if (request.contains("failure_percent_per_min"))
    settings.failures =
        around(number_in(request["failure_percent_per_min"], "failure_percent_per_min", 0, 90));
  if (request.contains("paused")) settings.paused = request["paused"].get<bool>();
  if (request.contains("weights"))
    for (const auto& [name, weight] : request["weights"].items()) {
      const auto type = std::find_if(settings.types.begin(), settings.types.end(),
                                     [&](const JobType& each) { return each.name == name; });
      if (type == settings.types.end()) throw std::invalid_argument("no such job type: " + name);
      type->weight = number_in(weight, "a weight", 0, 1000);
    }
  const bool any = std::any_of(settings.types.begin(), settings.types.end(),
                               [](const JobType& type) { return type.weight > 0; });
  if (!any) throw std::invalid_argument("some job type must have a weight above 0");
  return settings;
}

}  // namespace

void Live::serve_control(int wait_ms) {
  control_->serve([this](const std::string& line) { return answer(line); }, wait_ms);
}

std::string Live::answer(const std::string& line) {
  if (line.empty()) return state_json();
  const auto wrong = obey(line);
  return wrong.empty() ? state_json() : json{{"error", wrong}}.dump();
}

// A sentence when the request makes no sense; then nothing has changed.
std::string Live::obey(const std::string& line) try {
  const auto request = json::parse(line);
  if (!request.is_object()) return "the request must be a JSON object";
  if (request.empty()) return "";
  if (!planner_) return "this is a replay: it goes as it was recorded";
  static const std::set<std::string> known = {
      "rate_per_min", "preset", "paused", "submit", "inject", "failure_percent_per_min", "weights"};
  for (const auto& [name, value] : request.items())
    if (!known.contains(name)) return "no such request: " + name;
  const auto settings = changed(planner_->settings(), request);
  const auto type = request.value("submit", std::string());
  if (request.contains("submit") &&
      std::none_of(settings.types.begin(), settings.types.end(),
                   [&](const JobType& each) { return each.name == type; }))
    return "no such job type: " + type;
  const auto names = cluster_->nodes();
  const auto victim = request.value("inject", std::string());
  const auto node = std::find(names.begin(), names.end(), victim);
  if (request.contains("inject") && node == names.end()) return "no such node: " + victim;

  options_.plan = settings;
  planner_->change(now_ms(), settings);
  if (!type.empty()) submit(planner_->job_of_type(type, now_ms()), 0);
  if (!victim.empty()) inject(planner_->fault_on(static_cast<int>(node - names.begin()), now_ms()));
  note("asked for: " + line);
  return "";
} catch (const json::parse_error&) {
  return "the request must be a JSON object";
} catch (const json::exception&) {
  return "a value in the request has the wrong type";
} catch (const std::exception& problem) {
  return problem.what();
}

std::string Live::state_json() const {
  const auto figures = books_->figures();
  const auto& plan = options_.plan;
  json state = {{"running", true},
                {"paused", plan.paused},
                {"seconds", now_ms() / 1000},
                {"preset", preset_of(plan.rate_per_min)},
                {"rate_per_min", plan.rate_per_min},
                {"failure_percent_per_min", plan.failures.mean()},
                {"submitted", figures.submitted},
                {"completed", figures.completed},
                {"failed", figures.failed},
                {"recovered", figures.recovered},
                {"injected", figures.injected},
                {"repaired", figures.repaired},
                {"replay", planner_ == nullptr}};
  for (const auto& preset : presets())
    state["presets"].push_back({{"name", preset.name}, {"rate_per_min", preset.rate_per_min}});
  for (const auto& type : plan.types)
    state["types"].push_back(
        {{"name", type.name}, {"weight", type.weight}, {"description", type.description}});
  state["jobs"] = json::array();
  const auto& order = books_->order();
  for (auto id = order.rbegin(); id != order.rend() && state["jobs"].size() < kJobsShown; ++id) {
    const auto& job = books_->jobs().at(*id);
    state["jobs"].push_back({{"id", job.id},
                             {"name", job.plan.name},
                             {"type", job.plan.type},
                             {"state", job.state},
                             {"nodes", job.plan.nodes},
                             {"gpus", job.plan.nodes * job.plan.gpus},
                             {"priority", name_of(job.plan.priority)},
                             {"retry", job.retry},
                             {"restarts", restarts_of(job)},
                             {"submit_ms", began_unix_ms_ + job.submitted_ms}});
  }
  return state.dump(-1, ' ', true, json::error_handler_t::replace);
}

}  // namespace acrf::sim
