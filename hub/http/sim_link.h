// SPDX-License-Identifier: GPL-2.0-or-later
// acrf-sim behind its Unix socket: one line of JSON there, one back.
#pragma once

#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "core/result.h"
#include "hub/feed.h"

namespace acrf::hub {

// "{}" asks for the state only. kUnavailable: nobody answers within two seconds.
Result<nlohmann::ordered_json> ask_simulator(const std::string& socket, const std::string& line);

// Publishes the simulator's state once a second, from a thread of its own.
class SimFeed {
 public:
  // Without a socket it does nothing. `feed` outlives this.
  SimFeed(std::string socket, Feed& feed);
  ~SimFeed();

 private:
  void run();

  const std::string socket_;
  Feed& feed_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace acrf::hub
