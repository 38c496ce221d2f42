// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/progress_dir.h"

#include <chrono>
#include <filesystem>
#include <map>

#include "common/checkpoint_publish.h"
#include "common/file.h"
#include "core/text.h"

namespace acrf {
namespace {

namespace fs = std::filesystem;

std::string progress_dir(const std::string& checkpoint_dir) {
  return checkpoint_dir + "/.acrf-progress";
}

std::int64_t now_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

struct FileName {
  Fence fence;
  int rank = 0;
};

std::optional<FileName> parse_name(const std::string& name) {
  const auto dash = name.find('-');
  if (dash == std::string::npos) return std::nullopt;
  const auto fence = parse_fence(name.substr(0, dash));
  const auto rank = parse_unsigned(name.substr(dash + 1));
  if (!fence || !rank || *rank > 10'000'000) return std::nullopt;
  return FileName{*fence, static_cast<int>(*rank)};
}

bool is_later_step(const Fence& fence, const Fence& than) {
  return fence.job_id == than.job_id && fence.restart == than.restart &&
         fence.failover > than.failover;
}

// The launcher raises the directory's fence before the new ranks begin: until one of them has done
// a step, the old ones' silence is no hang.
Fence last_step(const std::string& checkpoint_dir, Fence fence) {
  for (const auto& raised : read_fences(checkpoint_dir))
    if (is_later_step(raised, fence)) fence = raised;
  return fence;
}

template <typename Take>
void for_each_file(const std::string& checkpoint_dir, const Take& take) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(progress_dir(checkpoint_dir), error))
    if (const auto name = parse_name(entry.path().filename().string()))
      take(*name, entry.path().string());
}

}  // namespace

Status report_step(const std::string& checkpoint_dir, const Fence& fence, int rank,
                   const std::string& node, std::int64_t step) {
  const auto directory = progress_dir(checkpoint_dir);
  std::error_code error;
  fs::create_directory(directory, error);
  if (error) return Error{ErrorCode::kSystem, directory + ": " + error.message()};
  const auto path = directory + "/" + to_text(fence) + "-" + std::to_string(rank);
  const auto before = read_file(path);
  auto report = parse_rank_report(rank, before ? *before : "");
  report.node = node;
  add_beat(report, {step, now_ms()});
  return replace_file(path, format_rank_report(report), 0644);
}

StepReports read_reports(const std::string& checkpoint_dir, const Fence& fence) {
  StepReports last{last_step(checkpoint_dir, fence), {}};
  for_each_file(checkpoint_dir, [&](const FileName& name, const std::string& path) {
    if (is_later_step(name.fence, last.fence)) last = {name.fence, {}};
    if (!(name.fence == last.fence)) return;
    if (const auto text = read_file(path))
      last.ranks.push_back(parse_rank_report(name.rank, *text));
  });
  return last;
}

std::vector<RunReach> read_reach(const std::string& checkpoint_dir, std::uint64_t job) {
  std::map<unsigned, std::int64_t> reached;
  for_each_file(checkpoint_dir, [&](const FileName& name, const std::string& path) {
    const auto text = name.fence.job_id == job ? read_file(path) : Result<std::string>("");
    if (!text || text->empty()) return;
    const auto report = parse_rank_report(name.rank, *text);
    if (report.beats.empty()) return;
    auto& step = reached[name.fence.restart];
    step = std::max(step, report.beats.back().step);
  });
  std::vector<RunReach> all;
  for (const auto& [restart, step] : reached) all.push_back({restart, step});
  return all;
}

}  // namespace acrf
