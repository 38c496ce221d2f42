// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/message_pattern.h"

#include "core/text.h"
#include "core/xid.h"

namespace acrf {
namespace {

constexpr std::size_t kLongestText = 1024;  // of a message that patterns look at

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool holds_at(std::string_view text, std::size_t at, std::string_view wanted) {
  if (text.size() - at < wanted.size()) return false;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (lower(text[at + i]) != wanted[i]) return false;
  return true;
}

}  // namespace

Result<MessagePattern::Part> MessagePattern::parse_placeholder(std::string_view inside) {
  const std::string shown = "<" + std::string(inside) + ">";
  if (inside == "n") return Part{Kind::kNumber, "", 0};
  if (inside == "n=0") return Part{Kind::kZero, "", 0};
  if (inside == "pci") return Part{Kind::kAddress, "", 0};
  Kind kind = Kind::kAtLeast;
  if (take_prefix(inside, "n%")) {
    kind = Kind::kMultiple;
  } else if (!take_prefix(inside, "n>=")) {
    return Error{ErrorCode::kInvalid, shown + " stands for nothing known"};
  }
  const auto number = parse_unsigned(inside);
  if (!number || *number == 0) return Error{ErrorCode::kInvalid, shown + " needs a number above 0"};
  return Part{kind, "", *number};
}

Result<MessagePattern> MessagePattern::parse(std::string_view pattern) {
  if (pattern.empty()) return Error{ErrorCode::kInvalid, "a pattern must not be empty"};
  MessagePattern parsed;
  parsed.pieces_.emplace_back();
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    auto& parts = parsed.pieces_.back();
    if (pattern[i] == '*') {
      parsed.pieces_.emplace_back();
    } else if (pattern[i] == '$' && i + 1 == pattern.size()) {
      parts.push_back({Kind::kEnd, "", 0});
    } else if (pattern[i] == '<') {
      // "<n>=100>" has a '>' of its own.
      const auto close = pattern.find('>', starts_with(pattern.substr(i), "<n>=") ? i + 4 : i);
      if (close == std::string_view::npos)
        return Error{ErrorCode::kInvalid, "'<' without '>' in a pattern"};
      auto part = parse_placeholder(pattern.substr(i + 1, close - i - 1));
      if (!part) return part.error();
      parts.push_back(std::move(*part));
      i = close;
    } else {
      if (parts.empty() || parts.back().kind != Kind::kText) parts.push_back({Kind::kText, "", 0});
      parts.back().text += lower(pattern[i]);
    }
  }
  return parsed;
}

char MessagePattern::first_letter() const {
  const auto& first = pieces_.front();
  return !first.empty() && first.front().kind == Kind::kText ? first.front().text.front() : '\0';
}

bool MessagePattern::part_fits(const Part& part, std::string_view text, std::size_t& at) {
  auto rest = text.substr(at);
  if (part.kind == Kind::kText) {
    if (!holds_at(text, at, part.text)) return false;
    at += part.text.size();
    return true;
  }
  if (part.kind == Kind::kEnd) return trim(rest).empty();
  if (part.kind == Kind::kAddress) {
    if (!take_pci_address(rest)) return false;
    at = text.size() - rest.size();
    return true;
  }
  if (at > 0 && is_digit(text[at - 1])) return false;
  const auto number = take_unsigned(rest);
  if (!number) return false;
  if (part.kind == Kind::kZero && *number != 0) return false;
  if (part.kind == Kind::kAtLeast && *number < part.number) return false;
  if (part.kind == Kind::kMultiple && (*number == 0 || *number % part.number != 0)) return false;
  at = text.size() - rest.size();
  return true;
}

bool MessagePattern::parts_fit(const Parts& parts, std::string_view text, std::size_t& at) {
  std::size_t end = at;
  for (const auto& part : parts)
    if (!part_fits(part, text, end)) return false;
  at = end;
  return true;
}

bool MessagePattern::fits(std::string_view text) const {
  text = text.substr(0, kLongestText);
  std::size_t at = 0;
  if (!parts_fit(pieces_.front(), text, at)) return false;
  for (std::size_t piece = 1; piece < pieces_.size(); ++piece) {
    const auto& parts = pieces_[piece];
    const bool opens_with_text = !parts.empty() && parts.front().kind == Kind::kText;
    const char first = opens_with_text ? parts.front().text.front() : '\0';
    for (;; ++at) {
      if (first)
        while (at < text.size() && lower(text[at]) != first) ++at;
      if (at > text.size()) return false;
      if (parts_fit(parts, text, at)) break;
    }
  }
  return true;
}

}  // namespace acrf
