// SPDX-License-Identifier: GPL-2.0-or-later
// What changes, in order and numbered, for those who follow it (/v1/events). The last few thousand
// changes are kept: a reader that comes back takes up where it was, one that is too far behind is
// told to look at everything anew. Thread-safe; publishing never waits for a reader.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace acrf::hub {

struct FeedEvent {
  std::uint64_t seq = 0;
  std::string kind;  // fleet, incident, job, brake, stats, sim
  std::string data;  // JSON, one line
};

class Feed {
 public:
  explicit Feed(std::size_t most = 4096) : most_(most) {}

  // The event's number.
  std::uint64_t publish(std::string kind, std::string data);
  // For data that say their own number.
  using Make = std::function<std::string(std::uint64_t seq)>;
  std::uint64_t publish(std::string kind, const Make& make);
  std::uint64_t last() const;

  struct News {
    bool reset = false;  // what follows `after` is not known any more, or was never given out
    std::vector<std::shared_ptr<const FeedEvent>> events;
  };
  // What came after `after`. Waits for something until `limit`; then there is nothing.
  News wait(std::uint64_t after, std::chrono::milliseconds limit) const;

  // Readers that wait return at once, now and from now on.
  void close();

 private:
  const std::size_t most_;
  mutable std::mutex mutex_;
  mutable std::condition_variable published_;
  std::deque<std::shared_ptr<const FeedEvent>> events_;
  std::uint64_t last_ = 0;
  bool closed_ = false;
};

}  // namespace acrf::hub
