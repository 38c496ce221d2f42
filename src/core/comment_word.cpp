// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/comment_word.h"

#include <algorithm>

#include "core/text.h"

namespace acrf {

std::optional<std::string_view> find_word(std::string_view comment, std::string_view prefix) {
  for (auto word : split(comment, ' '))
    if (take_prefix(word, prefix)) return word;
  return std::nullopt;
}

std::string with_word(std::string_view comment, std::string_view prefix, std::string_view word) {
  std::string text(comment);
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find(' ', at), text.size());
    if (!starts_with(std::string_view(text).substr(at), prefix)) {
      at = end + 1;
      continue;
    }
    if (!word.empty()) return text.replace(at, end - at, word);
    const auto from = at > 0 ? at - 1 : at;  // with the blank before it, or else the one behind
    return text.erase(from, std::min(end + (at > 0 ? 0 : 1), text.size()) - from);
  }
  if (word.empty()) return text;
  return text + (text.empty() ? "" : " ") + std::string(word);
}

}  // namespace acrf
