// SPDX-License-Identifier: GPL-2.0-or-later
#include "hub_client.h"

#include <fmt/format.h>

#include "child_output.h"
#include "common/config_file.h"
#include "common/courier_path.h"
#include "common/munge.h"
#include "common/signature.h"
#include "common/slurm_conf_file.h"

namespace acrf {
namespace {

using nlohmann::json;

ErrorCode code_of(int status) {
  if (status == 404) return ErrorCode::kNotFound;
  if (status == 401 || status == 403) return ErrorCode::kDenied;
  return status == 400 ? ErrorCode::kInvalid : ErrorCode::kUnavailable;
}

}  // namespace

HubClient::HubClient(std::string url, std::string token)
    : url_(std::move(url)), token_(std::move(token)) {
  while (!url_.empty() && url_.back() == '/') url_.pop_back();
}

Result<json> HubClient::ask(json request, const std::string& path) const {
  request["url"] = url_ + path;
  if (!token_.empty()) request["headers"].push_back("Authorization: Bearer " + token_);
  const auto said = output_of({courier_path(), "--fetch"},
                              request.dump(-1, ' ', true, json::error_handler_t::replace));
  if (!said) return said.error();
  const auto answer = json::parse(*said, nullptr, false);
  if (!answer.is_object() || !answer.contains("status"))
    return Error{ErrorCode::kUnavailable,
                 fmt::format("hub {} does not answer: {}", url_,
                             value_of<std::string>(answer, "error", "acrf-courier failed"))};
  const int status = value_of<int>(answer, "status");
  auto body = json::parse(value_of<std::string>(answer, "body"), nullptr, false);
  if (status == 200 && body.is_object()) return body;
  const auto sentence = value_of<std::string>(body, "error");
  return Error{code_of(status),
               fmt::format("hub {} says: {}", url_,
                           sentence.empty() ? "HTTP " + std::to_string(status) : sentence)};
}

Result<json> HubClient::get(const std::string& path) const {
  return ask({{"headers", json::array()}}, path);
}

Result<json> HubClient::act(const json& action) const {
  const auto body = action.dump(-1, ' ', true, json::error_handler_t::replace);
  json headers = {"Content-Type: application/json", "Expect:"};
  if (token_.empty()) {
    const auto seals =
        munge_seals(munge_socket_in(slurm_conf_value(slurm_directory(), "AuthInfo")));
    const auto credential = seals.seal("acrf-action " + to_hex(sha256(body)));
    if (!credential) return credential.error();
    headers.push_back("Authorization: Munge " + *credential);
  }
  return ask({{"headers", headers}, {"body", body}}, "/v1/actions");
}

std::string escaped(const std::string& text) {
  std::string all;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.';
    all += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return all;
}

}  // namespace acrf
