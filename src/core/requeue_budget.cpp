// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/requeue_budget.h"

#include <algorithm>

#include "core/comment_word.h"
#include "core/text.h"

namespace acrf {
namespace {

constexpr std::string_view kPrefix = "acrf-requeues:";
constexpr std::string_view kNames[] = {"hardware", "node", "preemption", "application", "other"};
constexpr std::size_t kKeptFailures = 8;
constexpr std::size_t kPoisonNodes = 3;
constexpr int kLongestBackoff_s = 3600;
constexpr int kMostCounted = 1'000'000;

std::size_t index(RequeueCause cause) { return static_cast<std::size_t>(cause); }

// Hardware is no reason to wait, since the job goes elsewhere, and of preemption the scheduler
// takes care. What may come again at once waits longer each time.
int backoff(RequeueCause cause, int times, int first_s) {
  if ((cause != RequeueCause::kNode && cause != RequeueCause::kApplication) || times < 2) return 0;
  int wait = first_s;
  for (int i = 2; i < times && wait < kLongestBackoff_s; ++i) wait *= 2;
  return std::min(wait, kLongestBackoff_s);
}

std::size_t nodes_with(const std::vector<ProgramFailure>& failures, int status) {
  std::vector<std::string_view> nodes;
  for (const auto& failure : failures)
    if (failure.status == status &&
        std::find(nodes.begin(), nodes.end(), failure.node) == nodes.end())
      nodes.push_back(failure.node);
  return nodes.size();
}

bool parse_failures(std::string_view text, std::vector<ProgramFailure>& failures) {
  for (const auto piece : split(text, '+')) {
    const auto at = piece.find('@');
    if (at == std::string_view::npos) return false;
    const auto status = parse_unsigned(piece.substr(0, at));
    const auto node = decode_word(piece.substr(at + 1));
    if (!status || *status > 255 || !node || node->empty()) return false;
    failures.push_back({static_cast<int>(*status), *node});
  }
  return failures.size() <= kKeptFailures;
}

bool parse_field(std::string_view field, RequeueCount& count) {
  if (take_prefix(field, "failed=")) return parse_failures(field, count.failures);
  if (take_prefix(field, "seen=")) {
    const auto number = parse_unsigned(field);
    if (!number || *number > kMostCounted) return false;
    count.seen = static_cast<int>(*number);
    return true;
  }
  for (std::size_t i = 0; i < count.by_cause.size(); ++i) {
    if (!starts_with(field, std::string(kNames[i]) + "=")) continue;
    const auto number = parse_unsigned(field.substr(kNames[i].size() + 1));
    if (!number || *number > kMostCounted) return false;
    count.by_cause[i] = static_cast<int>(*number);
    return true;
  }
  return false;
}

std::string to_word(const RequeueCount& count) {
  std::string fields = "seen=" + std::to_string(count.seen);
  for (std::size_t i = 0; i < count.by_cause.size(); ++i)
    if (count.by_cause[i] > 0)
      fields += "," + std::string(kNames[i]) + "=" + std::to_string(count.by_cause[i]);
  std::string failures;
  for (const auto& failure : count.failures)
    failures += (failures.empty() ? "" : "+") + std::to_string(failure.status) + "@" +
                encode_word(failure.node);
  if (!failures.empty()) fields += ",failed=" + failures;
  return std::string(kPrefix) + fields;
}

}  // namespace

int RequeueCount::of(RequeueCause cause) const {
  return cause == RequeueCause::kOther ? 0 : by_cause[index(cause)];
}

std::string_view name_of(RequeueCause cause) { return kNames[index(cause)]; }

RequeueVerdict count_requeue(RequeueCount& count, int restart, RequeueCause cause,
                             const RequeueBudget& budget,
                             const std::optional<ProgramFailure>& failure) {
  RequeueVerdict verdict;
  count.seen = restart;
  if (cause == RequeueCause::kOther) return verdict;
  const int times = ++count.by_cause[index(cause)];
  if (cause == RequeueCause::kApplication && failure) {
    if (count.failures.size() == kKeptFailures) count.failures.erase(count.failures.begin());
    count.failures.push_back(*failure);
    if (failure->status == kDoNotRequeue) {
      verdict.step = RequeueStep::kHold;
      verdict.reason = "ACRF: exited with 93, which means do not requeue";
      return verdict;
    }
    if (nodes_with(count.failures, failure->status) >= kPoisonNodes) {
      verdict.step = RequeueStep::kHold;
      verdict.reason = "ACRF: failed with status " + std::to_string(failure->status) + " on " +
                       std::to_string(kPoisonNodes) + " different nodes, which are not to blame";
      return verdict;
    }
  }
  const int most = budget.most[index(cause)];
  if (times > most) {
    verdict.step = RequeueStep::kHold;
    verdict.reason = "ACRF: no restart left of " + std::to_string(most) + " because of " +
                     std::string(name_of(cause));
    return verdict;
  }
  verdict.wait_s = backoff(cause, times, budget.backoff_s);
  return verdict;
}

bool may_retry(const RequeueCount& count, const RequeueBudget& budget, int status) {
  return status != 0 && status != kDoNotRequeue &&
         count.of(RequeueCause::kApplication) < budget.most[index(RequeueCause::kApplication)];
}

std::string with_requeue_count(std::string_view comment, const RequeueCount& count) {
  return with_word(comment, kPrefix, to_word(count));
}

RequeueCount find_requeue_count(std::string_view comment) {
  for (auto word : split(comment, ' ')) {
    if (!take_prefix(word, kPrefix)) continue;
    RequeueCount count;
    bool good = true;
    for (const auto field : split(word, ',')) good &= parse_field(field, count);
    if (good) return count;
  }
  return {};
}

}  // namespace acrf
