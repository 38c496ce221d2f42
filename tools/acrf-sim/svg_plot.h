// SPDX-License-Identifier: GPL-2.0-or-later
// Plots as SVG text for an HTML page; colours come from the page's style (classes s0, s1, ...).
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace acrf::sim {

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  // by x
};

struct Frame {
  std::string title;
  std::string x_unit, y_unit;
  double x_most = 1;        // both axes begin at 0
  double y_least_most = 1;  // the y axis reaches at least so far
};

// Values that hold until the next one: counts and shares.
std::string step_plot(const Frame& frame, const std::vector<Series>& series);

// How many values fall into each of `bins` equal ranges.
std::string histogram(const Frame& frame, const std::vector<double>& values, int bins);

// A round number of at least this much, for the end of an axis.
double round_up(double value);

std::string html_text(const std::string& text);

}  // namespace acrf::sim
