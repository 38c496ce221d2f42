// SPDX-License-Identifier: GPL-2.0-or-later
// When a checkpoint is complete, for each layout that programs leave behind. Each rule rests on
// what the program writes last; doc/design/checkpoints.md says why it is sound.
//
// Each returns why the checkpoint can't be used, or nothing when it is complete.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/checkpoint_files.h"

namespace acrf {

// The number at the end of the name, or after "step=" in the name of a .ckpt.
std::optional<std::uint64_t> step_of(std::string_view name);

// What the program says last, in the checkpoint directory itself: the newest finished one.
inline constexpr std::string_view kDeepSpeedTracker = "latest";
inline constexpr std::string_view kMegatronTracker = "latest_checkpointed_iteration.txt";

// .metadata, which the coordinator writes last, and every shard that it names.
std::optional<std::string> torch_dcp_defect(const CheckpointFiles& files, const std::string& path);

// Model states and optimizer states of all ranks; not newer than `latest`, which is written last.
std::optional<std::string> deepspeed_defect(const CheckpointFiles& files, const std::string& path,
                                            const std::optional<std::string>& latest);

// As above for a directory that holds `latest` and the checkpoint that it names.
std::optional<std::string> nested_deepspeed_defect(const CheckpointFiles& files,
                                                   const std::string& path);

// iter_N or release: all model-parallel ranks, or a distributed checkpoint; not newer than the
// tracker, which is written last.
std::optional<std::string> megatron_defect(const CheckpointFiles& files, const std::string& path,
                                           const std::optional<std::string>& tracker);

// checkpoint-N: weights, and a trainer_state.json of step N, which is written after them.
std::optional<std::string> hugging_face_defect(const CheckpointFiles& files,
                                               const std::string& path);

// A .ckpt: one archive, or a directory of shards.
std::optional<std::string> lightning_defect(const CheckpointFiles& files,
                                            const CheckpointEntry& entry);

bool is_iteration_name(std::string_view name);     // iter_0000100
bool is_hugging_face_name(std::string_view name);  // checkpoint-100
bool is_deepspeed_file(std::string_view name);     // one of a tag's states

}  // namespace acrf
