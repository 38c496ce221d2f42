// SPDX-License-Identifier: GPL-2.0-or-later
// How long a source takes to answer, counted.
#pragma once

#include <array>
#include <cstdint>

namespace acrf {

struct AnswerTimes {
  static constexpr std::array<double, 8> kBounds_s = {0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3};

  std::array<std::uint64_t, kBounds_s.size()> up_to{};
  std::uint64_t count = 0;
  double sum_s = 0;

  void note(double seconds) {
    ++count;
    sum_s += seconds;
    for (std::size_t i = 0; i < kBounds_s.size(); ++i) up_to[i] += seconds <= kBounds_s[i];
  }
};

}  // namespace acrf
