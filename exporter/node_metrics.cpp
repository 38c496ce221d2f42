// SPDX-License-Identifier: GPL-2.0-or-later
#include "node_metrics.h"

#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "common/audit_log.h"
#include "common/file.h"
#include "common/verdict_file.h"
#include "core/text.h"

namespace acrf {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::string_view kVerdicts[] = {"ok", "warning", "critical", "unknown"};
constexpr std::string_view kStates[] = {"unknown", "healthy", "suspect", "probation", "attended"};
constexpr std::size_t kMostSeries = 101;  // the daemon has 100, and "other"

double age_s(std::int64_t boottime_ms) {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9 -
         static_cast<double>(boottime_ms) / 1000;
}

// Bytes of what waits on disk for hubs that do not answer.
double spooled_bytes(const std::string& directory) {
  double bytes = 0;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(directory, error)) {
    std::error_code gone;
    if (entry.path().filename() != "cursor.json" && entry.is_regular_file(gone))
      bytes += static_cast<double>(entry.file_size(gone));
  }
  return bytes;
}

// A name in the verdict's file; other sizes and types than expected make it empty.
const json& part(const json& object, const char* name) {
  static const json kNothing = json::object();
  const auto found = object.find(name);
  return found != object.end() && found->is_object() ? *found : kNothing;
}

void add_states(MetricText& text, const json& record, const json& figures) {
  text.begin("acrf_healthd_verdict", "1 for what acrf-healthd says of its node",
             MetricText::Kind::kGauge);
  const int status = record.value("status", 3);
  for (int i = 0; i < 4; ++i) text.add({{"verdict", kVerdicts[i]}}, status == i ? 1 : 0);
  text.begin("acrf_healthd_state", "1 for the node's state", MetricText::Kind::kGauge);
  const auto state = figures.value("state", std::string("unknown"));
  for (const auto name : kStates) text.add({{"state", name}}, state == name ? 1 : 0);
  text.begin("acrf_healthd_gpus", "The node's GPUs by state", MetricText::Kind::kGauge);
  for (const auto name : kStates)
    text.add({{"state", name}}, part(figures, "gpus").value(std::string(name), 0));
}

void add_incidents(MetricText& text, const json& figures) {
  text.begin("acrf_healthd_incidents_total", "Incidents since acrf-healthd began, by class",
             MetricText::Kind::kCounter);
  std::size_t shown = 0;
  for (const auto& [fault, count] : part(figures, "incidents").items())
    if (++shown <= kMostSeries) text.add({{"class", fault}}, count.get<double>());
  text.counter("acrf_healthd_kernel_records_lost_total",
               "Kernel records that were overwritten before they could be read",
               figures.value("lost_records", 0.0));
}

// One histogram a source.
prometheus::MetricFamily probe_seconds(const json& figures) {
  prometheus::MetricFamily family;
  family.name = "acrf_healthd_probe_seconds";
  family.help = "Time that a source takes to answer";
  family.type = prometheus::MetricType::Histogram;
  for (const auto& [source, times] : part(figures, "sources").items()) {
    prometheus::ClientMetric metric;
    metric.label.push_back({"source", source});
    metric.histogram.sample_count = times.at("count");
    metric.histogram.sample_sum = times.at("sum_s");
    const auto& bounds = times.at("bounds_s");
    const auto& up_to = times.at("up_to");
    for (std::size_t i = 0; i < std::min({bounds.size(), up_to.size(), std::size_t{20}}); ++i)
      metric.histogram.bucket.push_back({up_to[i], bounds[i]});
    metric.histogram.bucket.push_back(
        {metric.histogram.sample_count, std::numeric_limits<double>::infinity()});
    family.metric.push_back(std::move(metric));
  }
  return family;
}

void add_process(MetricText& text, int pid) {
  const auto stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  if (!stat || stat->rfind(')') == std::string::npos) return;
  const auto fields = split(std::string_view(*stat).substr(stat->rfind(')') + 1), ' ');
  if (fields.size() < 23) return;
  const auto number = [&](std::size_t i) {
    return static_cast<double>(parse_unsigned(fields[i]).value_or(0));
  };
  text.counter("acrf_healthd_cpu_seconds_total", "Processor time of acrf-healthd itself",
               (number(12) + number(13)) / static_cast<double>(::sysconf(_SC_CLK_TCK)));
  text.gauge("acrf_healthd_resident_bytes", "Memory of acrf-healthd itself",
             number(22) * static_cast<double>(::sysconf(_SC_PAGESIZE)));
}

}  // namespace

NodeMetrics::NodeMetrics(std::string state_dir)
    : state_dir_(std::move(state_dir)), acts_(audit_path(state_dir_)) {}

// A file that is not as expected gives what was read of it: the age says whether it is of use.
std::vector<prometheus::MetricFamily> NodeMetrics::Collect() const {
  const std::lock_guard lock(mutex_);
  MetricText text;
  prometheus::MetricFamily sources;
  const auto file = read_file(verdict_path(state_dir_));
  const auto record = file ? json::parse(*file, nullptr, false) : json();
  try {
    if (record.is_object()) {
      const auto& figures = part(record, "figures");
      text.gauge("acrf_healthd_age_seconds", "Since acrf-healthd wrote what is shown here",
                 age_s(record.at("boottime_ms")));
      add_states(text, record, figures);
      add_incidents(text, figures);
      sources = probe_seconds(figures);
      add_process(text, figures.value("pid", 0));
      acts_.read_on(figures.value("started_ms", std::int64_t{0}));
      acts_.add_to(text);
    }
    text.gauge("acrf_healthd_spooled_bytes", "What waits on disk for a hub",
               spooled_bytes(state_dir_ + "/report"));
  } catch (const std::exception&) {
  }
  auto families = text.families();
  if (!sources.metric.empty()) families.push_back(std::move(sources));
  return families;
}

}  // namespace acrf
