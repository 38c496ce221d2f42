// SPDX-License-Identifier: GPL-2.0-or-later
// Which checkpoint a restarted job begins from: the newest one that is complete.
//
// A checkpoint is a directory below the job's checkpoint directory. It is complete when its
// manifest, which the writer publishes last, is there and every file the manifest names has the
// size the manifest gives. Newest goes by the step number that ends the directory's name, because
// clocks of nodes differ and copies change times; names without a number follow, by time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace acrf {

inline constexpr std::string_view kManifestName = "acrf-manifest";

struct CheckpointEntry {
  std::string name;
  std::int64_t modified_ns = 0;
};

struct ManifestFile {
  std::uint64_t size = 0;
  std::string path;  // relative to the checkpoint
};

// "acrf-manifest 1", then one line "SIZE PATH" a file, then "end COUNT": a cut-off manifest is
// never taken for a whole one.
Result<std::vector<ManifestFile>> parse_manifest(std::string_view text);
std::string format_manifest(const std::vector<ManifestFile>& files);

// What the choice needs to know of a file system.
class CheckpointFiles {
 public:
  virtual ~CheckpointFiles() = default;
  virtual std::vector<CheckpointEntry> list() const = 0;
  virtual std::optional<std::string> manifest_of(const std::string& checkpoint) const = 0;
  virtual std::optional<std::uint64_t> size_of(const std::string& checkpoint,
                                               const std::string& path) const = 0;
};

// Newest first.
void sort_newest_first(std::vector<CheckpointEntry>& entries);

// Why the checkpoint can't be used, or nothing when it is complete.
std::optional<std::string> find_defect(const CheckpointFiles& files, const std::string& checkpoint);

// Looks at checkpoints from the newest on and stops at the first complete one.
std::optional<std::string> newest_complete(const CheckpointFiles& files);

}  // namespace acrf
