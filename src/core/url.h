// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of an http or https URL, as far as requests and their signatures need them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace acrf {

struct Url {
  std::string scheme;  // "http" or "https"
  std::string host;    // with the port, where there is one: what the Host header says
  std::string path;    // "/" at least, without the query
  std::string query;   // without "?"
};

// Nothing for other schemes, without a host, with a user or a fragment, or with bytes that are not
// printable ASCII.
std::optional<Url> parse_url(std::string_view text);

// Plain http stays on this host.
bool is_this_host(const Url& url);

// Whether a secret may be sent there.
bool keeps_secrets(const Url& url);

// Percent-encoding of everything but unreserved characters, for forms and signatures.
std::string encode_form(std::string_view text);

}  // namespace acrf
