// SPDX-License-Identifier: GPL-2.0-or-later
#include "hub/http/decision_counts.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "common/unique_fd.h"

namespace acrf::hub {
namespace {

constexpr std::size_t kMostBytes = 4 << 20;  // at one call
constexpr std::size_t kMostOutcomes = 20;

// Outcomes in which plain cons_tres looked at all nodes though select/acrf was asked.
bool is_fallback(const std::string& outcome) {
  return outcome == "refused" || outcome == "not-tried" || outcome == "no-plan" ||
         outcome == "no-engine";
}

}  // namespace

void DecisionCounts::read_on() {
  const UniqueFd fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0) return;
  if (status.st_ino != inode_ || status.st_size < place_) {
    inode_ = status.st_ino;
    place_ = 0;
    rest_.clear();
  }
  std::string text(std::min(kMostBytes, static_cast<std::size_t>(status.st_size - place_)), '\0');
  const auto n = ::pread(fd.get(), text.data(), text.size(), place_);
  if (n <= 0) return;
  text.resize(static_cast<std::size_t>(n));
  place_ += n;
  rest_ += text;
  std::size_t begin = 0;
  for (auto end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n', begin)) {
    take(std::string_view(rest_).substr(begin, end - begin));
    begin = end + 1;
  }
  rest_.erase(0, begin);
}

void DecisionCounts::take(std::string_view line) {
  const auto decision = nlohmann::json::parse(line, nullptr, false);
  if (!decision.is_object()) return;
  const auto outcome = decision.value("outcome", std::string());
  const bool known = outcomes_.contains(outcome) || outcomes_.size() < kMostOutcomes;
  ++outcomes_[known ? outcome : "other"];
  const auto planned = decision.find("plan_us");
  if (planned == decision.end() || !planned->is_number()) return;
  const double seconds = planned->get<double>() / 1e6;
  ++count_;
  sum_s_ += seconds;
  for (std::size_t i = 0; i < kBounds_s.size(); ++i) up_to_[i] += seconds <= kBounds_s[i];
}

std::uint64_t DecisionCounts::count(const std::string& outcome) const {
  const auto found = outcomes_.find(outcome);
  return found == outcomes_.end() ? 0 : found->second;
}

void DecisionCounts::add_to(MetricText& text) const {
  if (outcomes_.empty()) return;
  std::uint64_t fallbacks = 0;
  text.begin("acrf_placement_decisions_total", "Decisions of select/acrf by outcome",
             MetricText::Kind::kCounter);
  for (const auto& [outcome, count] : outcomes_) {
    text.add({{"outcome", outcome}}, static_cast<double>(count));
    if (is_fallback(outcome)) fallbacks += count;
  }
  text.counter("acrf_placement_fallbacks_total", "Decisions left to plain cons_tres",
               static_cast<double>(fallbacks));
  MetricText::Histogram histogram;
  for (std::size_t i = 0; i < kBounds_s.size(); ++i)
    histogram.buckets.emplace_back(kBounds_s[i], up_to_[i]);
  histogram.sum = sum_s_;
  histogram.count = count_;
  text.histogram("acrf_placement_seconds", "Time that planning a placement took", histogram);
}

}  // namespace acrf::hub
