// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/resume.h"

#include <limits>
#include <set>

#include "core/text.h"

namespace acrf {
namespace {

constexpr std::size_t kLongestHistory = 32, kTries = 2;

std::optional<ResumeRecord> parse_record(std::string_view line) {
  const auto job_id = take_unsigned(line);
  if (!job_id || !take_prefix(line, " ")) return std::nullopt;
  const auto restart = take_unsigned(line);
  if (!restart || *restart > std::numeric_limits<unsigned>::max() || !take_prefix(line, " ") ||
      line.empty())
    return std::nullopt;
  return ResumeRecord{*job_id, static_cast<unsigned>(*restart), std::string(line)};
}

// True when the job later began from a newer one: then this one did bring it forward.
bool shows_progress(const ResumeRecord& record, const std::string& checkpoint) {
  const auto reached = step_of(record.name), from = step_of(checkpoint);
  return reached && from && *reached > *from;
}

bool was_tried_in_vain(const std::vector<ResumeRecord>& history, std::uint64_t job_id,
                       unsigned restart, const std::string& checkpoint) {
  std::set<unsigned> restarts;
  for (const auto& record : history) {
    if (record.job_id != job_id || record.restart == 0 || record.restart >= restart) continue;
    if (record.name == checkpoint) {
      restarts.insert(record.restart);
    } else if (shows_progress(record, checkpoint)) {
      restarts.clear();
    }
  }
  return restarts.size() >= kTries;
}

}  // namespace

std::vector<ResumeRecord> parse_resume_history(std::string_view text) {
  std::vector<ResumeRecord> history;
  for (const auto line : split(text, '\n'))
    if (auto record = parse_record(line)) history.push_back(std::move(*record));
  return history;
}

std::string format_resume_history(const std::vector<ResumeRecord>& history) {
  std::string text;
  for (std::size_t i = history.size() - std::min(history.size(), kLongestHistory);
       i < history.size(); ++i) {
    text += std::to_string(history[i].job_id) + " " + std::to_string(history[i].restart) + " " +
            history[i].name + "\n";
  }
  return text;
}

std::optional<std::string> choose_resume(const CheckpointJudge& judge,
                                         const std::vector<ResumeRecord>& history,
                                         std::uint64_t job_id, unsigned restart) {
  std::optional<std::string> newest;
  for (const auto& entry : judge.candidates()) {
    if (judge.defect_of(entry)) continue;
    if (!was_tried_in_vain(history, job_id, restart, entry.name)) return entry.name;
    if (!newest) newest = entry.name;
  }
  return newest;
}

}  // namespace acrf
