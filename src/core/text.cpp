// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/text.h"

#include <algorithm>
#include <charconv>

namespace acrf {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_word_char(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
         c == '_' || c == '/' || c == '-';
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Takes a number off `text` and gives it without leading zeros, of which the last may be all of it.
std::string_view take_digits(std::string_view& text) {
  const auto end = static_cast<std::size_t>(
      std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
  auto digits = text.substr(0, end);
  text.remove_prefix(end);
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  return digits;
}

constexpr char kHex[] = "0123456789abcdef";

}  // namespace

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\f\v";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool natural_less(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    const auto x = take_digits(a);
    const auto y = take_digits(b);
    if (x.size() != y.size() && !x.empty() && !y.empty()) return x.size() < y.size();
    if (x != y) return (x.empty() ? a.front() : x.front()) < (y.empty() ? b.front() : y.front());
    if (!x.empty()) continue;
    if (a.front() != b.front()) return a.front() < b.front();
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  return a.empty() && !b.empty();
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  while (true) {
    const auto at = text.find(separator);
    pieces.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return pieces;
    text.remove_prefix(at + 1);
  }
}

std::optional<std::uint64_t> take_unsigned(std::string_view& text, int base) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::optional<std::uint64_t> parse_unsigned(std::string_view text, int base) {
  const auto number = take_unsigned(text, base);
  return number && text.empty() ? number : std::nullopt;
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!starts_with(text, prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::string encode_word(std::string_view value) {
  std::string word;
  for (const char c : value) {
    if (is_word_char(c)) {
      word += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    word += '%';
    word += kHex[byte >> 4];
    word += kHex[byte & 15];
  }
  return word;
}

std::optional<std::string> decode_word(std::string_view word) {
  std::string value;
  while (!word.empty()) {
    if (word.front() != '%') {
      if (!is_word_char(word.front())) return std::nullopt;
      value += word.front();
      word.remove_prefix(1);
      continue;
    }
    if (word.size() < 3) return std::nullopt;
    const auto byte = parse_unsigned(word.substr(1, 2), 16);
    if (!byte) return std::nullopt;
    value += static_cast<char>(*byte);
    word.remove_prefix(3);
  }
  return value;
}

std::string fingerprint(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  std::string digits(16, '0');
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, hash >>= 4)
    *digit = kHex[hash & 15];
  return digits;
}

}  // namespace acrf
