// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/json_scan.h"

#include <algorithm>

#include "core/text.h"

namespace acrf {
namespace {

void skip_blanks(std::string_view& text) {
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(" \t\r\n")));
}

// Index of the quote that closes the string whose opening quote is at `at`; npos when none does.
std::size_t closing_quote(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at;
    }
  }
  return std::string_view::npos;
}

// Takes off everything up to the value of the next "key":
bool take_key(std::string_view& text, std::string_view key) {
  const std::string quoted = "\"" + std::string(key) + "\"";
  while (true) {
    const auto at = text.find(quoted);
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + quoted.size());
    skip_blanks(text);
    if (!take_prefix(text, ":")) continue;
    skip_blanks(text);
    return true;
  }
}

std::optional<std::pair<std::uint64_t, std::uint64_t>> take_pair(std::string_view text) {
  if (!take_prefix(text, "[")) return std::nullopt;
  skip_blanks(text);
  const auto first = take_unsigned(text);
  skip_blanks(text);
  if (!first || !take_prefix(text, ",")) return std::nullopt;
  skip_blanks(text);
  const auto second = take_unsigned(text);
  if (!second) return std::nullopt;
  return std::pair(*first, *second);
}

}  // namespace

bool is_json_object(std::string_view text) {
  text = trim(text);
  if (text.empty() || text.front() != '{') return false;
  std::string open;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      at = closing_quote(text, at);
      if (at == std::string_view::npos) return false;
    } else if (c == '{' || c == '[') {
      open += c;
    } else if (c == '}' || c == ']') {
      if (open.empty() || open.back() != (c == '}' ? '{' : '[')) return false;
      open.pop_back();
      if (open.empty()) return at + 1 == text.size();
    }
  }
  return false;
}

std::optional<std::uint64_t> json_number(std::string_view text, std::string_view key) {
  return take_key(text, key) ? take_unsigned(text) : std::nullopt;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> json_pairs(std::string_view text,
                                                                std::string_view key) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs;
  while (take_key(text, key))
    if (const auto pair = take_pair(text)) pairs.push_back(*pair);
  return pairs;
}

std::vector<std::string> json_strings(std::string_view text, std::string_view suffix) {
  std::vector<std::string> strings;
  for (auto at = text.find('"'); at != std::string_view::npos; at = text.find('"', at)) {
    const auto end = closing_quote(text, at);
    if (end == std::string_view::npos) break;
    const auto string = text.substr(at + 1, end - at - 1);
    if (string.ends_with(suffix)) strings.emplace_back(string);
    at = end + 1;
  }
  std::sort(strings.begin(), strings.end());
  strings.erase(std::unique(strings.begin(), strings.end()), strings.end());
  return strings;
}

}  // namespace acrf
