// SPDX-License-Identifier: GPL-2.0-or-later
// Texts as exec(3) and its relatives want them.
#pragma once

#include <string>
#include <vector>

namespace acrf {

// Pointers into `texts`, ended by a null; valid for as long as the texts are.
inline std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (auto& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace acrf
