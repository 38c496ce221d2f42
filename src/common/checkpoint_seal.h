// SPDX-License-Identifier: GPL-2.0-or-later
// Sealing: what a finished checkpoint consists of goes to disk, and then its manifest.
#pragma once

#include <string>

#include "core/manifest.h"

namespace acrf {

enum class Checksums { kNone, kAll };

// Syncs every file of the checkpoint to disk and returns the text of its manifest. With checksums
// every file is read once.
Result<std::string> measure_checkpoint(const std::string& directory, Checksums checksums);

Status write_manifest(const std::string& directory, const std::string& manifest);

// Both, one after the other.
Status seal_checkpoint(const std::string& directory, Checksums checksums = Checksums::kAll);

}  // namespace acrf
