// SPDX-License-Identifier: GPL-2.0-or-later
// Signatures of requests: HMAC-SHA256, and AWS Signature Version 4 on top of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace acrf {

// Bytes, not digits.
std::string sha256(std::string_view text);
std::string hmac_sha256(std::string_view key, std::string_view text);
std::string to_hex(std::string_view bytes);

struct AwsKey {
  std::string id, secret;
  std::string token;  // empty: none
};

struct AwsRequest {
  std::string method, path, query;
  // Names in lower case and in order; "host" and "x-amz-date" among them.
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

// "20150830T123600Z"
std::string aws_time(std::int64_t unix_s);

// The value of the Authorization header. `time` is that of x-amz-date.
std::string aws_authorization(const AwsKey& key, const AwsRequest& request, const std::string& time,
                              const std::string& region, const std::string& service);

}  // namespace acrf
