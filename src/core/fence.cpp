// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/fence.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/text.h"

namespace acrf {
namespace {

constexpr std::size_t kMostJobs = 32;
constexpr std::uint64_t kMostRestarts = std::numeric_limits<unsigned>::max();

template <typename Fences>
auto find_job(Fences& fences, std::uint64_t job_id) {
  return std::find_if(fences.begin(), fences.end(),
                      [&](const Fence& fence) { return fence.job_id == job_id; });
}

// Not before the other, of the same job.
bool reaches(const Fence& a, const Fence& b) {
  return std::pair(a.restart, a.failover) >= std::pair(b.restart, b.failover);
}

// "restart 2", "restart 2, failover 1"
std::string describe(const Fence& fence) {
  const auto text = "restart " + std::to_string(fence.restart);
  return fence.failover ? text + ", failover " + std::to_string(fence.failover) : text;
}

}  // namespace

Result<Fence> parse_fence(std::string_view text) {
  const Error bad = {
      ErrorCode::kInvalid,
      "'" + std::string(text) + "' is no fence; expected JOBID.RESTART or JOBID.RESTART.FAILOVER"};
  const auto job_id = take_unsigned(text);
  if (!job_id || *job_id == 0 || !take_prefix(text, ".")) return bad;
  const auto restart = take_unsigned(text);
  if (!restart || *restart > kMostRestarts) return bad;
  Fence fence{*job_id, static_cast<unsigned>(*restart), 0};
  if (text.empty()) return fence;
  if (!take_prefix(text, ".")) return bad;
  const auto failover = parse_unsigned(text);
  if (!failover || *failover > kMostRestarts) return bad;
  fence.failover = static_cast<unsigned>(*failover);
  return fence;
}

std::string to_text(const Fence& fence) {
  const auto text = std::to_string(fence.job_id) + "." + std::to_string(fence.restart);
  return fence.failover ? text + "." + std::to_string(fence.failover) : text;
}

std::vector<Fence> parse_fences(std::string_view text) {
  std::vector<Fence> fences;
  for (const auto line : split(text, '\n'))
    if (const auto fence = parse_fence(line)) raise_fence(fences, *fence);
  return fences;
}

std::string format_fences(const std::vector<Fence>& fences) {
  std::string text;
  for (const auto& fence : fences) text += to_text(fence) + "\n";
  return text;
}

Status check_fence(const std::vector<Fence>& fences, const Fence& mine) {
  const auto held = find_job(fences, mine.job_id);
  if (held == fences.end() || reaches(mine, *held)) return Done{};
  return Error{ErrorCode::kDenied, "fenced off: job " + std::to_string(mine.job_id) +
                                       " has since begun again (" + describe(*held) + "; this is " +
                                       describe(mine) + ")"};
}

bool raise_fence(std::vector<Fence>& fences, const Fence& mine) {
  const auto held = find_job(fences, mine.job_id);
  if (held != fences.end() && reaches(*held, mine)) return false;
  if (held != fences.end()) fences.erase(held);
  fences.push_back(mine);
  if (fences.size() > kMostJobs) fences.erase(fences.begin());
  return true;
}

}  // namespace acrf
