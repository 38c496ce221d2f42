// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/node_verdict.h"

#include <algorithm>

#include "core/text.h"

namespace acrf {
namespace {

constexpr std::size_t kLongestText = 400;

bool is_critical(const Verdict& verdict) { return evacuates(verdict); }

bool matters(const Verdict& verdict) {
  return verdict.severity != Severity::kInfo && verdict.action != Action::kIgnore;
}

bool is_memory(std::string_view fault_class) {
  constexpr std::string_view kWords[] = {"ecc",  "edac",    "remap",      "retired_page", "hbm",
                                         "mem_", "amd_ras", "amd_poison", "bad_page"};
  return std::any_of(std::begin(kWords), std::end(kWords), [&](std::string_view word) {
    return fault_class.find(word) != std::string_view::npos;
  });
}

bool is_error(const Verdict& verdict) { return verdict.severity >= Severity::kCritical; }

// Worse findings compare greater.
std::pair<bool, Severity> rank_of(const Finding& finding) {
  return {is_critical(finding.verdict), finding.verdict.severity};
}

std::string join(std::span<const std::string> words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : "; ") + word;
  return text;
}

}  // namespace

std::string_view name_of(CheckStatus status) {
  switch (status) {
    case CheckStatus::kOk: return "OK";
    case CheckStatus::kWarning: return "WARNING";
    case CheckStatus::kCritical: return "CRITICAL";
    case CheckStatus::kUnknown: return "UNKNOWN";
  }
  return "UNKNOWN";
}

std::string health_state(const Verdict& verdict, std::optional<int> xid) {
  if (!matters(verdict)) return "HEALTHY";
  if (xid) return (is_error(verdict) ? "XID_CRITICAL_" : "XID_WARNING_") + std::to_string(*xid);
  if (is_error(verdict) && is_memory(verdict.fault_class)) return "ECC_ERROR";
  return is_error(verdict) ? "GPU_HEALTH_ERROR" : "GPU_HEALTH_WARNING";
}

std::string printable_line(std::string_view text, std::size_t limit) {
  std::string line;
  for (const char c : text) {
    if (line.size() == limit) break;
    const auto byte = static_cast<unsigned char>(c);
    line += byte < 0x20 || byte >= 0x7f ? ' ' : c;
  }
  return std::string(trim(line));
}

NodeVerdict judge_node(std::span<const Finding> findings, std::span<const std::string> silent) {
  const Finding* worst = nullptr;
  std::size_t others = 0;
  for (const auto& finding : findings) {
    if (!matters(finding.verdict)) continue;
    if (worst) ++others;
    if (!worst || rank_of(finding) > rank_of(*worst)) worst = &finding;
  }
  if (!worst && !silent.empty())
    return {CheckStatus::kUnknown, "UNKNOWN", printable_line(join(silent), kLongestText)};
  if (!worst) return {CheckStatus::kOk, "HEALTHY", "no findings"};
  std::string text = worst->verdict.fault_class;
  if (!worst->where.empty()) text += " " + worst->where;
  text += ": " + worst->evidence;
  if (others > 0) text += " (and " + std::to_string(others) + " more)";
  return {is_critical(worst->verdict) ? CheckStatus::kCritical : CheckStatus::kWarning,
          health_state(worst->verdict, worst->xid), printable_line(text, kLongestText)};
}

void CurrentFindings::note(Finding finding, std::int64_t until_s) {
  Key key{finding.verdict.fault_class, finding.where};
  auto& noted = noted_[std::move(key)];
  noted.until_s = std::max(noted.until_s, until_s);
  noted.finding = std::move(finding);
}

void CurrentFindings::forget(const std::string& fault_class, const std::string& where) {
  noted_.erase({fault_class, where});
  for (const auto& [check, findings] : checked_)
    for (const auto& finding : findings)
      if (finding.verdict.fault_class == fault_class && finding.where == where)
        dismissed_.insert({fault_class, where});
}

void CurrentFindings::replace(const std::string& check, std::vector<Finding> findings) {
  auto& current = checked_[check];
  for (const auto& before : current) {
    const bool is_over = std::none_of(findings.begin(), findings.end(), [&](const Finding& now) {
      return now.verdict.fault_class == before.verdict.fault_class && now.where == before.where;
    });
    if (is_over) dismissed_.erase({before.verdict.fault_class, before.where});
  }
  current = std::move(findings);
}

std::vector<Finding> CurrentFindings::at(std::int64_t now_s) const {
  std::vector<Finding> all;
  for (const auto& [key, noted] : noted_)
    if (now_s <= noted.until_s) all.push_back(noted.finding);
  for (const auto& [check, findings] : checked_)
    for (const auto& finding : findings)
      if (!dismissed_.contains({finding.verdict.fault_class, finding.where}))
        all.push_back(finding);
  return all;
}

}  // namespace acrf
