// SPDX-License-Identifier: GPL-2.0-or-later
#include "cluster_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace acrf {
namespace {

using nlohmann::ordered_json;
using Counts = std::array<int, kPartStates.size()>;

constexpr std::size_t kMostLines = 10;
constexpr std::size_t kLongestShown = 120;

int total(const Counts& counts) { return std::accumulate(counts.begin(), counts.end(), 0); }

int count_of(const Counts& counts, PartState state) {
  return counts[static_cast<std::size_t>(state)];
}

int out_of_service(const Counts& counts) {
  int sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (is_out_of_service(static_cast<PartState>(i))) sum += counts[i];
  return sum;
}

// "7 healthy, 1 drained"
std::string count_text(const Counts& counts, bool told) {
  std::string text;
  for (const auto first : {PartState::kHealthy, PartState::kUnknown})
    if (const int n = count_of(counts, first); n > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", n, state_word(first, told));
  for (std::size_t i = 2; i < counts.size(); ++i)
    if (counts[i] > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", counts[i], kPartStates[i]);
  return text.empty() ? "none" : text;
}

std::string jobs_text(const StatusFacts& facts) {
  std::string text;
  for (const char* state : {"running", "pending", "completed", "failed", "requeued"}) {
    const auto found = facts.jobs.find(state);
    if (found != facts.jobs.end())
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", found->second, state);
  }
  return text.empty() ? "none" : text;
}

std::string recovery_text(const StatusFacts& facts) {
  if (facts.recoveries->count == 0) return "none yet";
  auto text =
      fmt::format("{}, half of them within {:.1f} s, 99 % within {:.1f} s", facts.recoveries->count,
                  facts.recoveries->p50_s, facts.recoveries->p99_s);
  if (facts.ettr) text += fmt::format("; ETTR {:.3f}", *facts.ettr);
  return text;
}

std::string brake_text(const StatusFacts& facts) {
  if (!facts.held.empty())
    return "hold back " + printable_line(facts.held, kLongestShown) + " (see acrf brakes)";
  if (facts.brakes_full.empty()) return "none at its limit";
  return printable_line(facts.brakes_full.front(), kLongestShown) +
         (facts.brakes_full.size() > 1 ? fmt::format(" (and {} more)", facts.brakes_full.size() - 1)
                                       : "");
}

}  // namespace

StatusJudgement judge_status(const StatusFacts& facts, const StatusLimits& limits) {
  const int all = total(facts.nodes), out = out_of_service(facts.nodes);
  if (all == 0) return {CheckStatus::kUnknown, "there are no nodes"};
  const double share = 100.0 * out / all;
  const auto out_text = fmt::format("{} of {} nodes out of service", out, all);
  if (!facts.held.empty())
    return {CheckStatus::kCritical,
            "brakes hold back " + printable_line(facts.held, kLongestShown) + "; " + out_text};
  if (share > limits.critical) return {CheckStatus::kCritical, out_text};
  if (share > limits.warning) return {CheckStatus::kWarning, out_text};
  if (!facts.brakes_full.empty())
    return {CheckStatus::kWarning, printable_line(facts.brakes_full.front(), kLongestShown)};
  const int silent = facts.told ? count_of(facts.nodes, PartState::kUnknown) : 0;
  const int doubtful =
      count_of(facts.nodes, PartState::kSuspect) + count_of(facts.nodes, PartState::kQuarantined);
  if (doubtful > 0)
    return {CheckStatus::kWarning,
            fmt::format("{} of {} nodes suspect or with a GPU in quarantine", doubtful, all)};
  if (silent > 0)
    return {CheckStatus::kWarning, fmt::format("{} of {} nodes do not report", silent, all)};
  return {CheckStatus::kOk, out_text};
}

std::string status_text(const StatusFacts& facts, const StatusJudgement& judgement) {
  auto text = fmt::format("ACRF {} - {}\n", name_of(judgement.status), judgement.sentence);
  const auto row = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{:<11}{}\n", name, value);
  };
  row("cluster", fmt::format("{}, Mode={}, as {} says{}", facts.cluster, facts.mode, facts.source,
                             facts.note.empty() ? "" : " (" + facts.note + ")"));
  row("nodes", fmt::format("{}: {}", total(facts.nodes), count_text(facts.nodes, facts.told)));
  const int gpus = total(facts.gpus);
  auto gpu_row = fmt::format("{}: {}", gpus, count_text(facts.gpus, facts.told));
  if (facts.gpus_in_use && gpus > 0)
    gpu_row += fmt::format("; {} in use ({:.0f} %)", *facts.gpus_in_use,
                           100.0 * *facts.gpus_in_use / gpus);
  row("GPUs", gpu_row);
  row("jobs", jobs_text(facts));
  if (facts.recoveries) row("recoveries", recovery_text(facts));
  if (facts.incidents_open)
    row("incidents", fmt::format("{} open, {} in the last hour", *facts.incidents_open,
                                 facts.incidents_last_hour.value_or(0)));
  row("brakes", brake_text(facts));
  if (!facts.here.empty())
    row("here", fmt::format("{}: {}: {}", facts.here, facts.here_verdict.node_class,
                            printable_line(facts.here_verdict.text, kLongestShown)));
  const auto room =
      kMostLines - static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  const auto all_out = static_cast<std::size_t>(out_of_service(facts.nodes));
  for (std::size_t i = 0; i < facts.out.size() && i < room; ++i) {
    const bool last = i + 1 == room && all_out > room;
    row("out",
        fmt::format("{} {}: {}{}", facts.out[i].name, name_of(facts.out[i].state),
                    printable_line(facts.out[i].reason, kLongestShown),
                    last ? fmt::format(" (and {} more: acrf node --out)", all_out - room) : ""));
  }
  return text;
}

ordered_json status_json(const StatusFacts& facts, const StatusJudgement& judgement) {
  ordered_json nodes, gpus, out = ordered_json::array();
  for (std::size_t i = 0; i < kPartStates.size(); ++i) {
    nodes[std::string(kPartStates[i])] = facts.nodes[i];
    gpus[std::string(kPartStates[i])] = facts.gpus[i];
  }
  for (const auto& node : facts.out)
    out.push_back({{"name", node.name}, {"state", name_of(node.state)}, {"reason", node.reason}});
  ordered_json all = {{"status", static_cast<int>(judgement.status)},
                      {"word", name_of(judgement.status)},
                      {"sentence", judgement.sentence},
                      {"cluster", facts.cluster},
                      {"mode", facts.mode},
                      {"source", facts.source},
                      {"told", facts.told},
                      {"nodes", std::move(nodes)},
                      {"gpus", std::move(gpus)},
                      {"jobs", facts.jobs},
                      {"brakes_full", facts.brakes_full},
                      {"held", facts.held},
                      {"out", std::move(out)}};
  if (!facts.note.empty()) all["note"] = facts.note;
  if (facts.gpus_in_use) all["gpus_in_use"] = *facts.gpus_in_use;
  if (facts.recoveries)
    all["recoveries"] = {{"count", facts.recoveries->count},
                         {"p50_s", facts.recoveries->p50_s},
                         {"p99_s", facts.recoveries->p99_s}};
  if (facts.ettr) all["ettr"] = *facts.ettr;
  if (facts.incidents_open)
    all["incidents"] = {{"open", *facts.incidents_open},
                        {"last_hour", facts.incidents_last_hour.value_or(0)}};
  if (!facts.here.empty())
    all["here"] = {{"node", facts.here},
                   {"status", static_cast<int>(facts.here_verdict.status)},
                   {"class", facts.here_verdict.node_class},
                   {"text", facts.here_verdict.text}};
  return all;
}

}  // namespace acrf
