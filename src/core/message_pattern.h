// SPDX-License-Identifier: GPL-2.0-or-later
// Patterns of the message catalog. A pattern fits the start of a text, in any case of letters:
// "*" stands for any text, "<n>" for a number, "<n=0>", "<n>=100>" and "<n%16>" for one that is 0,
// at least 100, or a multiple of 16 above 0, "<pci>" for an address, and a "$" at the end for the
// end of the text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace acrf {

class MessagePattern {
 public:
  static Result<MessagePattern> parse(std::string_view pattern);

  // Costs at most the length of the text times that of the pattern.
  bool fits(std::string_view text) const;

  // The first letter of every text that fits, in lower case; 0: any.
  char first_letter() const;

 private:
  enum class Kind { kText, kNumber, kZero, kAtLeast, kMultiple, kAddress, kEnd };
  struct Part {
    Kind kind = Kind::kText;
    std::string text;  // in lower case
    std::uint64_t number = 0;
  };
  using Parts = std::vector<Part>;
  static Result<Part> parse_placeholder(std::string_view inside);
  static bool part_fits(const Part& part, std::string_view text, std::size_t& at);
  static bool parts_fit(const Parts& parts, std::string_view text, std::size_t& at);

  // What stands between the wildcards. A piece is taken where it first fits: no later place would
  // leave more text to those behind it.
  std::vector<Parts> pieces_;
};

}  // namespace acrf
