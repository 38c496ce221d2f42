// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers for property tests: the same on every machine and in every run.
#pragma once

#include <cstdint>

namespace acrf {

class Random {  // splitmix64
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // 0 <= result < n
  int below(int n) { return static_cast<int>(next() % static_cast<std::uint64_t>(n)); }
  // True once in n times.
  bool one_in(int n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

}  // namespace acrf
