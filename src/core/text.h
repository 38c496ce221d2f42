// SPDX-License-Identifier: GPL-2.0-or-later
// The few string operations that parsers share. ASCII only, locale-free.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace acrf {

std::string_view trim(std::string_view text);
bool equals_ignoring_case(std::string_view a, std::string_view b);
bool starts_with(std::string_view text, std::string_view prefix);

// The order in which people count: "n2" before "n10".
bool natural_less(std::string_view a, std::string_view b);

// The pieces between separators, untrimmed; an empty text gives one empty piece.
std::vector<std::string_view> split(std::string_view text, char separator);

// Whole-text number: no sign, no blanks, no trailing characters, no overflow.
std::optional<std::uint64_t> parse_unsigned(std::string_view text, int base = 10);

// Takes the leading digits off `text`. Nothing is taken when there are none or they overflow.
std::optional<std::uint64_t> take_unsigned(std::string_view& text, int base = 10);

// Takes `prefix` off `text` when it is there.
bool take_prefix(std::string_view& text, std::string_view prefix);

// Percent-encoding of everything but [A-Za-z0-9._/-], so that a value fits into one word of a
// token.
std::string encode_word(std::string_view value);
std::optional<std::string> decode_word(std::string_view word);

// Stable 64-bit hash (FNV-1a) as 16 hexadecimal digits; an identity, not a secret.
std::string fingerprint(std::string_view text);

}  // namespace acrf
