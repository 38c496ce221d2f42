// SPDX-License-Identifier: GPL-2.0-or-later
// Hugging Face's Trainer. It saves the weights, the optimizer and then trainer_state.json.
#include "core/checkpoint_layouts.h"
#include "core/json_scan.h"
#include "core/tensor_file.h"
#include "core/text.h"

namespace acrf {
namespace {

constexpr std::string_view kSafetensors = ".safetensors";

std::optional<std::string> state_defect(const CheckpointFiles& files, const std::string& path) {
  const auto state = read_text(files, path + "/trainer_state.json");
  if (!state) return "no trainer_state.json";
  if (!is_json_object(*state)) return "trainer_state.json is cut off";
  const auto step = json_number(*state, "global_step");
  if (!step) return "trainer_state.json has no global_step";
  if (step != step_of(path)) return "trainer_state.json is of step " + std::to_string(*step);
  return std::nullopt;
}

std::optional<std::string> weights_file_defect(const CheckpointFiles& files,
                                               const std::string& path) {
  return path.ends_with(kSafetensors) ? safetensors_defect(files, path)
                                      : torch_save_defect(files, path);
}

std::optional<std::string> index_defect(const CheckpointFiles& files, const std::string& path,
                                        const std::string& index, std::string_view suffix) {
  const auto text = read_text(files, path + "/" + index);
  if (!text || !is_json_object(*text)) return path + "/" + index + " is cut off";
  const auto shards = json_strings(*text, suffix);
  if (shards.empty()) return path + "/" + index + " names no shard";
  for (const auto& shard : shards)
    if (auto defect = weights_file_defect(files, path + "/" + shard)) return defect;
  return std::nullopt;
}

// The weights in whichever of their forms is there.
std::optional<std::string> weights_defect(const CheckpointFiles& files, const std::string& path) {
  const auto has = [&](const std::string& name) {
    return files.size_of(path + "/" + name).has_value();
  };
  for (const std::string name :
       {"model.safetensors", "adapter_model.safetensors", "pytorch_model.bin", "adapter_model.bin"})
    if (has(name)) return weights_file_defect(files, path + "/" + name);
  if (has("model.safetensors.index.json"))
    return index_defect(files, path, "model.safetensors.index.json", kSafetensors);
  if (has("pytorch_model.bin.index.json"))
    return index_defect(files, path, "pytorch_model.bin.index.json", ".bin");
  const auto sharded = path + "/pytorch_model_fsdp_0";
  if (!files.list(sharded).empty()) return torch_dcp_defect(files, sharded);
  if (has(std::string(kDeepSpeedTracker))) return nested_deepspeed_defect(files, path);
  return "no model weights";
}

std::string within(const std::string& path, const std::string& sentence) {
  return starts_with(sentence, path + "/") ? sentence.substr(path.size() + 1) : sentence;
}

}  // namespace

bool is_hugging_face_name(std::string_view name) {
  return take_prefix(name, "checkpoint-") && parse_unsigned(name).has_value();
}

std::optional<std::string> hugging_face_defect(const CheckpointFiles& files,
                                               const std::string& path) {
  if (!is_hugging_face_name(path)) return "not named checkpoint-N";
  if (auto defect = state_defect(files, path)) return defect;
  if (const auto defect = weights_defect(files, path)) return within(path, *defect);
  const auto optimizer = path + "/optimizer.pt";
  if (!files.size_of(optimizer)) return std::nullopt;
  const auto defect = torch_save_defect(files, optimizer);
  return defect ? std::optional(within(path, *defect)) : std::nullopt;
}

}  // namespace acrf
