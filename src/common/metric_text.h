// SPDX-License-Identifier: GPL-2.0-or-later
// Metrics in Prometheus' text form, by prometheus-cpp: families in the order they are begun.
#pragma once

#include <prometheus/metric_family.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace acrf {

class MetricText {
 public:
  enum class Kind { kCounter, kGauge };
  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  struct Histogram {
    std::vector<std::pair<double, std::uint64_t>> buckets;  // up to this much, so many in all
    double sum = 0;
    std::uint64_t count = 0;
  };

  // The family that add() adds to. One without values is left out.
  void begin(const std::string& name, const std::string& help, Kind kind);
  void add(Labels labels, double value);

  void gauge(const std::string& name, const std::string& help, double value);
  void counter(const std::string& name, const std::string& help, double value);
  void histogram(const std::string& name, const std::string& help, const Histogram& histogram);

  // Families without values are left out.
  std::vector<prometheus::MetricFamily> families() const;
  std::string to_string() const;

 private:
  std::vector<prometheus::MetricFamily> families_;
};

}  // namespace acrf
