// SPDX-License-Identifier: GPL-2.0-or-later
// acrf-manifest: what a sealed checkpoint consists of. The writer publishes it last, so a
// checkpoint that has one was finished; sizes and checksums tell whether it still is what it was.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/checkpoint_files.h"
#include "core/result.h"

namespace acrf {

inline constexpr std::string_view kManifestName = "acrf-manifest";

struct ManifestFile {
  std::uint64_t size = 0;
  std::string path;                     // relative to the checkpoint
  std::optional<std::uint32_t> crc32c;  // none in version 1
};

// "acrf-manifest 2", then one line "SIZE CRC32C PATH" a file, then "end COUNT": a cut-off manifest
// is never taken for a whole one. Version 1 has lines "SIZE PATH".
Result<std::vector<ManifestFile>> parse_manifest(std::string_view text);

// Version 2 when every file has a checksum, otherwise version 1.
std::string format_manifest(const std::vector<ManifestFile>& files);

// Compares names and sizes. Why the checkpoint can't be used, or nothing when it is complete.
std::optional<std::string> manifest_defect(const CheckpointFiles& files,
                                           const std::string& checkpoint);

// Reads every file that has a checksum in the manifest and compares.
std::optional<std::string> checksum_defect(const CheckpointFiles& files,
                                           const std::string& checkpoint);

}  // namespace acrf
