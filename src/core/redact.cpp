// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/redact.h"

#include <algorithm>

#include "core/node_verdict.h"
#include "core/text.h"

namespace acrf {
namespace {

constexpr std::size_t kLongestLine = 500;
constexpr std::size_t kLongId = 12;  // hexadecimal digits

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool ends_word(char c) {
  return std::string_view(" \t\"'`()[]{}<>,;=|").find(c) != std::string_view::npos;
}

std::size_t count(std::string_view text, char wanted) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), wanted));
}

// 10.1.2.3, also with a port or a prefix length.
bool is_ipv4(std::string_view word) {
  for (int part = 0; part < 4; ++part) {
    if (part > 0 && !take_prefix(word, ".")) return false;
    const auto number = take_unsigned(word);
    if (!number || *number > 255) return false;
  }
  return word.empty() || word.front() == ':' || word.front() == '/';
}

// IPv6, MAC and InfiniBand GUIDs have three colons or more, or two together; PCI addresses do not.
bool is_colon_address(std::string_view word) {
  const auto end = word.find_first_of("/%");
  word = word.substr(0, end);
  const bool only_hex = std::all_of(word.begin(), word.end(),
                                    [](char c) { return is_hex(c) || c == ':' || c == '.'; });
  return only_hex &&
         (count(word, ':') >= 3 || (word.find("::") != std::string_view::npos && word.size() > 2));
}

bool is_long_id(std::string_view word) {
  std::size_t digits = 0, longest = 0;
  for (const char c : word) {
    digits = is_hex(c) || c == '-' || c == '_' ? digits + is_hex(c) : 0;
    longest = std::max(longest, digits);
  }
  return longest >= kLongId;
}

// "node7.cluster.example": letters in it, and two dots or more, or an ending that hosts have.
bool is_host_name(std::string_view word) {
  if (std::none_of(word.begin(), word.end(), is_letter)) return false;
  if (word.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:@") !=
      std::string_view::npos)
    return false;
  if (word.find('@') != std::string_view::npos) return true;
  if (word.find(':') != std::string_view::npos) return false;
  const auto dot = word.rfind('.');
  if (dot == std::string_view::npos) return false;
  const auto ending = word.substr(dot + 1);
  for (const std::string_view known : {"local", "lan", "internal", "com", "org", "net", "edu",
                                       "gov", "io", "de", "cluster", "example", "cloud"})
    if (equals_ignoring_case(ending, known)) return true;
  return count(word, '.') >= 2 && std::all_of(ending.begin(), ending.end(), is_letter);
}

// After these words a name follows.
bool announces_name(std::string_view word) {
  while (!word.empty() && word.back() == ':') word.remove_suffix(1);
  for (const std::string_view key :
       {"user", "username", "uid", "auid", "euid", "name", "comm", "host", "hostname", "nodename",
        "account", "login", "exe", "cmd"})
    if (equals_ignoring_case(word, key)) return true;
  return false;
}

std::string_view cover_of(std::string_view word, std::span<const std::string> names) {
  while (!word.empty() && (word.back() == '.' || word.back() == ':' || word.back() == '!'))
    word.remove_suffix(1);
  if (word.empty()) return {};
  for (const auto& name : names)
    if (!name.empty() && equals_ignoring_case(word, name)) return "<name>";
  if ((word.front() == '/' || word.front() == '~') && word.size() > 1) return "<path>";
  if (word.find(":/") != std::string_view::npos) return "<path>";  // URLs, exports of file servers
  if (is_ipv4(word) || is_colon_address(word)) return "<address>";
  if (is_long_id(word)) return "<id>";
  if (is_host_name(word)) return "<name>";
  return {};
}

// Names are taken out of longer words too: "ib0@gpu-n17" or "gpu-n17's".
std::string without_names(std::string text, std::span<const std::string> names) {
  for (const auto& name : names) {
    if (name.size() < 3) continue;  // would tear words apart
    for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + 6))
      text.replace(at, name.size(), "<name>");
  }
  return text;
}

}  // namespace

std::string redact(std::string_view line, std::span<const std::string> names) {
  const std::string text = without_names(printable_line(line, 4096), names);
  std::string_view rest = text;
  std::string out;
  bool name_follows = false;
  while (!rest.empty() && out.size() < kLongestLine) {
    if (rest.substr(0, 6) == "<name>") {
      out += rest.substr(0, 6);
      rest.remove_prefix(6);
      continue;
    }
    if (ends_word(rest.front())) {
      out += rest.front();
      rest.remove_prefix(1);
      continue;
    }
    const auto end = std::find_if(rest.begin(), rest.end(), ends_word);
    const auto word = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
    const auto cover = name_follows ? std::string_view("<name>") : cover_of(word, names);
    out += cover.empty() ? word : cover;
    name_follows = announces_name(word);
    rest.remove_prefix(word.size());
  }
  return printable_line(out, kLongestLine);
}

}  // namespace acrf
