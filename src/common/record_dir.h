// SPDX-License-Identifier: GPL-2.0-or-later
// A directory of small records, one file each, written whole and durably: what a killed daemon was
// about to do, the next one finds here and finishes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/result.h"

namespace acrf {

class RecordDir {
 public:
  // Creates the directory, readable by its owner only.
  static Result<RecordDir> open(const std::string& directory);

  Status save(const std::string& id, const std::string& text) const;
  void remove(const std::string& id) const;

  // Hands each record's text to `take`, which says what is wrong with it. Unreadable ones are set
  // aside as *.bad and named in `complaints`.
  void for_each(const std::function<Status(const std::string& text)>& take,
                std::vector<std::string>& complaints) const;

 private:
  explicit RecordDir(std::string directory) : directory_(std::move(directory)) {}
  std::string directory_;
};

}  // namespace acrf
