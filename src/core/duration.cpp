// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/duration.h"

#include <optional>
#include <string>
#include <vector>

#include "core/text.h"

namespace acrf {
namespace {

constexpr std::int64_t kMinute = 60, kHour = 3600, kDay = 86'400;

// Fields are multiplied only when they are known to be small.
std::optional<std::int64_t> parse_field(std::string_view text) {
  const auto number = parse_unsigned(text);
  if (!number || *number > static_cast<std::uint64_t>(kLongestDuration_s)) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

std::optional<std::int64_t> sum_fields(std::string_view text,
                                       const std::vector<std::int64_t>& units) {
  const auto fields = split(text, ':');
  if (fields.size() > units.size()) return std::nullopt;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto field = parse_field(fields[i]);
    if (!field) return std::nullopt;
    sum += *field * units[i];
  }
  return sum;
}

// 0: none.
std::int64_t unit_of_suffix(std::string_view text) {
  switch (text.empty() ? '\0' : text.back()) {
    case 's': return 1;
    case 'm': return kMinute;
    case 'h': return kHour;
    default: return 0;
  }
}

std::optional<std::int64_t> parse_any(std::string_view text) {
  if (const auto dash = text.find('-'); dash != std::string_view::npos) {
    const auto days = parse_field(text.substr(0, dash));
    const auto rest = sum_fields(text.substr(dash + 1), {kHour, kMinute, 1});
    if (!days || !rest) return std::nullopt;
    return *days * kDay + *rest;
  }
  if (const auto unit = unit_of_suffix(text); unit != 0)
    return sum_fields(text.substr(0, text.size() - 1), {unit});
  if (split(text, ':').size() == 3) return sum_fields(text, {kHour, kMinute, 1});
  return sum_fields(text, {kMinute, 1});
}

}  // namespace

Result<std::int64_t> parse_duration_s(std::string_view text) {
  const auto seconds = parse_any(text);
  if (!seconds || *seconds > kLongestDuration_s)
    return Error{ErrorCode::kInvalid, "'" + std::string(text) + "' is not a duration of at most " +
                                          std::to_string(kLongestDuration_s / kDay) +
                                          " days: " + std::string(kDurationForms)};
  return *seconds;
}

}  // namespace acrf
