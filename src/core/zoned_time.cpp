// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/zoned_time.h"

#include "core/text.h"

namespace acrf {
namespace {

// Takes exactly this many digits, and then the separator unless it is 0.
std::optional<int> take_digits(std::string_view& text, std::size_t count, char separator) {
  if (text.size() < count + (separator ? 1 : 0)) return std::nullopt;
  const auto number = parse_unsigned(text.substr(0, count));
  if (!number || (separator && text[count] != separator)) return std::nullopt;
  text.remove_prefix(count + (separator ? 1 : 0));
  return static_cast<int>(*number);
}

// Seconds east of Greenwich; consumes all of the text.
std::optional<int> parse_zone(std::string_view text) {
  if (text == "Z" || text == "z") return 0;
  if (text.empty() || (text.front() != '+' && text.front() != '-')) return std::nullopt;
  const int sign = text.front() == '-' ? -1 : 1;
  text.remove_prefix(1);
  const auto hours = take_digits(text, 2, ':');
  const auto minutes = hours ? take_digits(text, 2, '\0') : std::nullopt;
  if (!minutes || !text.empty() || *hours > 14 || *minutes > 59) return std::nullopt;
  return sign * (*hours * 3600 + *minutes * 60);
}

std::string two_digits(std::int64_t number) {
  return (number < 10 ? "0" : "") + std::to_string(number);
}

bool is_leap(std::int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int days_in(std::int64_t year, int month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return kDays[month - 1] + (month == 2 && is_leap(year) ? 1 : 0);
}

// Since the first of January 1970; the year is no earlier.
std::int64_t days_before(std::int64_t year) {
  const auto leaps = [](std::int64_t last) { return last / 4 - last / 100 + last / 400; };
  return (year - 1970) * 365 + leaps(year - 1) - leaps(1969);
}

}  // namespace

std::optional<std::int64_t> parse_zoned_time(std::string_view text) {
  const auto y = take_digits(text, 4, '-');
  const auto m = y ? take_digits(text, 2, '-') : std::nullopt;
  const auto d = m ? take_digits(text, 2, 'T') : std::nullopt;
  const auto hour = d ? take_digits(text, 2, ':') : std::nullopt;
  const auto minute = hour ? take_digits(text, 2, '\0') : std::nullopt;
  if (!minute || *hour > 23 || *minute > 59) return std::nullopt;
  int second = 0;
  if (take_prefix(text, ":")) {
    const auto taken = take_digits(text, 2, '\0');
    if (!taken || *taken > 59) return std::nullopt;
    second = *taken;
  }
  const auto zone = parse_zone(text);
  if (!zone || *y < 1970 || *m < 1 || *m > 12 || *d < 1 || *d > days_in(*y, *m))
    return std::nullopt;
  auto days = days_before(*y) + *d - 1;
  for (int month = 1; month < *m; ++month) days += days_in(*y, month);
  return days * 86'400 + *hour * 3600 + *minute * 60 + second - *zone;
}

std::string to_utc_text(std::int64_t unix_s) {
  std::int64_t days = unix_s / 86'400;
  const auto rest = unix_s % 86'400;
  std::int64_t year = 1970 + days / 366;
  while (days_before(year + 1) <= days) ++year;
  days -= days_before(year);
  int month = 1;
  for (; days >= days_in(year, month); ++month) days -= days_in(year, month);
  return std::to_string(year) + "-" + two_digits(month) + "-" + two_digits(days + 1) + "T" +
         two_digits(rest / 3600) + ":" + two_digits(rest / 60 % 60) + ":" + two_digits(rest % 60) +
         "Z";
}

}  // namespace acrf
