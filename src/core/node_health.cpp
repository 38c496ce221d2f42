// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/node_health.h"

#include "core/text.h"

namespace acrf {
namespace {

constexpr std::string_view kPrefix = "acrf:";

std::optional<GpuMask> parse_gpus(std::string_view list) {
  GpuMask mask = 0;
  for (const auto piece : split(list, '+')) {
    const auto gpu = parse_unsigned(piece);
    if (!gpu || *gpu > 63) return std::nullopt;
    mask |= GpuMask{1} << *gpu;
  }
  return mask;
}

std::optional<NodeHealth> parse_token(std::string_view token) {
  NodeHealth health;
  for (auto field : split(token, ',')) {
    if (field == "suspect") {
      health.suspect = true;
    } else if (take_prefix(field, "gpus=")) {
      const auto gpus = parse_gpus(field);
      if (!gpus) return std::nullopt;
      health.quarantined = *gpus;
    } else if (take_prefix(field, "risk=")) {
      const auto risk = parse_unsigned(field);
      if (!risk || *risk > 100) return std::nullopt;
      health.risk = static_cast<int>(*risk);
    } else {
      return std::nullopt;
    }
  }
  return health;
}

std::string to_token(const NodeHealth& health) {
  std::string fields;
  const auto add = [&](const std::string& field) { fields += (fields.empty() ? "" : ",") + field; };
  if (health.quarantined) {
    std::string gpus;
    for (int gpu = 0; gpu < 64; ++gpu)
      if (health.quarantined >> gpu & 1) gpus += (gpus.empty() ? "" : "+") + std::to_string(gpu);
    add("gpus=" + gpus);
  }
  if (health.suspect) add("suspect");
  if (health.risk) add("risk=" + std::to_string(health.risk));
  return fields.empty() ? "" : std::string(kPrefix) + fields;
}

}  // namespace

std::optional<NodeHealth> find_node_health(std::string_view comment) {
  for (auto word : split(comment, ' '))
    if (take_prefix(word, kPrefix)) return parse_token(word);
  return std::nullopt;
}

std::string with_node_health(std::string_view comment, const NodeHealth& health) {
  std::string text;
  const auto add = [&](std::string_view word) {
    if (!word.empty()) text += (text.empty() ? "" : " ") + std::string(word);
  };
  for (const auto word : split(comment, ' '))
    if (!starts_with(word, kPrefix)) add(word);
  add(to_token(health));
  return text;
}

}  // namespace acrf
