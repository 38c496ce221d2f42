// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/hostlist.h"

#include <optional>

#include "core/text.h"

namespace acrf {
namespace {

Error invalid(std::string_view text, std::string_view why) {
  return Error{ErrorCode::kInvalid, "\"" + std::string(text) + "\": " + std::string(why)};
}

std::string padded(std::uint64_t number, std::size_t width) {
  std::string digits = std::to_string(number);
  if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
  return digits;
}

// "1-4,7" -> {"1","2","3","4","7"}; leading zeros give the width.
std::optional<std::vector<std::string>> expand_range(std::string_view range, std::size_t most) {
  std::vector<std::string> numbers;
  for (const auto piece : split(range, ',')) {
    const auto dash = piece.find('-');
    const auto low_text = piece.substr(0, dash);
    const auto high_text = dash == std::string_view::npos ? low_text : piece.substr(dash + 1);
    const auto low = parse_unsigned(low_text), high = parse_unsigned(high_text);
    if (!low || !high || *low > *high || *high - *low >= most) return std::nullopt;
    for (auto number = *low; number <= *high; ++number)
      numbers.push_back(padded(number, low_text.size()));
  }
  return numbers;
}

// One comma-separated word, brackets and all.
Status expand_word(std::string_view word, std::vector<std::string>& names, std::size_t most) {
  std::vector<std::string> parts = {""};
  std::string_view rest = word;
  while (!rest.empty()) {
    const auto open = rest.find('[');
    for (auto& part : parts) part += rest.substr(0, open);
    if (open == std::string_view::npos) break;
    const auto close = rest.find(']', open);
    if (close == std::string_view::npos) return invalid(word, "a bracket is not closed");
    const auto numbers = expand_range(rest.substr(open + 1, close - open - 1), most);
    if (!numbers) return invalid(word, "brackets hold numbers and ranges such as [1-4,7]");
    if (parts.size() * numbers->size() > most) return invalid(word, "too many names");
    std::vector<std::string> longer;
    for (const auto& part : parts)
      for (const auto& number : *numbers) longer.push_back(part + number);
    parts = std::move(longer);
    rest = rest.substr(close + 1);
  }
  names.insert(names.end(), parts.begin(), parts.end());
  return Done{};
}

struct Numbered {
  std::string_view prefix;
  std::uint64_t number = 0;
  std::size_t width = 0;  // 0: the name has no number at its end
};

Numbered split_number(std::string_view name) {
  std::size_t digits = 0;
  while (digits < name.size() && digits < 9 && name[name.size() - 1 - digits] >= '0' &&
         name[name.size() - 1 - digits] <= '9')
    ++digits;
  const auto number = parse_unsigned(name.substr(name.size() - digits));
  if (!number) return {name, 0, 0};
  return {name.substr(0, name.size() - digits), *number, digits};
}

bool follows(const Numbered& next, const Numbered& last) {
  const bool same_width = next.width == last.width ||
                          (next.width > last.width && padded(next.number, 0).size() == next.width &&
                           padded(last.number, 0).size() == last.width);
  return last.width != 0 && next.prefix == last.prefix && next.number == last.number + 1 &&
         same_width;
}

}  // namespace

Result<std::vector<std::string>> expand_hostlist(std::string_view text, std::size_t most) {
  std::vector<std::string> names;
  std::size_t start = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '[') ++depth;
    if (i < text.size() && text[i] == ']') --depth;
    if (depth < 0) return invalid(text, "a bracket closes that was not opened");
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    const auto word = trim(text.substr(start, i - start));
    start = i + 1;
    if (word.empty()) return invalid(text, "a name is missing");
    if (const auto expanded = expand_word(word, names, most); !expanded) return expanded.error();
    if (names.size() > most) return invalid(text, "too many names");
  }
  return names;
}

std::string compress_hostlist(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size();) {
    const auto first = split_number(names[i]);
    std::string ranges;
    std::size_t next = i, members = 0;
    while (next < names.size()) {
      const auto low = split_number(names[next]);
      if (low.width == 0 || low.prefix != first.prefix) break;
      auto last = low;
      std::size_t end = next + 1;
      while (end < names.size() && follows(split_number(names[end]), last))
        last = split_number(names[end++]);
      if (!ranges.empty()) ranges += ",";
      ranges += padded(low.number, low.width);
      if (end - next > 1) ranges += "-" + padded(last.number, last.width);
      members += end - next;
      next = end;
    }
    if (!text.empty()) text += ",";
    text += members > 1 ? std::string(first.prefix) + "[" + ranges + "]" : names[i];
    i = members > 1 ? next : i + 1;
  }
  return text;
}

}  // namespace acrf
