// SPDX-License-Identifier: GPL-2.0-or-later
#include "hub/http/worker_pool.h"

namespace acrf::hub {
namespace {

thread_local bool turning_away = false;

}  // namespace

bool WorkerPool::is_turning_away() { return turning_away; }

void WorkerPool::enqueue(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    if (tasks_.size() < most_waiting_) {
      tasks_.push_back(std::move(task));
      waiting_ = tasks_.size();
      if (idle_ < tasks_.size() && threads_.size() < most_threads_)
        threads_.emplace_back([this] { work(); });
      wake_.notify_one();
      return;
    }
  }
  turning_away = true;
  task();  // closes the connection
  turning_away = false;
}

void WorkerPool::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    wake_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
    --idle_;
    if (tasks_.empty()) return;
    const auto task = std::move(tasks_.front());
    tasks_.pop_front();
    waiting_ = tasks_.size();
    lock.unlock();
    task();
    lock.lock();
  }
}

void WorkerPool::shutdown() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_) thread.join();
}

}  // namespace acrf::hub
