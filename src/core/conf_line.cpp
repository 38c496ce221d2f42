// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/conf_line.h"

#include "core/text.h"

namespace acrf {
namespace {

// The line up to a '#' outside quotes.
std::string_view before_comment(std::string_view line) {
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (line[i] == '#' && !quoted) return line.substr(0, i);
  }
  return line;
}

// Takes one word, which ends at a blank outside quotes and brackets; quotes are dropped.
std::string take_word(std::string_view& rest) {
  std::string word;
  bool quoted = false;
  std::size_t i = 0;
  for (; i < rest.size(); ++i) {
    if (rest[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && (rest[i] == ' ' || rest[i] == '\t')) {
      break;
    } else {
      word += rest[i];
    }
  }
  rest = trim(rest.substr(i));
  return word;
}

Result<ConfLine> parse_line(std::string_view text, std::string_view origin, int number) {
  ConfLine line{number, {}};
  for (auto rest = trim(text); !rest.empty();) {
    const auto word = take_word(rest);
    const auto equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      return conf_error(origin, number, "\"" + word + "\" is not of the form Key=value");
    const auto key = word.substr(0, equals);
    if (line.find(key)) return conf_error(origin, number, key + " is given twice");
    line.fields.emplace_back(key, word.substr(equals + 1));
  }
  return line;
}

}  // namespace

const std::string* ConfLine::find(std::string_view key) const {
  for (const auto& [name, value] : fields)
    if (equals_ignoring_case(name, key)) return &value;
  return nullptr;
}

Error conf_error(std::string_view origin, int line, std::string_view sentence) {
  return Error{ErrorCode::kInvalid,
               std::string(origin) + ":" + std::to_string(line) + ": " + std::string(sentence)};
}

Result<std::vector<ConfLine>> parse_conf_lines(std::string_view text, std::string_view origin) {
  std::vector<ConfLine> lines;
  std::string joined;
  const auto raw_lines = split(text, '\n');
  int number = 0, first = 0;
  for (const auto raw : raw_lines) {
    ++number;
    auto line = trim(before_comment(raw));
    if (joined.empty()) first = number;
    const bool continues = !line.empty() && line.back() == '\\';
    if (continues) line.remove_suffix(1);
    joined += std::string(line) + " ";
    if (continues && number < static_cast<int>(raw_lines.size())) continue;
    if (!trim(joined).empty()) {
      auto parsed = parse_line(joined, origin, first);
      if (!parsed) return parsed.error();
      lines.push_back(std::move(*parsed));
    }
    joined.clear();
  }
  return lines;
}

}  // namespace acrf
