// SPDX-License-Identifier: GPL-2.0-or-later
// How often one address may ask. Each has a bucket that fills by time and that every request takes
// from. Bounded: when too many addresses are known, those that have not asked for longest are
// forgotten. Thread-safe.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

namespace acrf::hub {

class RateLimit {
 public:
  // `burst` at once, and `per_s` from then on.
  RateLimit(double per_s, double burst, std::size_t most_addresses = 16384)
      : per_s_(per_s), burst_(burst), most_(most_addresses) {}

  // Takes one from the address's bucket. False: there was none.
  bool take(const std::string& address, std::int64_t now_ms);
  // The same without taking.
  bool has(const std::string& address, std::int64_t now_ms);

 private:
  struct Bucket {
    double left = 0;
    std::int64_t since_ms = 0;
  };
  Bucket& bucket_of(const std::string& address, std::int64_t now_ms);
  void forget_oldest(std::int64_t now_ms);

  const double per_s_, burst_;
  const std::size_t most_;
  std::mutex mutex_;
  std::unordered_map<std::string, Bucket> buckets_;
};

}  // namespace acrf::hub
