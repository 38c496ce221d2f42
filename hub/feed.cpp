// SPDX-License-Identifier: GPL-2.0-or-later
#include "hub/feed.h"

namespace acrf::hub {

std::uint64_t Feed::publish(std::string kind, std::string data) {
  return publish(std::move(kind), [&](std::uint64_t) { return std::move(data); });
}

std::uint64_t Feed::publish(std::string kind, const Make& make) {
  auto event = std::make_shared<FeedEvent>();
  event->kind = std::move(kind);
  const std::lock_guard lock(mutex_);
  event->seq = ++last_;
  event->data = make(event->seq);
  events_.push_back(std::move(event));
  if (events_.size() > most_) events_.pop_front();
  published_.notify_all();
  return last_;
}

std::uint64_t Feed::last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

Feed::News Feed::wait(std::uint64_t after, std::chrono::milliseconds limit) const {
  std::unique_lock lock(mutex_);
  News news;
  // A number of another life of the hub.
  news.reset = after > last_ || after + 1 < last_ + 1 - events_.size();
  if (news.reset) return news;
  published_.wait_for(lock, limit, [&] { return closed_ || last_ > after; });
  const auto first = last_ + 1 - events_.size();
  if (news.reset = after + 1 < first; news.reset) return news;
  for (auto i = after + 1 - first; i < events_.size(); ++i) news.events.push_back(events_[i]);
  return news;
}

void Feed::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  published_.notify_all();
}

}  // namespace acrf::hub
