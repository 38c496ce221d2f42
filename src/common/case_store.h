// SPDX-License-Identifier: GPL-2.0-or-later
// Cases on disk, written before every act. Those that are over stay for as long as the ladder
// counts what was tried.
#pragma once

#include <string>
#include <vector>

#include "common/record_dir.h"
#include "core/ladder.h"

namespace acrf {

class CaseStore {
 public:
  static Result<CaseStore> open(const std::string& directory);

  Status save(const Case& sick) const { return records_.save(sick.key, to_json(sick)); }

  // Unreadable records are set aside and named in `complaints`. Old ones are removed.
  std::vector<Case> load_all(std::int64_t now_s, std::vector<std::string>& complaints) const;

  static std::string to_json(const Case& sick);
  static Result<Case> from_json(const std::string& text);

 private:
  explicit CaseStore(RecordDir records) : records_(std::move(records)) {}
  RecordDir records_;
};

}  // namespace acrf
