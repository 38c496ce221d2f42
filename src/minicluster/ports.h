// SPDX-License-Identifier: GPL-2.0-or-later
// TCP ports on loopback for a cluster's daemons. A port is claimed for as long as its owner lives,
// so that no other cluster on this machine takes the port of a daemon that is just being restarted.
#pragma once

#include <vector>

#include "common/unique_fd.h"
#include "core/result.h"

namespace acrf::minicluster {

struct Ports {
  std::vector<int> numbers;
  std::vector<UniqueFd> claims;  // released when closed, by the end of the process too
};

// Ports that nobody listens on and nobody has claimed, one after the other.
Result<Ports> claim_ports(int count);

}  // namespace acrf::minicluster
