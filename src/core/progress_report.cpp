// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/progress_report.h"

#include <algorithm>
#include <set>

#include "core/comment_word.h"
#include "core/hostlist.h"
#include "core/text.h"

namespace acrf {
namespace {

constexpr std::string_view kPrefix = "acrf-progress:";
constexpr std::size_t kKeptBeats = 32;

std::optional<Heartbeat> parse_beat(std::string_view line) {
  const auto words = split(line, ' ');
  if (words.size() != 2) return std::nullopt;
  const auto step = parse_unsigned(words[0]), unix_ms = parse_unsigned(words[1]);
  if (!step || !unix_ms) return std::nullopt;
  return Heartbeat{static_cast<std::int64_t>(*step), static_cast<std::int64_t>(*unix_ms)};
}

std::string to_word(const ProgressWord& word) {
  return std::string(kPrefix) + (word.hangs ? "hang" : "slow") +
         ",step=" + std::to_string(word.step) + ",nodes=" + compress_hostlist(word.nodes);
}

}  // namespace

RankReport parse_rank_report(int rank, std::string_view text) {
  RankReport report{rank, "", {}};
  const auto lines = split(text, '\n');
  report.node = std::string(trim(lines.front()));
  for (std::size_t i = 1; i < lines.size(); ++i)
    if (const auto beat = parse_beat(lines[i])) report.beats.push_back(*beat);
  return report;
}

std::string format_rank_report(const RankReport& report) {
  std::string text = report.node + "\n";
  for (const auto& beat : report.beats)
    text += std::to_string(beat.step) + " " + std::to_string(beat.unix_ms) + "\n";
  return text;
}

void add_beat(RankReport& report, const Heartbeat& beat) {
  if (!report.beats.empty() && beat.step <= report.beats.back().step) report.beats.clear();
  report.beats.push_back(beat);
  if (report.beats.size() > kKeptBeats) report.beats.erase(report.beats.begin());
}

void note_reports(ProgressWatch& watch, const std::vector<RankReport>& reports) {
  struct Beat {
    int rank;
    Heartbeat beat;
  };
  std::vector<Beat> beats;
  for (const auto& report : reports)
    for (const auto& beat : report.beats) beats.push_back({report.rank, beat});
  std::stable_sort(beats.begin(), beats.end(),
                   [](const Beat& a, const Beat& b) { return a.beat.unix_ms < b.beat.unix_ms; });
  for (const auto& [rank, beat] : beats)
    watch.note(rank, beat.step, static_cast<double>(beat.unix_ms) / 1000);
}

ProgressVerdict FailoverWatch::judge(const StepReports& step, double now_s) {
  if (!(step.fence == fence_)) watch_ = ProgressWatch(rules_);
  fence_ = step.fence;
  note_reports(watch_, step.ranks);
  return watch_.judge(now_s);
}

std::optional<ProgressWord> word_for(const ProgressVerdict& verdict,
                                     const std::vector<RankReport>& reports) {
  const auto& ranks = verdict.hangs ? verdict.suspects : verdict.stragglers;
  std::set<std::string> nodes;
  ProgressWord word;
  word.hangs = verdict.hangs;
  for (const auto& report : reports) {
    if (!report.beats.empty()) word.step = std::max(word.step, report.beats.back().step);
    if (std::find(ranks.begin(), ranks.end(), report.rank) != ranks.end() && !report.node.empty())
      nodes.insert(report.node);
  }
  if (nodes.empty()) return std::nullopt;
  word.nodes.assign(nodes.begin(), nodes.end());
  return word;
}

std::string with_progress(std::string_view comment, const std::optional<ProgressWord>& word) {
  return with_word(comment, kPrefix, word ? to_word(*word) : "");
}

std::optional<ProgressWord> find_progress(std::string_view comment, std::size_t most) {
  auto text = find_word(comment, kPrefix);
  if (!text) return std::nullopt;
  ProgressWord word;
  word.hangs = take_prefix(*text, "hang");
  if (!word.hangs && !take_prefix(*text, "slow")) return std::nullopt;
  if (!take_prefix(*text, ",step=")) return std::nullopt;
  const auto step = take_unsigned(*text);
  if (!step || !take_prefix(*text, ",nodes=")) return std::nullopt;
  auto nodes = expand_hostlist(*text, most);
  if (!nodes || nodes->empty() || nodes->size() > most) return std::nullopt;
  word.step = static_cast<std::int64_t>(*step);
  word.nodes = std::move(*nodes);
  return word;
}

}  // namespace acrf
