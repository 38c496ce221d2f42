// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/url.h"

#include <algorithm>

#include "core/text.h"

namespace acrf {

std::optional<Url> parse_url(std::string_view text) {
  if (!std::all_of(text.begin(), text.end(), [](unsigned char c) { return c > ' ' && c < 0x7f; }))
    return std::nullopt;
  Url url;
  if (take_prefix(text, "https://")) {
    url.scheme = "https";
  } else if (take_prefix(text, "http://")) {
    url.scheme = "http";
  } else {
    return std::nullopt;
  }
  if (text.find('#') != std::string_view::npos) return std::nullopt;
  const auto end = std::min(text.find_first_of("/?"), text.size());
  url.host = text.substr(0, end);
  if (url.host.empty() || url.host.find('@') != std::string::npos) return std::nullopt;
  text.remove_prefix(end);
  const auto question = std::min(text.find('?'), text.size());
  url.path = text.substr(0, question);
  if (url.path.empty()) url.path = "/";
  if (question < text.size()) url.query = text.substr(question + 1);
  return url;
}

bool is_this_host(const Url& url) {
  for (const std::string_view host : {"127.0.0.1", "localhost", "[::1]"}) {
    std::string_view rest = url.host;
    if (take_prefix(rest, host) && (rest.empty() || rest.front() == ':')) return true;
  }
  return false;
}

bool keeps_secrets(const Url& url) { return url.scheme == "https" || is_this_host(url); }

std::string encode_form(std::string_view text) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      encoded += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      encoded += '%';
      encoded += kDigits[byte >> 4];
      encoded += kDigits[byte & 15];
    }
  }
  return encoded;
}

}  // namespace acrf
