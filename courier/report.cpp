// SPDX-License-Identifier: GPL-2.0-or-later
#include "report.h"

#include <openssl/sha.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "common/http_client.h"
#include "common/munge.h"

namespace acrf {
namespace {

constexpr std::chrono::seconds kTimeout{15};

std::string sha256_hex(const std::string& text) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  ::SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  std::string hex;
  for (const unsigned char byte : digest) {
    constexpr char kDigits[] = "0123456789abcdef";
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

Result<nlohmann::json> deliver_report(const ReportSettings& settings, const Seals& seals,
                                      const std::string& body) {
  const auto credential = seals.seal("acrf-report " + settings.node + " " + sha256_hex(body));
  if (!credential) return credential.error();
  const auto reply = ask_http({settings.url,
                           {"Content-Type: application/json", "Expect:", "Connection: close",
                            "Authorization: Munge " + *credential},
                           body},
                          kTimeout);
  if (!reply) return reply.error();
  auto said = nlohmann::json::parse(reply->body, nullptr, false);
  if (reply->status == 200 && said.is_object() && !reply->cut) return said;
  const auto text = said.is_object() ? said.value("error", std::string()) : std::string();
  return Error{ErrorCode::kUnavailable, "HTTP " + std::to_string(reply->status) +
                                            (text.empty() ? "" : ": " + text)};
}

}  // namespace

int run_report_worker(const ReportSettings& settings) {
  const auto seals = munge_seals(settings.munge_socket);
  for (std::string line; std::getline(std::cin, line);) {
    const auto answer = deliver_report(settings, seals, line);
    const nlohmann::json said =
        answer ? *answer : nlohmann::json{{"error", answer.error().sentence}};
    std::cout << said.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) << std::endl;
  }
  return 0;
}

}  // namespace acrf
