// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/checkpoint_resume.h"

#include <algorithm>

#include "common/checkpoint_dir.h"
#include "common/checkpoint_publish.h"
#include "common/directory_lock.h"
#include "common/file.h"
#include "core/resume.h"

namespace acrf {
namespace {

constexpr std::chrono::milliseconds kPatience(500);  // two locks, so a second in all

std::string history_path(const std::string& directory) {
  return directory + "/" + std::string(kResumeHistoryName);
}

std::vector<ResumeRecord> read_history(const std::string& directory) {
  const auto text = read_file(history_path(directory));
  return text ? parse_resume_history(*text) : std::vector<ResumeRecord>();
}

bool contains(const std::vector<ResumeRecord>& history, const ResumeRecord& record) {
  return std::find(history.begin(), history.end(), record) != history.end();
}

// A name with a line break would be read back as two records.
bool can_be_noted(const ResumeRecord& record) {
  return record.name.find('\n') == std::string::npos;
}

Status note(const std::string& directory, const ResumeRecord& record) {
  const auto lock = DirectoryLock::take(directory, kPatience);
  if (!lock) return lock.error();
  auto history = read_history(directory);
  if (contains(history, record)) return Done{};
  history.push_back(record);
  return write_file(history_path(directory), format_resume_history(history), 0644);
}

}  // namespace

std::optional<std::string> resume_checkpoint(const std::string& directory, CheckpointFormat format,
                                             std::uint64_t job_id, unsigned restart) {
  if (job_id == 0 || restart == 0) return newest_checkpoint(directory, format);
  // Before the choice: what an earlier restart publishes after it would be lost work.
  (void)raise_fence(directory, Fence{job_id, restart}, kPatience);
  const CheckpointDir files(directory);
  const CheckpointJudge judge(files, format);
  const auto history = read_history(directory);
  const auto name = choose_resume(judge, history, job_id, restart);
  if (!name) return std::nullopt;
  const ResumeRecord record{job_id, restart, *name};
  if (!contains(history, record) && can_be_noted(record)) (void)note(directory, record);
  return directory + "/" + *name;
}

}  // namespace acrf
