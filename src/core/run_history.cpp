// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/run_history.h"

#include <optional>

#include "core/comment_word.h"
#include "core/text.h"

namespace acrf {
namespace {

constexpr std::string_view kPrefix = "acrf-runs:";
constexpr std::size_t kKeptRuns = 16;  // of about 40 characters

std::optional<RequeueCause> parse_cause(std::string_view name) {
  for (const auto cause : {RequeueCause::kHardware, RequeueCause::kNode, RequeueCause::kPreemption,
                           RequeueCause::kApplication, RequeueCause::kOther})
    if (name_of(cause) == name) return cause;
  return std::nullopt;
}

std::string_view take_up_to(std::string_view& text, char end) {
  const auto piece = text.substr(0, text.find(end));
  text.remove_prefix(std::min(text.size(), piece.size() + 1));
  return piece;
}

// A node's name may have the separator in it, and is last.
std::optional<PastRun> parse_run(std::string_view text) {
  const auto start = parse_unsigned(take_up_to(text, '-'));
  const auto end = parse_unsigned(take_up_to(text, '-'));
  const auto cause = parse_cause(take_up_to(text, '-'));
  const auto node = decode_word(text);
  if (!start || !end || !cause || !node) return std::nullopt;
  return PastRun{static_cast<std::int64_t>(*start), static_cast<std::int64_t>(*end), *cause, *node};
}

std::string to_word(const RunHistory& history) {
  std::string word = std::string(kPrefix) + "submitted=" + std::to_string(history.submitted_unix_s);
  for (const auto& run : history.runs)
    word += "," + std::to_string(run.start_unix_s) + "-" + std::to_string(run.end_unix_s) + "-" +
            std::string(name_of(run.cause)) + "-" + encode_word(run.node);
  return word;
}

}  // namespace

RunHistory find_run_history(std::string_view admin_comment) {
  auto word = find_word(admin_comment, kPrefix);
  if (!word) return {};
  RunHistory history;
  bool first = true;
  for (auto field : split(*word, ',')) {
    if (first) {
      const auto submitted =
          take_prefix(field, "submitted=") ? parse_unsigned(field) : std::nullopt;
      if (!submitted) return {};
      history.submitted_unix_s = static_cast<std::int64_t>(*submitted);
      first = false;
      continue;
    }
    const auto run = parse_run(field);
    if (!run) return {};
    history.runs.push_back(*run);
  }
  return history;
}

std::string with_run(std::string_view admin_comment, std::int64_t submitted_unix_s,
                     const PastRun& run) {
  auto history = find_run_history(admin_comment);
  if (history.submitted_unix_s == 0) history.submitted_unix_s = submitted_unix_s;
  history.runs.push_back(run);
  if (history.runs.size() > kKeptRuns) history.runs.erase(history.runs.begin());
  return with_word(admin_comment, kPrefix, to_word(history));
}

}  // namespace acrf
