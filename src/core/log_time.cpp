// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/log_time.h"

#include "core/text.h"

namespace acrf {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t clock_time_at(std::string_view word) {
  for (std::size_t i = 0; i + 8 <= word.size(); ++i) {
    const auto t = word.substr(i, 8);
    if (t[2] == ':' && t[5] == ':' && is_digit(t[0]) && is_digit(t[1]) && is_digit(t[3]) &&
        is_digit(t[4]) && is_digit(t[6]) && is_digit(t[7]) &&
        (i == 0 || word[i - 1] == 'T' || word[i - 1] == 't') &&
        (i + 8 == word.size() || word[i + 8] != ':'))
      return i;
  }
  return std::string_view::npos;
}

struct Date {
  std::int64_t year = 1970;
  int month = 1;
  int day = 1;
};

// Days since 1970 in the proleptic Gregorian calendar, counted in years that begin in March.
std::int64_t days_of(const Date& date) {
  const std::int64_t year = date.month <= 2 ? date.year - 1 : date.year;
  const std::int64_t era = year / 400;
  const std::int64_t year_of_era = year - era * 400;
  const std::int64_t month = (date.month + 9) % 12;
  const std::int64_t day_of_year = (153 * month + 2) / 5 + date.day - 1;
  const std::int64_t day_of_era =
      year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + day_of_era - 719468;
}

int month_of(std::string_view word) {
  constexpr std::string_view kMonths[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                          "jul", "aug", "sep", "oct", "nov", "dec"};
  if (word.size() < 3) return 0;
  for (int month = 1; month <= 12; ++month)
    if (equals_ignoring_case(word.substr(0, 3), kMonths[month - 1])) return month;
  return 0;
}

bool take_iso_date(std::string_view word, Date& date) {
  if (word.size() < 10 || word[4] != '-' || word[7] != '-') return false;
  const auto year = parse_unsigned(word.substr(0, 4));
  const auto month = parse_unsigned(word.substr(5, 2));
  const auto day = parse_unsigned(word.substr(8, 2));
  if (!year || !month || !day || *month < 1 || *month > 12 || *day < 1 || *day > 31) return false;
  date = {static_cast<std::int64_t>(*year), static_cast<int>(*month), static_cast<int>(*day)};
  return true;
}

void take_word(std::string_view word, Date& date) {
  if (take_iso_date(word, date)) return;
  if (const int month = month_of(word)) {
    date.month = month;
    return;
  }
  const auto number = parse_unsigned(word);
  if (!number) return;
  if (*number >= 1 && *number <= 31) date.day = static_cast<int>(*number);
  if (*number >= 1970 && *number <= 9999) date.year = static_cast<std::int64_t>(*number);
}

// The digits behind a decimal mark as microseconds.
std::int64_t fraction_us(std::string_view digits) {
  std::int64_t us = 0;
  int places = 0;
  for (const char c : digits) {
    if (!is_digit(c) || places == 6) break;
    us = us * 10 + (c - '0');
    ++places;
  }
  for (; places < 6; ++places) us *= 10;
  return us;
}

}  // namespace

bool has_clock_time(std::string_view word) { return clock_time_at(word) != std::string_view::npos; }

std::optional<std::int64_t> read_time_us(std::string_view header) {
  std::optional<std::int64_t> clock_us;
  Date date;
  for (auto word : split(header, ' ')) {
    const auto at = clock_us ? std::string_view::npos : clock_time_at(word);
    if (at == std::string_view::npos) {
      take_word(word, date);
      continue;
    }
    const auto two = [&](std::size_t i) {
      return (word[at + i] - '0') * 10 + word[at + i + 1] - '0';
    };
    clock_us = (two(0) * 3600LL + two(3) * 60LL + two(6)) * 1'000'000;
    const auto rest = word.substr(at + 8);
    if (!rest.empty() && (rest[0] == '.' || rest[0] == ','))
      *clock_us += fraction_us(rest.substr(1));
    if (at > 0) take_iso_date(word.substr(0, at - 1), date);
  }
  if (!clock_us) return std::nullopt;
  return days_of(date) * 86'400'000'000LL + *clock_us;
}

std::optional<std::int64_t> read_minute_us(std::string_view text) {
  const auto space = text.rfind(' ');
  if (space == std::string_view::npos || space + 6 != text.size()) return std::nullopt;
  const auto hour = parse_unsigned(text.substr(space + 1, 2));
  const auto minute = parse_unsigned(text.substr(space + 4, 2));
  if (!hour || !minute || text[space + 3] != ':' || *hour > 23 || *minute > 59) return std::nullopt;
  auto month = trim(text.substr(0, space));
  std::size_t digits = 0;
  while (digits < month.size() && is_digit(month[month.size() - 1 - digits])) ++digits;
  const auto day = parse_unsigned(month.substr(month.size() - digits));
  if (!day || *day < 1 || *day > 31) return std::nullopt;
  month.remove_suffix(digits);
  Date date;
  date.day = static_cast<int>(*day);
  if (const int named = month_of(trim(month))) date.month = named;
  return (days_of(date) * 1440 + static_cast<std::int64_t>(*hour * 60 + *minute)) * 60'000'000LL;
}

std::optional<std::int64_t> read_seconds_us(std::string_view text) {
  text = trim(text);
  take_prefix(text, "+");
  const auto seconds = take_unsigned(text);
  if (!seconds || *seconds > 9'000'000'000ULL) return std::nullopt;
  const auto us = static_cast<std::int64_t>(*seconds) * 1'000'000;
  if (text.empty()) return us;
  if (text[0] != '.' || text.size() < 2) return std::nullopt;
  for (const char c : text.substr(1))
    if (!is_digit(c)) return std::nullopt;
  return us + fraction_us(text.substr(1));
}

}  // namespace acrf
