// SPDX-License-Identifier: GPL-2.0-or-later
// One request to a model's endpoint, made in acrf-courier.
#include <iostream>
#include <nlohmann/json.hpp>

#include "advice.h"
#include "common/http_client.h"
#include "common/secret_file.h"

namespace acrf {
namespace {

constexpr std::chrono::seconds kRequestTimeout{30};

std::vector<std::string> headers_of(const AdviceSettings& settings, const std::string& key) {
  const bool is_anthropic = settings.api == "anthropic";
  std::vector<std::string> headers = {"Content-Type: application/json"};
  if (is_anthropic) headers = {headers[0], "anthropic-version: 2023-06-01"};
  if (!key.empty())
    headers.push_back((is_anthropic ? "x-api-key: " : "Authorization: Bearer ") + key);
  return headers;
}

}  // namespace

Result<Advice> ask_model(const AdviceSettings& settings, const std::string& line,
                         std::chrono::milliseconds timeout) {
  if (const auto checked = check_advice_settings(settings); !checked) return checked.error();
  const auto key = settings.key_file.empty() ? Result<std::string>(std::string())
                                             : read_secret(settings.key_file);
  if (!key) return key.error();
  const auto reply =
      ask_http({settings.url, headers_of(settings, *key), advice_request(settings, line)}, timeout);
  if (!reply) return reply.error();
  if (reply->cut) return Error{ErrorCode::kUnavailable, "the endpoint's answer is too long"};
  if (reply->status != 200)
    return Error{ErrorCode::kUnavailable,
                 "the endpoint says HTTP " + std::to_string(reply->status)};
  return parse_advice(settings.api, reply->body);
}

int run_advice_worker(const AdviceSettings& settings) {
  for (std::string line; std::getline(std::cin, line);) {
    const auto advice = ask_model(settings, line, kRequestTimeout);
    const nlohmann::json answer =
        advice ? nlohmann::json{{"class", advice->advised_class}, {"reason", advice->reason}}
               : nlohmann::json{{"error", advice.error().sentence}};
    std::cout << answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
  }
  return 0;
}

}  // namespace acrf
