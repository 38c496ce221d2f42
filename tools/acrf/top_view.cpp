// SPDX-License-Identifier: GPL-2.0-or-later
#include "top_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace acrf {
namespace {

constexpr std::string_view kRed = "\033[31m", kYellow = "\033[33m", kBold = "\033[1m",
                           kInverse = "\033[7m", kPlain = "\033[0m";

// At most so many characters; bytes of one character stay together.
std::string cut(const std::string& text, std::size_t columns) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80;
    if (begins && characters++ == columns) return text.substr(0, i);
  }
  return text;
}

std::string in_colour(std::string_view colour, const std::string& text, const TopFrame& frame) {
  if (!frame.colours || colour.empty()) return text;
  return std::string(colour) + text + std::string(kPlain);
}

std::string_view colour_of(CheckStatus status) {
  switch (status) {
    case CheckStatus::kOk: return "";
    case CheckStatus::kCritical: return kRed;
    default: return kYellow;
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

struct Row {
  std::string text;
  std::string_view colour;
};

std::vector<Row> node_rows(const TopData& data) {
  const auto lines = lines_of(nodes_text(data.nodes));
  std::vector<Row> rows;
  for (std::size_t i = 0; i < lines.size(); ++i)
    rows.push_back(
        {lines[i],
         i == 0 ? kInverse : colour_of(check_of(data.nodes[i - 1].state, data.nodes[i - 1].told))});
  return rows;
}

std::vector<Row> job_rows(const TopData& data) {
  constexpr auto kForm = "{:>8}  {:<10}  {:<20}  {:<10}  {:>5}  {:>8}  {}";
  std::vector<Row> rows = {
      {fmt::format(kForm, "JOB", "STATE", "NAME", "USER", "GPUS", "RESTARTS", "NODES"), kInverse}};
  for (const auto& job : data.jobs)
    rows.push_back({fmt::format(kForm, job.id, job.state, printable_line(job.name, 20),
                                printable_line(job.user, 10), job.gpus, job.restarts,
                                printable_line(job.nodes.empty() ? job.reason : job.nodes, 200)),
                    job.restarts > 0 ? kYellow : std::string_view()});
  return rows;
}

std::vector<Row> head_of(const TopData& data) {
  std::vector<Row> head;
  for (auto& line : lines_of(status_text(data.facts, data.judgement)))
    head.push_back({std::move(line), ""});
  if (!head.empty()) {
    head.front().text += "  " + data.time;
    const auto colour = colour_of(data.judgement.status);
    head.front().colour = colour.empty() ? kBold : colour;
  }
  if (!data.problem.empty()) head.push_back({"not new: " + data.problem, kRed});
  return head;
}

std::string keys_text(const TopFrame& frame, std::size_t rows, std::size_t shown) {
  const auto place = rows == 0
                         ? std::string("nothing to show")
                         : fmt::format("{}-{} of {}", frame.first + 1, frame.first + shown, rows);
  return frame.keys
             ? fmt::format("{}  q quit  n nodes  j jobs  arrows scroll  space now  +/- pace", place)
             : place;
}

// The heading and the line at the end.
constexpr std::size_t kFixedLines = 2;

}  // namespace

void sort_for_top(TopData& data) {
  std::stable_sort(data.nodes.begin(), data.nodes.end(), [](const auto& a, const auto& b) {
    const auto badness = [](const NodeShown& node) {
      const auto check = check_of(node.state, node.told);
      return check == CheckStatus::kOk ? 0 : static_cast<int>(node.state) + 1;
    };
    return badness(a) > badness(b);
  });
  std::stable_sort(data.jobs.begin(), data.jobs.end(), [](const auto& a, const auto& b) {
    return (a.state == "RUNNING") > (b.state == "RUNNING");
  });
}

std::size_t rows_that_fit(const TopData& data, const TopFrame& frame) {
  const auto used = head_of(data).size() + kFixedLines;
  return frame.lines > used ? frame.lines - used : 0;
}

std::vector<std::string> top_lines(const TopData& data, TopFrame& frame) {
  auto all = head_of(data);
  const auto rows = frame.page == TopPage::kNodes ? node_rows(data) : job_rows(data);
  const auto count = rows.size() - 1;
  const auto room = rows_that_fit(data, frame);
  frame.first = std::min(frame.first, count > room ? count - room : 0);
  const auto shown = std::min(room, count - frame.first);
  all.push_back(rows.front());
  for (std::size_t i = 0; i < shown; ++i) all.push_back(rows[frame.first + 1 + i]);
  if (all.size() < frame.lines) all.push_back({keys_text(frame, count, shown), kBold});
  if (all.size() > frame.lines) all.resize(frame.lines);
  std::vector<std::string> lines;
  for (const auto& row : all)
    lines.push_back(in_colour(row.colour, cut(row.text, frame.columns), frame));
  return lines;
}

}  // namespace acrf
