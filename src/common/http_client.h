// SPDX-License-Identifier: GPL-2.0-or-later
// One HTTP request through libcurl. It blocks, so it is made in acrf-courier and nowhere else: the
// daemon neither waits for an endpoint nor loads libcurl.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/result.h"

namespace acrf {

struct HttpRequest {
  std::string url;
  std::vector<std::string> headers;  // "Name: value"
  std::string body;
  bool is_get = false;  // else it is a POST of the body
  std::size_t longest_reply = 65536;
};

struct HttpReply {
  int status = 0;
  std::string body;
  bool cut = false;  // it was longer than is read
};

// Redirects are not followed. An Error: no endpoint answered in time, or the request cannot be made.
Result<HttpReply> ask_http(const HttpRequest& request, std::chrono::milliseconds timeout);

}  // namespace acrf
