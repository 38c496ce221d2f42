// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/share.h"

#include <cstdint>

#include "core/text.h"

namespace acrf {

std::optional<Share> parse_share(std::string_view text) {
  const bool percent = !text.empty() && text.back() == '%';
  if (percent) text = trim(text.substr(0, text.size() - 1));
  const auto number = parse_unsigned(text);
  if (!number || *number > (percent ? 100u : 1'000'000u)) return std::nullopt;
  return Share{static_cast<int>(*number), percent};
}

std::string to_text(const Share& share) {
  return std::to_string(share.value) + (share.percent ? "%" : "");
}

int nodes_in(const Share& share, int total) {
  if (!share.percent) return share.value;
  return static_cast<int>(std::int64_t{share.value} * total / 100);
}

}  // namespace acrf
