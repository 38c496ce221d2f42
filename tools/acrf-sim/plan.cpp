// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan.h"

#include <algorithm>
#include <cmath>

#include "core/text.h"

namespace acrf::sim {
namespace {

constexpr double kMsPerMinute = 60'000;

struct Named {
  Priority priority;
  std::string_view name;
};
constexpr Named kPriorities[] = {
    {Priority::kLow, "low"}, {Priority::kNormal, "normal"}, {Priority::kHigh, "high"}};

std::optional<double> parse_number(std::string_view text) {
  if (text.empty() || text.size() > 12) return std::nullopt;
  std::size_t points = 0;
  for (const char c : text) {
    points += c == '.';
    if (c != '.' && (c < '0' || c > '9')) return std::nullopt;
  }
  if (points > 1 || text == ".") return std::nullopt;
  return std::stod(std::string(text));
}

// A chance of so many percent within a minute, as a rate.
double rate_of_percent(double percent) { return -std::log1p(-std::min(percent, 99.9) / 100); }

}  // namespace

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all = {
      {"Light", 1}, {"Normal", 6}, {"High", 15}, {"Extreme", 30}, {"Maximum", 50}};
  return all;
}

const Preset* find_preset(std::string_view name) {
  for (const auto& preset : presets())
    if (equals_ignoring_case(preset.name, name)) return &preset;
  return nullptr;
}

std::vector<JobType> built_in_types() {
  return {{"sleep", 2, "holds its GPUs and sleeps", ""},
          {"compute", 2, "counts primes and checks the count", ""},
          {"matrix", 2, "multiplies matrices and checks the products", ""},
          {"training", 3, "works in steps, publishes checkpoints and resumes from them", ""},
          {"fault", 0.5, "breaks a GPU of its own node, and has to come back", ""}};
}

const std::vector<FaultKind>& fault_kinds() {
  static const std::vector<FaultKind> all = {
      {"gpu-lost", 3, {"--xid", "79"}, true},
      {"reset-required", 3, {"--fault", "reset-required"}, true},
      {"driver-wants-reset", 2, {"--fault", "recovery-reset"}, true},
      {"driver-wants-reboot", 1, {"--fault", "recovery-reboot"}, true},
      {"lost-in-silence", 1, {"--fault", "lost"}, true},
      {"program-fault", 1, {"--xid", "31"}, false},
  };
  return all;
}

const FaultKind* find_fault_kind(std::string_view name) {
  for (const auto& kind : fault_kinds())
    if (kind.name == name) return &kind;
  return nullptr;
}

std::string_view name_of(Priority priority) {
  for (const auto& row : kPriorities)
    if (row.priority == priority) return row.name;
  return "normal";
}

std::optional<Priority> parse_priority(std::string_view name) {
  for (const auto& row : kPriorities)
    if (row.name == name) return row.priority;
  return std::nullopt;
}

std::int64_t time_of(const PlannedEvent& event) {
  return std::visit([](const auto& planned) { return planned.at_ms; }, event);
}

std::optional<Range> parse_range(std::string_view text, double least, double most) {
  const auto dash = text.find('-');
  const auto low = parse_number(text.substr(0, dash));
  const auto high = dash == std::string_view::npos ? low : parse_number(text.substr(dash + 1));
  if (!low || !high || *low > *high || *low < least || *high > most) return std::nullopt;
  return Range{*low, *high};
}

Arrivals::Arrivals(std::uint64_t seed) : random_(seed) { take(); }

double Arrivals::share() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

std::size_t Arrivals::pick(const std::vector<double>& weights) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  double left = share() * sum;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    left -= weights[i];
    if (left < 0) return i;
  }
  return 0;
}

void Arrivals::take() { expected_ += -std::log(1 - share()); }

void Arrivals::set_rate(std::int64_t now_ms, double per_min) {
  expected_ -= (static_cast<double>(now_ms) - from_ms_) * rate_;
  expected_ = std::max(expected_, 0.0);
  from_ms_ = static_cast<double>(now_ms);
  rate_ = per_min / kMsPerMinute;
}

std::optional<std::int64_t> Arrivals::next_ms() const {
  if (rate_ <= 0) return std::nullopt;
  return static_cast<std::int64_t>(std::llround(from_ms_ + expected_ / rate_));
}

Planner::Planner(std::uint64_t seed, int nodes, int gpus, PlanSettings settings)
    : gpus_(gpus), settings_(std::move(settings)), jobs_(seed) {
  for (int node = 0; node < nodes; ++node) {
    auto& source = faults_.emplace_back(seed * 1000 + static_cast<std::uint64_t>(node) + 1);
    place_.push_back(source.share());
  }
  apply_rates(0);
}

double Planner::failure_percent(int node) const {
  const auto& range = settings_.failures;
  return range.low + place_.at(static_cast<std::size_t>(node)) * (range.high - range.low);
}

void Planner::apply_rates(std::int64_t now_ms) {
  jobs_.set_rate(now_ms, settings_.paused ? 0 : settings_.rate_per_min);
  for (std::size_t node = 0; node < faults_.size(); ++node) {
    const double percent = failure_percent(static_cast<int>(node));
    faults_[node].set_rate(now_ms, settings_.paused ? 0 : rate_of_percent(percent));
  }
}

void Planner::change(std::int64_t now_ms, PlanSettings settings) {
  settings_ = std::move(settings);
  apply_rates(now_ms);
}

std::vector<PlannedEvent> Planner::until(std::int64_t ms) {
  std::vector<PlannedEvent> due;
  std::vector<double> weights;
  for (const auto& type : settings_.types) weights.push_back(type.weight);
  for (auto at = jobs_.next_ms(); at && *at <= ms; at = jobs_.next_ms()) {
    due.emplace_back(draw_job(settings_.types[jobs_.pick(weights)].name, *at));
    jobs_.take();
  }
  for (std::size_t node = 0; node < faults_.size(); ++node) {
    auto& source = faults_[node];
    for (auto at = source.next_ms(); at && *at <= ms; at = source.next_ms()) {
      due.emplace_back(draw_fault(source, static_cast<int>(node), *at));
      source.take();
    }
  }
  std::stable_sort(due.begin(), due.end(),
                   [](const auto& a, const auto& b) { return time_of(a) < time_of(b); });
  return due;
}

// Most jobs are small, as on clusters that people share.
PlannedJob Planner::draw_job(const std::string& type, std::int64_t at_ms) {
  PlannedJob job;
  job.at_ms = at_ms;
  job.type = type;
  job.name = type + "-" + std::to_string(++numbers_[type]);
  job.priority = static_cast<Priority>(jobs_.pick({1, 3, 1}));
  job.nodes = static_cast<int>(jobs_.pick({7, 3})) + 1;
  job.gpus = std::min(1 << jobs_.pick({2, 2, 2, 1}), gpus_);
  job.seconds = std::round(jobs_.between(settings_.job_seconds) * 10) / 10;
  const bool one_node = type == "fault" || faults_.size() < 3;
  if (one_node) job.nodes = 1;
  return job;
}

PlannedFault Planner::draw_fault(Arrivals& source, int node, std::int64_t at_ms) {
  PlannedFault fault;
  fault.at_ms = at_ms;
  fault.node = node;
  fault.gpu = static_cast<int>(source.share() * gpus_);
  std::vector<double> weights;
  for (const auto& kind : fault_kinds()) weights.push_back(kind.weight);
  fault.kind = std::string(fault_kinds()[source.pick(weights)].name);
  fault.repair_s = std::round(source.between(settings_.repair_s) * 10) / 10;
  return fault;
}

PlannedJob Planner::job_of_type(const std::string& type, std::int64_t now_ms) {
  return draw_job(type, now_ms);
}

PlannedFault Planner::fault_on(int node, std::int64_t now_ms) {
  return draw_fault(faults_.at(static_cast<std::size_t>(node)), node, now_ms);
}

}  // namespace acrf::sim
