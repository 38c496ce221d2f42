// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/bridge/left_bridge.h"

#include <algorithm>

#include "core/node_health.h"

// Without memory the job goes on waiting.
int acrf_has_left(const char* node_comment, uint32_t job_id) {
  try {
    const auto left = acrf::node_token_in(node_comment ? node_comment : "").left;
    return std::find(left.begin(), left.end(), job_id) != left.end();
  } catch (...) {
    return 0;
  }
}
