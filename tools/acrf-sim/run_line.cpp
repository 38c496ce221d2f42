// SPDX-License-Identifier: GPL-2.0-or-later
#include "run_line.h"

#include <nlohmann/json.hpp>

#include "core/hostlist.h"

namespace acrf::sim {
namespace {

using nlohmann::json;
using What = RunLine::What;

struct Word {
  What what;
  const char* name;
};
constexpr Word kWords[] = {{What::kBegin, "begin"},
                           {What::kEnd, "end"},
                           {What::kFail, "fail"},
                           {What::kTwice, "twice"},
                           {What::kFault, "fault"}};

std::optional<RunLine> parse_line(std::string_view text) {
  const auto object = json::parse(text, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  RunLine line;
  try {
    const std::string name = object.at("what");
    const Word* found = nullptr;
    for (const auto& word : kWords)
      if (name == word.name) found = &word;
    if (!found) return std::nullopt;
    line.what = found->what;
    line.restart = object.at("restart");
    line.at_ms = object.at("ms");
    line.text = object.value("text", "");
    if (auto nodes = expand_hostlist(object.value("nodes", ""))) line.nodes = std::move(*nodes);
  } catch (const json::exception&) {
    return std::nullopt;
  }
  return line;
}

}  // namespace

std::string to_text(const RunLine& line, const std::string& hosts) {
  json object = {{"restart", line.restart}, {"ms", line.at_ms}};
  for (const auto& word : kWords)
    if (word.what == line.what) object["what"] = word.name;
  if (!line.text.empty()) object["text"] = line.text;
  if (!hosts.empty()) object["nodes"] = hosts;
  return object.dump(-1, ' ', true, json::error_handler_t::replace) + "\n";
}

std::vector<RunLine> parse_run_lines(std::string_view text, std::size_t& from) {
  std::vector<RunLine> lines;
  for (auto end = text.find('\n', from); end != std::string_view::npos;
       end = text.find('\n', from)) {
    if (auto line = parse_line(text.substr(from, end - from))) lines.push_back(std::move(*line));
    from = end + 1;
  }
  return lines;
}

}  // namespace acrf::sim
