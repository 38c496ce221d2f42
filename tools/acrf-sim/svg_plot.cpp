// SPDX-License-Identifier: GPL-2.0-or-later
#include "svg_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace acrf::sim {
namespace {

constexpr double kWidth = 640, kHeight = 220;
constexpr double kLeft = 48, kRight = 12, kTop = 30, kBottom = 34;
constexpr double kInnerWidth = kWidth - kLeft - kRight, kInnerHeight = kHeight - kTop - kBottom;
constexpr int kTicks = 4;

struct Axes {
  double x_most, y_most;
  double x(double value) const { return kLeft + kInnerWidth * value / x_most; }
  double y(double value) const { return kTop + kInnerHeight * (1 - value / y_most); }
};

std::string number(double value) {
  return value == std::floor(value) ? fmt::format("{:.0f}", value) : fmt::format("{:.2g}", value);
}

std::string grid(const Frame& frame, const Axes& axes) {
  std::string svg;
  for (int i = 0; i <= kTicks; ++i) {
    const double x = axes.x_most * i / kTicks, y = axes.y_most * i / kTicks;
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>", kLeft,
        kWidth - kRight, axes.y(y), axes.y(y));
    svg +=
        fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>",
                    kLeft - 6, axes.y(y) + 4, number(y));
    svg +=
        fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}{}</text>",
                    axes.x(x), kHeight - kBottom + 18, i == kTicks ? "end" : "middle", number(x),
                    i == kTicks ? " " + html_text(frame.x_unit) : "");
  }
  return svg;
}

std::string legend(const Frame& frame, const std::vector<Series>& series) {
  std::string svg =
      fmt::format("<text class=\"title\" x=\"{}\" y=\"16\">{}{}</text>", 4, html_text(frame.title),
                  frame.y_unit.empty() ? "" : ", " + html_text(frame.y_unit));
  if (series.size() < 2) return svg;
  double x = kWidth - kRight;
  for (std::size_t i = series.size(); i-- > 0;) {
    x -= 7.0 * static_cast<double>(series[i].name.size()) + 6;
    svg += fmt::format("<text class=\"key\" x=\"{:.1f}\" y=\"16\">{}</text>", x,
                       html_text(series[i].name));
    x -= 14;
    svg += fmt::format(
        "<rect class=\"f{}\" x=\"{:.1f}\" y=\"7\" width=\"10\" height=\"10\" rx=\"2\"/>", i, x);
    x -= 8;
  }
  return svg;
}

std::string open_tag(const Frame& frame) {
  return fmt::format(
      "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\" "
      "xmlns=\"http://www.w3.org/2000/svg\">",
      kWidth, kHeight, html_text(frame.title));
}

std::string path_of(const Axes& axes, const Series& series, double x_most) {
  std::string path;
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    const auto& [x, y] = series.points[i];
    path += i == 0 ? fmt::format("M{:.1f} {:.1f}", axes.x(x), axes.y(y))
                   : fmt::format("H{:.1f}V{:.1f}", axes.x(x), axes.y(y));
  }
  return path + fmt::format("H{:.1f}", axes.x(x_most));
}

}  // namespace

double round_up(double value) {
  if (!(value > 0)) return 1;
  const double scale = std::pow(10, std::floor(std::log10(value)));
  for (const double step : {1.0, 2.0, 4.0, 5.0, 8.0, 10.0})
    if (value <= step * scale * (1 + 1e-9)) return step * scale;
  return 10 * scale;
}

std::string html_text(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '&')
      safe += "&amp;";
    else if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else if (c == '"')
      safe += "&quot;";
    else
      safe += c;
  }
  return safe;
}

std::string step_plot(const Frame& frame, const std::vector<Series>& series) {
  double most = frame.y_least_most;
  for (const auto& each : series)
    for (const auto& point : each.points) most = std::max(most, point.second);
  const Axes axes{std::max(frame.x_most, 1e-9), round_up(most)};
  auto svg = open_tag(frame) + grid(frame, axes) + legend(frame, series);
  for (std::size_t i = 0; i < series.size(); ++i)
    if (!series[i].points.empty())
      svg += fmt::format("<path class=\"line s{}\" d=\"{}\"/>", i,
                         path_of(axes, series[i], frame.x_most));
  return svg + "</svg>";
}

std::string histogram(const Frame& frame, const std::vector<double>& values, int bins) {
  std::vector<int> counts(static_cast<std::size_t>(bins), 0);
  const double x_most = round_up(std::max(frame.x_most, 1e-9));
  for (const double value : values) {
    const auto bin = static_cast<int>(value / x_most * bins);
    ++counts[static_cast<std::size_t>(std::clamp(bin, 0, bins - 1))];
  }
  const int highest = *std::max_element(counts.begin(), counts.end());
  const Axes axes{x_most, std::max(round_up(highest), 4.0)};
  auto svg = open_tag(frame) + grid(frame, axes) + legend(frame, {});
  for (int bin = 0; bin < bins; ++bin) {
    const int count = counts[static_cast<std::size_t>(bin)];
    const double left = axes.x(x_most * bin / bins), right = axes.x(x_most * (bin + 1) / bins);
    if (count > 0)
      svg += fmt::format(
          "<rect class=\"f0\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>",
          left + 1, axes.y(count), right - left - 2, axes.y(0) - axes.y(count));
  }
  return svg + "</svg>";
}

}  // namespace acrf::sim
