// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/listen_address.h"

#include "core/text.h"

namespace acrf {

std::optional<ListenAddress> parse_listen_address(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto port = parse_unsigned(text.substr(colon + 1));
  auto host = text.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  if (!port || *port > 65535 || host.empty()) return std::nullopt;
  return ListenAddress{std::string(host), static_cast<int>(*port)};
}

}  // namespace acrf
