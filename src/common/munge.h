// SPDX-License-Identifier: GPL-2.0-or-later
// Who sent a text: munge's credentials, which every host of a Slurm cluster can make and check.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/result.h"

namespace acrf {

struct SealedText {
  std::string text;
  std::uint32_t user = 0;  // who sealed it
};

// What of munge is used; tests have their own.
struct Seals {
  std::function<Result<std::string>(const std::string& text)> seal;
  // Each credential opens once on a host, within munge's time to live.
  std::function<Result<SealedText>(const std::string& credential)> open;
};

// Through the munged behind `socket`; empty: munge's own default. Credentials can be opened by this
// process's user alone. Calls block for some seconds at most when munged hangs.
Seals munge_seals(const std::string& socket);

// The socket in slurm.conf's AuthInfo; empty when it names none.
std::string munge_socket_in(const std::string& auth_info);

}  // namespace acrf
