// SPDX-License-Identifier: GPL-2.0-or-later
// GET /v1/events: the feed as server-sent events. A follower holds one thread and its place in the
// feed, nothing else: one that is too slow is told to look anew, or is left.
#pragma once

#include <httplib.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "hub/feed.h"

namespace acrf::hub {

class EventStream {
 public:
  EventStream(const Feed& feed, std::size_t most, std::size_t most_per_address)
      : feed_(feed), most_(most), most_per_address_(most_per_address) {}

  void follow(const httplib::Request& request, httplib::Response& response);
  void stop() { stopping_ = true; }
  std::size_t followers() const;

 private:
  class Seat;  // counts a follower for as long as it lives

  std::shared_ptr<Seat> take_seat(const std::string& address);

  const Feed& feed_;
  const std::size_t most_, most_per_address_;
  std::atomic<bool> stopping_{false};
  mutable std::mutex mutex_;
  std::map<std::string, std::size_t> seats_;  // taken, by address
  std::size_t taken_ = 0;
};

// As it goes over the wire.
std::string to_wire(const FeedEvent& event);

}  // namespace acrf::hub
