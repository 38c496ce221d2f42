// SPDX-License-Identifier: GPL-2.0-or-later
// Which jobs are submitted and which GPUs break, and when: drawn from a seed, without a clock. The
// same seed and settings give the same plan, however often it is asked. A rate that changes on the
// way moves only what is still to come.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace acrf::sim {

struct Preset {
  std::string_view name;
  double rate_per_min;
};
const std::vector<Preset>& presets();
// nullptr: there is none of that name, in upper or lower case.
const Preset* find_preset(std::string_view name);

constexpr double kLeastRate = 0.1, kMostRate = 50;

struct JobType {
  std::string name;
  double weight = 1;
  std::string description;
  std::string program;  // of a custom type
};
std::vector<JobType> built_in_types();

// What can break, and what it takes to mend it.
struct FaultKind {
  std::string_view name;
  int weight;
  std::vector<std::string> injection;  // options of `acrf inject`
  bool harmful;                        // ACRF takes the GPU or its node from the jobs
};
const std::vector<FaultKind>& fault_kinds();
const FaultKind* find_fault_kind(std::string_view name);

enum class Priority { kLow, kNormal, kHigh };
std::string_view name_of(Priority priority);
std::optional<Priority> parse_priority(std::string_view name);

struct PlannedJob {
  std::int64_t at_ms = 0;
  std::string type;
  std::string name;
  Priority priority = Priority::kNormal;
  int nodes = 1;
  int gpus = 1;        // per node
  double seconds = 1;  // of work
  bool operator==(const PlannedJob&) const = default;
};

struct PlannedFault {
  std::int64_t at_ms = 0;
  int node = 0;  // from 0
  int gpu = 0;
  std::string kind;
  double repair_s = 1;  // how long the mending takes
  bool operator==(const PlannedFault&) const = default;
};

using PlannedEvent = std::variant<PlannedJob, PlannedFault>;
std::int64_t time_of(const PlannedEvent& event);

struct Range {
  double low = 0, high = 0;
  double mean() const { return (low + high) / 2; }
  bool operator==(const Range&) const = default;
};
// "5-12" or "7"; nothing when it is no range, or not within these bounds.
std::optional<Range> parse_range(std::string_view text, double least, double most);

struct PlanSettings {
  double rate_per_min = 6;
  Range failures{5, 12};  // percent a minute; each node has a share of its own in it
  Range job_seconds{8, 40};
  Range repair_s{3, 12};
  std::vector<JobType> types = built_in_types();
  bool paused = false;
};

// What happens by itself; a recorded run is one, too.
class Script {
 public:
  virtual ~Script() = default;
  // All that is due up to this time and was not given before, in its order.
  virtual std::vector<PlannedEvent> until(std::int64_t ms) = 0;
};

// Arrivals at random, so many a minute on average.
class Arrivals {
 public:
  explicit Arrivals(std::uint64_t seed);
  void set_rate(std::int64_t now_ms, double per_min);
  // When the next one is due; nothing at a rate of 0.
  std::optional<std::int64_t> next_ms() const;
  void take();
  // Evenly distributed, for what the arrival is about.
  double share();
  double between(const Range& range) { return range.low + share() * (range.high - range.low); }
  std::size_t pick(const std::vector<double>& weights);

 private:
  std::mt19937_64 random_;
  double rate_ = 0;      // per millisecond
  double from_ms_ = 0;   // since when it has been so
  double expected_ = 0;  // arrivals to be expected from then to the next one
};

class Planner : public Script {
 public:
  Planner(std::uint64_t seed, int nodes, int gpus, PlanSettings settings);
  void change(std::int64_t now_ms, PlanSettings settings);
  const PlanSettings& settings() const { return settings_; }
  std::vector<PlannedEvent> until(std::int64_t ms) override;
  // Percent a minute, by node.
  double failure_percent(int node) const;
  // A job of that type, or a fault on that node, now: what a person asks for.
  PlannedJob job_of_type(const std::string& type, std::int64_t now_ms);
  PlannedFault fault_on(int node, std::int64_t now_ms);

 private:
  void apply_rates(std::int64_t now_ms);
  PlannedJob draw_job(const std::string& type, std::int64_t at_ms);
  PlannedFault draw_fault(Arrivals& source, int node, std::int64_t at_ms);

  int gpus_;
  PlanSettings settings_;
  Arrivals jobs_;
  std::vector<Arrivals> faults_;  // by node
  std::vector<double> place_;     // of a node within the range of failures, 0 to 1
  std::map<std::string, int> numbers_;
};

}  // namespace acrf::sim
