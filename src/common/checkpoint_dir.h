// SPDX-License-Identifier: GPL-2.0-or-later
// A checkpoint directory on disk, for the choice in core/checkpoint.h. Reads only what is asked
// for; no symbolic link below the directory is followed.
#pragma once

#include <string>

#include "common/unique_fd.h"
#include "core/checkpoint.h"

namespace acrf {

class CheckpointDir : public CheckpointFiles {
 public:
  explicit CheckpointDir(const std::string& path);

  std::vector<CheckpointEntry> list(const std::string& path) const override;
  std::optional<std::uint64_t> size_of(const std::string& path) const override;
  std::optional<std::string> read(const std::string& path, std::uint64_t offset,
                                  std::size_t length) const override;

 private:
  int open_directory(const std::string& path) const;
  UniqueFd open_parent(const std::string& path, std::string& last) const;

  UniqueFd root_;
};

// Full path of the newest complete checkpoint below `directory`.
std::optional<std::string> newest_checkpoint(const std::string& directory,
                                             CheckpointFormat format = CheckpointFormat::kAuto);

}  // namespace acrf
