// SPDX-License-Identifier: GPL-2.0-or-later
// The layouts in which programs leave checkpoints. Each has its own rule for what is complete; see
// doc/design/checkpoints.md.
#pragma once

#include <string_view>

#include "core/result.h"

namespace acrf {

enum class CheckpointFormat {
  kAuto,  // recognised for each checkpoint by itself
  kManifest,
  kTorchDcp,
  kDeepSpeed,
  kMegatron,
  kHuggingFace,
  kLightning,
};

// "auto", "manifest", "torch-dcp", "deepspeed", "megatron", "hf" or "lightning".
Result<CheckpointFormat> parse_checkpoint_format(std::string_view name);
std::string_view name_of(CheckpointFormat format);

}  // namespace acrf
