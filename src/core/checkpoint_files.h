// SPDX-License-Identifier: GPL-2.0-or-later
// What the choice of a checkpoint needs to know of a file system: reading, below one directory, and
// only when asked. Paths are relative to that directory. No symbolic link is followed or listed,
// so that nothing outside the directory is ever taken for a part of a checkpoint.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace acrf {

struct CheckpointEntry {
  std::string name;
  std::int64_t modified_ns = 0;
  bool is_directory = true;
  std::uint64_t size = 0;  // of a file
};

class CheckpointFiles {
 public:
  virtual ~CheckpointFiles() = default;

  // The directories and regular files in a directory ("": the checkpoint directory itself), in any
  // order. Empty when it can't be read.
  virtual std::vector<CheckpointEntry> list(const std::string& path) const = 0;

  // Nothing unless it is a regular file.
  virtual std::optional<std::uint64_t> size_of(const std::string& path) const = 0;

  // Up to `length` bytes from `offset` on; fewer at the file's end. Nothing when it can't be read.
  virtual std::optional<std::string> read(const std::string& path, std::uint64_t offset,
                                          std::size_t length) const = 0;
};

// A whole text; nothing when it is longer than any sane one.
inline std::optional<std::string> read_text(const CheckpointFiles& files, const std::string& path) {
  constexpr std::uint64_t kLongest = 256 << 20;
  const auto size = files.size_of(path);
  if (!size || *size > kLongest) return std::nullopt;
  return files.read(path, 0, static_cast<std::size_t>(*size));
}

}  // namespace acrf
