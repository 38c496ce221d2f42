// SPDX-License-Identifier: GPL-2.0-or-later
#include "hub/http/rate_limit.h"

#include <algorithm>

namespace acrf::hub {

bool RateLimit::take(const std::string& address, std::int64_t now_ms) {
  const std::lock_guard lock(mutex_);
  auto& bucket = bucket_of(address, now_ms);
  if (bucket.left < 1) return false;
  bucket.left -= 1;
  return true;
}

bool RateLimit::has(const std::string& address, std::int64_t now_ms) {
  const std::lock_guard lock(mutex_);
  const auto known = buckets_.find(address);
  return known == buckets_.end() || bucket_of(address, now_ms).left >= 1;
}

RateLimit::Bucket& RateLimit::bucket_of(const std::string& address, std::int64_t now_ms) {
  if (buckets_.size() >= most_ && !buckets_.contains(address)) forget_oldest(now_ms);
  auto [known, is_new] = buckets_.try_emplace(address, Bucket{burst_, now_ms});
  auto& bucket = known->second;
  const auto passed_ms = std::max<std::int64_t>(0, now_ms - bucket.since_ms);
  bucket.left = std::min(burst_, bucket.left + per_s_ * static_cast<double>(passed_ms) / 1000);
  bucket.since_ms = now_ms;
  return bucket;
}

// A quarter of them at once, so that it is rare.
void RateLimit::forget_oldest(std::int64_t now_ms) {
  std::int64_t oldest = now_ms;
  for (const auto& [address, bucket] : buckets_) oldest = std::min(oldest, bucket.since_ms);
  const auto limit = oldest + (now_ms - oldest) / 4;
  std::erase_if(buckets_, [&](const auto& known) { return known.second.since_ms <= limit; });
}

}  // namespace acrf::hub
