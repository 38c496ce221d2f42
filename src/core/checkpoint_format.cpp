// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/checkpoint_format.h"

#include <array>
#include <string>

namespace acrf {
namespace {

// In the order of the enumeration.
constexpr std::array<std::string_view, 7> kNames = {
    "auto", "manifest", "torch-dcp", "deepspeed", "megatron", "hf", "lightning"};

}  // namespace

Result<CheckpointFormat> parse_checkpoint_format(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<CheckpointFormat>(i);
  std::string known;
  for (const auto candidate : kNames) known += (known.empty() ? "" : ", ") + std::string(candidate);
  return Error{ErrorCode::kInvalid,
               "'" + std::string(name) + "' is no checkpoint format; there are " + known};
}

std::string_view name_of(CheckpointFormat format) {
  return kNames[static_cast<std::size_t>(format)];
}

}  // namespace acrf
