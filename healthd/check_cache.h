// SPDX-License-Identifier: GPL-2.0-or-later
// The verdict on this node as a small file: the daemon replaces it at each change and every few
// seconds, and `acrf-healthd --check-once` answers from it without asking any hardware. A file of
// another boot, an old one or none at all means unknown, never healthy.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/node_verdict.h"
#include "core/result.h"

namespace acrf {

constexpr std::int64_t kCheckCacheEveryMs = 5'000;
constexpr std::int64_t kCheckCacheStaleMs = 30'000;


// Milliseconds since boot, time asleep included: no clock change makes a verdict look fresh.
std::int64_t boottime_ms();

class CheckCache {
 public:
  CheckCache(std::string path, std::string boot_id)
      : path_(std::move(path)), boot_id_(std::move(boot_id)) {}

  // Writes when the verdict is new or the file is due for a refresh. `figures`: a JSON object, asked
  // for only then.
  Status publish(const NodeVerdict& verdict, std::int64_t now_ms,
                 const std::function<std::string()>& figures = {});

 private:
  std::string path_;
  std::string boot_id_;
  NodeVerdict written_;
  std::int64_t written_ms_ = -1;
};

// What the file says if it is of this boot and fresh; otherwise UNKNOWN with the reason.
NodeVerdict read_check_cache(const std::string& path, const std::string& boot_id,
                             std::int64_t now_ms);

// Prints one line, "ACRF OK - HEALTHY: no findings", and gives the exit code.
int run_check_once(const std::string& state_dir);

}  // namespace acrf
