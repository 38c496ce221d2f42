// SPDX-License-Identifier: GPL-2.0-or-later
// Who asks, and what they may. Reading: a token, or a connection from this host. Acting: an admin's
// token, or a munge credential of root's or SlurmUser's that covers the request's body. On a test
// cluster a connection from this host may act too, with a header that no other site's page can
// send.
#pragma once

#include <cstdint>
#include <string>

#include "common/munge.h"
#include "hub/http/tokens.h"

namespace acrf::hub {

// What of a request matters here.
struct Claim {
  std::string peer;           // the connection's numeric address
  std::string authorization;  // header; empty: none
  std::string host;           // header
  std::string confirm;        // header X-ACRF-Confirm
};

struct Caller {
  Role role = Role::kNone;
  std::string name;  // "token ops", "user 0", "loopback"
};

struct Refusal {
  int status = 401;  // 401: say who you are; 403: you may not
  std::string sentence;
};

// One of the two.
struct Admission {
  Caller caller;
  Refusal refusal;
  bool is_refused() const { return caller.role == Role::kNone; }
};

bool is_loopback(const std::string& address);

class Credentials {
 public:
  Credentials(TokenFile& tokens, Seals seals, std::uint32_t slurm_user, bool test_cluster)
      : tokens_(tokens),
        seals_(std::move(seals)),
        slurm_user_(slurm_user),
        test_cluster_(test_cluster) {}

  Admission may_read(const Claim& claim, std::int64_t now_unix_s);
  // To be asked once per request: munge opens a credential once.
  Admission may_act(const Claim& claim, const std::string& body, std::int64_t now_unix_s);
  // What can be said before the body is there: false only if may_act() will refuse whatever it is.
  Admission may_try_to_act(const Claim& claim, std::int64_t now_unix_s);

 private:
  Admission by_token(const std::string& secret, std::int64_t now_unix_s);
  Admission by_munge(const std::string& credential, const std::string& body);
  Admission by_loopback(const Claim& claim);

  TokenFile& tokens_;
  const Seals seals_;
  const std::uint32_t slurm_user_;
  const bool test_cluster_;
};

}  // namespace acrf::hub
