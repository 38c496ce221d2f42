// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/metric_text.h"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <limits>

namespace acrf {

void MetricText::begin(const std::string& name, const std::string& help, Kind kind) {
  prometheus::MetricFamily family;
  family.name = name;
  family.help = help;
  family.type =
      kind == Kind::kCounter ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge;
  families_.push_back(std::move(family));
}

void MetricText::add(Labels labels, double value) {
  auto& family = families_.back();
  prometheus::ClientMetric metric;
  for (const auto& [name, text] : labels)
    metric.label.push_back({std::string(name), std::string(text)});
  metric.counter.value = metric.gauge.value = value;
  family.metric.push_back(std::move(metric));
}

void MetricText::gauge(const std::string& name, const std::string& help, double value) {
  begin(name, help, Kind::kGauge);
  add({}, value);
}

void MetricText::counter(const std::string& name, const std::string& help, double value) {
  begin(name, help, Kind::kCounter);
  add({}, value);
}

void MetricText::histogram(const std::string& name, const std::string& help,
                           const Histogram& histogram) {
  begin(name, help, Kind::kGauge);
  auto& family = families_.back();
  family.type = prometheus::MetricType::Histogram;
  prometheus::ClientMetric metric;
  metric.histogram.sample_count = histogram.count;
  metric.histogram.sample_sum = histogram.sum;
  for (const auto& [bound, count] : histogram.buckets)
    metric.histogram.bucket.push_back({count, bound});
  metric.histogram.bucket.push_back({histogram.count, std::numeric_limits<double>::infinity()});
  family.metric.push_back(std::move(metric));
}

std::vector<prometheus::MetricFamily> MetricText::families() const {
  auto families = families_;
  std::erase_if(families, [](const auto& family) { return family.metric.empty(); });
  return families;
}

std::string MetricText::to_string() const {
  return prometheus::TextSerializer().Serialize(families());
}

}  // namespace acrf
