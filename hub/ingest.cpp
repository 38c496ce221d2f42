// SPDX-License-Identifier: GPL-2.0-or-later
#include "hub/ingest.h"

#include <netdb.h>
#include <openssl/sha.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>

#include "core/text.h"

namespace acrf::hub {
namespace {

constexpr std::string_view kScheme = "Munge ";
constexpr std::string_view kPayload = "acrf-report ";

std::string in_quotes(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < ' ') continue;
    if (c == '"' || c == '\\') json += '\\';
    json += c;
  }
  return json + '"';
}

bool is_loopback(std::string_view address) {
  if (starts_with(address, "::ffff:")) address.remove_prefix(7);
  return starts_with(address, "127.") || address == "::1";
}

std::vector<std::string> addresses_of_host(const std::string& name) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* raw = nullptr;
  std::vector<std::string> all;
  if (::getaddrinfo(name.c_str(), nullptr, &hints, &raw) != 0) return all;
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> found(raw, ::freeaddrinfo);
  for (const auto* one = found.get(); one; one = one->ai_next) {
    char text[NI_MAXHOST] = "";
    if (::getnameinfo(one->ai_addr, one->ai_addrlen, text, sizeof text, nullptr, 0,
                      NI_NUMERICHOST) == 0)
      all.emplace_back(text);
  }
  return all;
}

bool are_same(std::string_view a, std::string_view b) {
  for (auto* text : {&a, &b})
    if (starts_with(*text, "::ffff:")) text->remove_prefix(7);
  return a == b || (is_loopback(a) && is_loopback(b));
}

}  // namespace

std::string sha256_hex(std::string_view text) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  ::SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const unsigned char byte : digest) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

Answer Ingest::refuse(int status, const std::string& sentence) {
  model_.note_refusal();
  return {status, "{\"error\":" + in_quotes(sentence) + "}"};
}

Status Ingest::check_seal(const std::string& authorization, const std::string& body,
                          std::string& node) {
  if (!starts_with(authorization, kScheme))
    return Error{ErrorCode::kDenied, "a report needs a munge credential"};
  const auto sealed = seals_.open(authorization.substr(kScheme.size()));
  if (!sealed) return Error{ErrorCode::kDenied, sealed.error().sentence};
  if (sealed->user != 0 && sealed->user != slurm_user_)
    return Error{ErrorCode::kDenied, "reports come from root or SlurmUser only"};
  std::string_view text = sealed->text;
  if (!take_prefix(text, kPayload))
    return Error{ErrorCode::kDenied, "the credential is not one for a report"};
  const auto words = split(text, ' ');
  if (words.size() != 2 || words[1] != sha256_hex(body))
    return Error{ErrorCode::kDenied, "the credential is for another report"};
  node = std::string(words[0]);
  return Done{};
}

// Where slurm.conf has a name for the node's address, all of the name's addresses are the node's.
Status Ingest::check_address(const std::string& node, const std::string& peer) {
  const auto address = model_.address_of(node);
  if (!address) return Error{ErrorCode::kNotFound, "slurmctld knows no node " + node};
  if (are_same(*address, peer)) return Done{};
  const Error stranger{ErrorCode::kDenied, peer + " is no address of node " + node};
  const std::lock_guard lock(addresses_mutex_);
  auto known = addresses_.find(*address);
  const auto has_peer = [&](const std::vector<std::string>& all) {
    return std::any_of(all.begin(), all.end(),
                       [&](const auto& one) { return are_same(one, peer); });
  };
  if (known != addresses_.end() && has_peer(known->second)) return Done{};
  auto found = addresses_of_host(*address);
  if (!has_peer(found)) return stranger;
  addresses_[*address] = std::move(found);
  return Done{};
}

Answer Ingest::take(const std::string& authorization, const std::string& body,
                    const std::string& peer, std::int64_t now_ms) {
  std::string node;
  if (const auto sealed = check_seal(authorization, body, node); !sealed)
    return refuse(401, sealed.error().sentence);
  auto report = parse_report(body);
  if (!report) return refuse(400, report.error().sentence);
  if (report->node != node) return refuse(403, "the credential is another node's");
  if (!model_.knows_cluster()) return refuse(503, "slurmctld has not answered this hub yet");
  if (const auto checked = check_address(node, peer); !checked)
    return refuse(403, checked.error().sentence);
  const auto mark = store_.take(*report);
  for (const auto& item : report->items) {
    if (const auto* incident = std::get_if<ReportedIncident>(&item.what);
        incident && !model_.take_incident(*incident))
      spdlog::warn("node {} reports another node's incident {}: it stays as it was", node,
                   in_quotes(incident->id));
    // What was not accepted comes again.
    const auto* audit = std::get_if<ReportedAudit>(&item.what);
    if (audit && item.seq <= mark.accepted) model_.take_audit(*audit);
  }
  if (const auto taken = model_.take_report(*report, now_ms); !taken)
    return refuse(403, taken.error().sentence);
  std::string advice;
  for (const auto& one : model_.advice_for(node)) advice += (advice.empty() ? "" : ",") + one;
  return {200, "{\"accepted\":" + std::to_string(mark.accepted) + ",\"durable\":" +
                   std::to_string(mark.durable) + ",\"advice\":[" + advice + "]}"};
}

}  // namespace acrf::hub
