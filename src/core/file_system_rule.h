// SPDX-License-Identifier: GPL-2.0-or-later
// One file system over time. A shared one that hangs does so everywhere at once: it is reported and
// never drains a node, or one sick server would drain them all.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/node_verdict.h"
#include "core/reading_window.h"

namespace acrf {

struct FileSystemReading {
  bool hung = false;  // no answer within the time limit: nothing else is known
  std::optional<bool> mounted, writable;
  std::optional<int> used_percent, used_inodes_percent;
  std::string type;  // "nfs4", "ext4"; empty: unknown
};

// By the type's name: the file systems of servers that many nodes share.
bool is_shared_file_system(std::string_view type);

class FileSystemRule {
 public:
  explicit FileSystemRule(std::string path) : path_(std::move(path)) {}

  std::vector<Finding> observe(const FileSystemReading& reading);

 private:
  Verdict judge(const char* fault_class, bool has_changed = true) const;

  std::string path_;
  std::string type_;  // last known: a hung one does not tell
  bool was_writable_ = false;
  KOfN hung_{2, 3}, unmounted_{2, 3}, read_only_{2, 3}, full_{2, 3};
};

}  // namespace acrf
