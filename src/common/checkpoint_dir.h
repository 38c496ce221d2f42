// SPDX-License-Identifier: GPL-2.0-or-later
// A checkpoint directory on disk, for the choice in core/checkpoint.h. Reads only what is asked
// for; never follows a symbolic link out of the checkpoint.
#pragma once

#include <string>

#include "core/checkpoint.h"

namespace acrf {

class CheckpointDir : public CheckpointFiles {
 public:
  explicit CheckpointDir(std::string path) : path_(std::move(path)) {}

  std::vector<CheckpointEntry> list() const override;
  std::optional<std::string> manifest_of(const std::string& checkpoint) const override;
  std::optional<std::uint64_t> size_of(const std::string& checkpoint,
                                       const std::string& path) const override;

 private:
  std::string path_;
};

// Full path of the newest complete checkpoint below `directory`.
std::optional<std::string> newest_checkpoint(const std::string& directory);

// Publishes the checkpoint in `directory`: syncs each of its files and writes the manifest last.
Status seal_checkpoint(const std::string& directory);

}  // namespace acrf
