// SPDX-License-Identifier: GPL-2.0-or-later
#include "hub/http/credentials.h"

#include "common/signature.h"
#include "core/text.h"

namespace acrf::hub {
namespace {

Admission refused(int status, std::string sentence) { return {{}, {status, std::move(sentence)}}; }

// "Bearer x": the rest, when the first word is this scheme.
std::optional<std::string> credential_of(const std::string& authorization,
                                         std::string_view scheme) {
  const auto blank = authorization.find(' ');
  if (blank == std::string::npos) return std::nullopt;
  if (!equals_ignoring_case(std::string_view(authorization).substr(0, blank), scheme))
    return std::nullopt;
  return std::string(trim(std::string_view(authorization).substr(blank + 1)));
}

std::string_view without_port(std::string_view host) {
  if (!host.empty() && host.front() == '[') return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.rfind(':'));
}

// A page of another site can make its own name point to this host, but not send our name for it.
bool names_this_host(const std::string& host) {
  const auto name = without_port(host);
  return name.empty() || equals_ignoring_case(name, "localhost") || name == "[::1]" ||
         is_loopback(std::string(name));
}

}  // namespace

bool is_loopback(const std::string& address) {
  std::string_view plain = address;
  take_prefix(plain, "::ffff:");
  if (plain == "::1") return true;
  return starts_with(plain, "127.") &&
         plain.find_first_not_of("0123456789.") == std::string_view::npos;
}

Admission Credentials::by_token(const std::string& secret, std::int64_t now_unix_s) {
  const auto token = tokens_.find(secret, now_unix_s);
  if (!token) return refused(401, "the token is not known or has expired");
  return {{token->role, "token " + token->name}, {}};
}

Admission Credentials::by_loopback(const Claim& claim) {
  if (!is_loopback(claim.peer))
    return refused(401, "a token is needed: Authorization: Bearer TOKEN");
  if (!names_this_host(claim.host))
    return refused(403, "without a token this hub is asked as localhost");
  return {{Role::kRead, "loopback"}, {}};
}

Admission Credentials::by_munge(const std::string& credential, const std::string& body) {
  const auto opened = seals_.open(credential);
  if (!opened)
    return refused(401, "the munge credential does not hold: " + opened.error().sentence);
  if (opened->user != 0 && opened->user != slurm_user_)
    return refused(403, "acting is for root and SlurmUser");
  if (opened->text != "acrf-action " + to_hex(sha256(body)))
    return refused(401, "the munge credential is not of this request's body");
  return {{Role::kAdmin, "user " + std::to_string(opened->user)}, {}};
}

Admission Credentials::may_read(const Claim& claim, std::int64_t now_unix_s) {
  if (claim.authorization.empty()) return by_loopback(claim);
  if (const auto secret = credential_of(claim.authorization, "Bearer"))
    return by_token(*secret, now_unix_s);
  return refused(401, "reading needs a token: Authorization: Bearer TOKEN");
}

Admission Credentials::may_try_to_act(const Claim& claim, std::int64_t now_unix_s) {
  if (credential_of(claim.authorization, "Munge")) return {{Role::kAdmin, ""}, {}};
  auto admission = may_read(claim, now_unix_s);
  if (admission.is_refused() || admission.caller.role == Role::kAdmin) return admission;
  if (admission.caller.name != "loopback")
    return refused(403, "the token is for reading: acting needs an admin's token");
  if (!test_cluster_)
    return refused(401, "acting needs an admin's token or a munge credential of root or SlurmUser");
  if (claim.confirm != "yes") return refused(403, "acting needs the header X-ACRF-Confirm: yes");
  admission.caller.role = Role::kAdmin;
  return admission;
}

Admission Credentials::may_act(const Claim& claim, const std::string& body,
                               std::int64_t now_unix_s) {
  if (const auto credential = credential_of(claim.authorization, "Munge"))
    return by_munge(*credential, body);
  return may_try_to_act(claim, now_unix_s);
}

}  // namespace acrf::hub
