// SPDX-License-Identifier: GPL-2.0-or-later
// DeepSpeed. Every rank writes its files into the tag's directory; after a barrier rank 0 writes
// the tag's name into `latest`. How many ranks there were no file name says, so the rule asks for
// the full rectangle of data-parallel and model-parallel ranks up to the largest seen.
#include <algorithm>
#include <set>
#include <utility>

#include "core/checkpoint_layouts.h"
#include "core/tensor_file.h"
#include "core/text.h"

namespace acrf {
namespace {

using Rank = std::pair<std::uint64_t, std::uint64_t>;  // data-parallel, model-parallel

struct States {
  std::set<std::uint64_t> models;  // one file a model-parallel rank
  std::set<Rank> model_parts, optimizers;
  std::uint64_t widest_data = 0, widest_model = 0;
};

bool take_number(std::string_view& name, std::uint64_t& number) {
  const auto taken = take_unsigned(name);
  number = taken.value_or(0);
  return taken.has_value();
}

// Sorts the file into `states`; false when it is none of them.
bool take_state(std::string_view name, States& states) {
  std::uint64_t data = 0, model = 0;
  if (take_prefix(name, "mp_rank_")) {
    if (!take_number(name, model) || name != "_model_states.pt") return false;
    states.models.insert(model);
  } else {
    for (const std::string_view prefix : {"bf16_", "fp16_"})
      if (take_prefix(name, prefix)) break;
    if (!take_prefix(name, "zero_pp_rank_") || !take_number(name, data) ||
        !take_prefix(name, "_mp_rank_") || !take_number(name, model))
      return false;
    if (name == "_optim_states.pt") {
      states.optimizers.insert({data, model});
    } else if (name == "_model_states.pt") {
      states.model_parts.insert({data, model});
    } else {
      return false;
    }
  }
  states.widest_data = std::max(states.widest_data, data);
  states.widest_model = std::max(states.widest_model, model);
  return true;
}

std::optional<std::string> missing_rank(const std::set<Rank>& seen, const States& states,
                                        const std::string& what) {
  if (seen.empty()) return std::nullopt;
  for (std::uint64_t model = 0; model <= states.widest_model; ++model)
    for (std::uint64_t data = 0; data <= states.widest_data; ++data)
      if (!seen.contains({data, model})) {
        return "the " + what + " states of data-parallel rank " + std::to_string(data) +
               ", model-parallel rank " + std::to_string(model) + " are missing";
      }
  return std::nullopt;
}

std::optional<std::string> missing_state(const States& states) {
  if (states.models.empty() && states.model_parts.empty()) return "no model states";
  if (!states.models.empty())
    for (std::uint64_t model = 0; model <= states.widest_model; ++model)
      if (!states.models.contains(model))
        return "the model states of model-parallel rank " + std::to_string(model) + " are missing";
  if (auto missing = missing_rank(states.model_parts, states, "model")) return missing;
  return missing_rank(states.optimizers, states, "optimizer");
}

std::optional<std::string> unfinished(const std::string& path,
                                      const std::optional<std::string>& latest) {
  if (!latest) return "no file 'latest' names a finished checkpoint";
  if (path == *latest) return std::nullopt;
  const auto step = step_of(path), finished = step_of(*latest);
  if (!step || !finished) return "'latest' names " + *latest + ", and which is older can't be told";
  if (*step > *finished) return "newer than " + *latest + ", which 'latest' names: not finished";
  return std::nullopt;
}

std::optional<std::string> states_defect(const CheckpointFiles& files, const std::string& path) {
  States states;
  std::vector<std::string> names;
  for (const auto& entry : files.list(path))
    if (!entry.is_directory && take_state(entry.name, states)) names.push_back(entry.name);
  if (auto missing = missing_state(states)) return missing;
  std::sort(names.begin(), names.end());
  for (const auto& name : names)
    if (const auto defect = torch_save_defect(files, path + "/" + name))
      return defect->substr(path.size() + 1);
  return std::nullopt;
}

}  // namespace

bool is_deepspeed_file(std::string_view name) {
  States scratch;
  return take_state(name, scratch);
}

std::optional<std::string> deepspeed_defect(const CheckpointFiles& files, const std::string& path,
                                            const std::optional<std::string>& latest) {
  if (auto reason = unfinished(path, latest)) return reason;
  return states_defect(files, path);
}

std::optional<std::string> nested_deepspeed_defect(const CheckpointFiles& files,
                                                   const std::string& path) {
  const auto latest = read_text(files, path + "/" + std::string(kDeepSpeedTracker));
  if (!latest) return "no file 'latest' names a finished checkpoint";
  const std::string tag(trim(*latest));
  if (tag.empty() || tag.find('/') != std::string::npos) return "'latest' names no directory";
  return states_defect(files, path + "/" + tag);
}

}  // namespace acrf
