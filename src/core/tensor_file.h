// SPDX-License-Identifier: GPL-2.0-or-later
// Whether a file of tensors is whole, told from its ends alone: torch.save's zip archives close
// with a directory of their contents, safetensors open with one.
#pragma once

#include <optional>
#include <string>

#include "core/checkpoint_files.h"

namespace acrf {

// Each returns what is wrong with the file, beginning with its path, or nothing when it is whole.
std::optional<std::string> zip_defect(const CheckpointFiles& files, const std::string& path);
std::optional<std::string> safetensors_defect(const CheckpointFiles& files,
                                              const std::string& path);

// For what torch.save wrote: a zip archive must be whole; of an older stream, only that there is
// something can be told.
std::optional<std::string> torch_save_defect(const CheckpointFiles& files, const std::string& path);

// For many torch.save archives one after another in a file, as in a shard: a file that begins with
// one must end with one.
std::optional<std::string> zip_stream_defect(const CheckpointFiles& files, const std::string& path);

}  // namespace acrf
