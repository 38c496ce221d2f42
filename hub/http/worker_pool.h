// SPDX-License-Identifier: GPL-2.0-or-later
// Threads that serve connections, made when they are needed and never more than allowed. Followers
// of the feed keep theirs for as long as they follow. What nobody has time for is turned away at
// once instead of waiting without end.
#pragma once

#include <httplib.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace acrf::hub {

class WorkerPool : public httplib::TaskQueue {
 public:
  WorkerPool(std::size_t most_threads, std::size_t most_waiting)
      : most_threads_(most_threads), most_waiting_(most_waiting) {}

  void enqueue(std::function<void()> task) override;
  void shutdown() override;

  // True inside a task that is only to turn its client away.
  static bool is_turning_away();
  // Connections wait for a thread: those that idle should give theirs up.
  bool is_busy() const { return waiting_ > 0; }

 private:
  void work();

  const std::size_t most_threads_, most_waiting_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  std::atomic<std::size_t> waiting_{0};
  bool stopping_ = false;
};

}  // namespace acrf::hub
