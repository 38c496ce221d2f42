// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/node_health.h"

#include <algorithm>
#include <limits>

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

std::optional<std::int64_t> parse_time(std::string_view text) {
  const auto seconds = parse_unsigned(text);
  if (!seconds || *seconds == 0 || *seconds > std::numeric_limits<std::int64_t>::max() / 2)
    return std::nullopt;
  return static_cast<std::int64_t>(*seconds);
}

// "1700000000:gpu_lost"
std::optional<HealthMark> parse_mark(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto when = parse_time(text.substr(0, colon));
  const auto fault_class = decode_word(text.substr(colon + 1));
  if (!when || !fault_class || fault_class->empty()) return std::nullopt;
  return HealthMark{*when, *fault_class};
}

bool is_field_of_another_version(std::string_view field) {
  const auto name = field.substr(0, field.find('='));
  return !name.empty() && name.front() >= 'a' && name.front() <= 'z' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
         });
}

enum class Read { kTaken, kUnknown, kMalformed };

Read taken_if(bool good) { return good ? Read::kTaken : Read::kMalformed; }

Read read_field(std::string_view field, NodeToken& token) {
  auto& health = token.health;
  if (field == "suspect") return taken_if(health.suspect = true);
  if (field == "probation") return taken_if(health.probation = true);
  if (take_prefix(field, "gpus=")) {
    const auto gpus = parse_gpus(field);
    health.quarantined = gpus.value_or(0);
    return taken_if(gpus.has_value());
  }
  if (take_prefix(field, "risk=")) {
    const auto risk = parse_unsigned(field);
    const bool good = risk && *risk <= 100;
    if (good) health.risk = static_cast<int>(*risk);
    return taken_if(good);
  }
  if (take_prefix(field, "claim=")) return taken_if((token.claim = parse_mark(field)).has_value());
  if (take_prefix(field, "acted=")) return taken_if((token.acted = parse_mark(field)).has_value());
  if (take_prefix(field, "braked="))
    return taken_if((token.braked = parse_mark(field)).has_value());
  if (take_prefix(field, "accused="))
    return taken_if((token.accused = parse_mark(field)).has_value());
  if (take_prefix(field, "waived=")) {
    const auto when = parse_time(field);
    token.waived_unix_s = when.value_or(0);
    return taken_if(when.has_value());
  }
  if (!is_field_of_another_version(field)) return Read::kMalformed;
  token.unknown.emplace_back(field);
  return Read::kUnknown;
}

struct ReadToken {
  NodeToken token;
  bool known = false;  // says something that is known here
};

ReadToken read_token(std::string_view comment) {
  for (auto word : split(comment, ' ')) {
    if (!take_prefix(word, kPrefix)) continue;
    ReadToken read;
    for (const auto field : split(word, ',')) {
      const Read result = read_field(field, read.token);
      if (result == Read::kMalformed) return {};
      read.known |= result == Read::kTaken;
    }
    return read;
  }
  return {};
}

std::string to_word(const NodeToken& token) {
  std::string fields;
  const auto add = [&](const std::string& field) { fields += (fields.empty() ? "" : ",") + field; };
  const auto add_mark = [&](const std::string& name, const std::optional<HealthMark>& mark) {
    if (mark) add(name + std::to_string(mark->unix_s) + ":" + encode_word(mark->fault_class));
  };
  const auto& health = token.health;
  if (health.quarantined) {
    std::string gpus;
    for (int gpu = 0; gpu < 64; ++gpu)
      if (health.quarantined >> gpu & 1) gpus += (gpus.empty() ? "" : "+") + std::to_string(gpu);
    add("gpus=" + gpus);
  }
  if (health.suspect) add("suspect");
  if (health.risk) add("risk=" + std::to_string(health.risk));
  if (health.probation) add("probation");
  add_mark("claim=", token.claim);
  add_mark("acted=", token.acted);
  add_mark("braked=", token.braked);
  add_mark("accused=", token.accused);
  if (token.waived_unix_s > 0) add("waived=" + std::to_string(token.waived_unix_s));
  for (const auto& field : token.unknown) add(field);
  return fields.empty() ? "" : std::string(kPrefix) + fields;
}

}  // namespace

NodeToken node_token_in(std::string_view comment) { return read_token(comment).token; }

std::optional<NodeHealth> find_node_health(std::string_view comment) {
  const auto read = read_token(comment);
  if (!read.known) return std::nullopt;
  auto health = read.token.health;
  health.suspect |= read.token.accused.has_value();
  return health;
}

std::string with_node_token(std::string_view comment, const NodeToken& token) {
  std::string text;
  const auto add = [&](std::string_view word) {
    if (!word.empty()) text += (text.empty() ? "" : " ") + std::string(word);
  };
  for (const auto word : split(comment, ' '))
    if (!starts_with(word, kPrefix)) add(word);
  add(to_word(token));
  return text;
}

std::string with_node_health(std::string_view comment, const NodeHealth& health) {
  auto token = read_token(comment).token;
  token.health = health;
  return with_node_token(comment, token);
}

}  // namespace acrf
