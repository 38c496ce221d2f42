// SPDX-License-Identifier: GPL-2.0-or-later
// Words in a comment that others write into too: each owner finds its own by how it begins.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace acrf {

// The rest of the first word that begins with `prefix`.
std::optional<std::string_view> find_word(std::string_view comment, std::string_view prefix);

// The comment with `word` in place of the first that begins with `prefix`, or behind all others.
// An empty word only takes the old one out. Other words stay as they are.
std::string with_word(std::string_view comment, std::string_view prefix, std::string_view word);

}  // namespace acrf
