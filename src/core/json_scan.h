// SPDX-License-Identifier: GPL-2.0-or-later
// The little that checkpoint rules ask of a JSON text, without a parser: is it whole, and what are
// a few values whose keys nothing else in the document uses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace acrf {

// One object from the first character to the last: every bracket and string is closed.
bool is_json_object(std::string_view text);

// The whole number after the first "key":
std::optional<std::uint64_t> json_number(std::string_view text, std::string_view key);

// Every "key": [a, b] of whole numbers.
std::vector<std::pair<std::uint64_t, std::uint64_t>> json_pairs(std::string_view text,
                                                                std::string_view key);

// Every string that ends with `suffix`, each once, sorted.
std::vector<std::string> json_strings(std::string_view text, std::string_view suffix);

}  // namespace acrf
