// SPDX-License-Identifier: GPL-2.0-or-later
// Small files of /sys that are read again and again. They stay open, so that a look costs one
// system call and no walk through directories; one whose device went away is opened anew. Files
// elsewhere are opened for each look: there a new file may have taken the old one's name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "common/unique_fd.h"

namespace acrf {

class KeptFiles {
 public:
  // Without blanks around it; empty when the file is not there or cannot be read. At most 4 kB.
  std::string text(const std::string& path);
  std::optional<std::uint64_t> number(const std::string& path);

 private:
  std::unordered_map<std::string, UniqueFd> open_;
};

}  // namespace acrf
