// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/node_health.h"

#include <algorithm>
#include <limits>

#include "core/text.h"

namespace acrf {
namespace {

constexpr std::string_view kPrefix = "acrf:";
constexpr std::size_t kMostLeft = 32;

std::optional<GpuMask> parse_gpus(std::string_view list) {
  GpuMask mask = 0;
  for (const auto piece : split(list, '+')) {
    const auto gpu = parse_unsigned(piece);
    if (!gpu || *gpu > 63) return std::nullopt;
    mask |= GpuMask{1} << *gpu;
  }
  return mask;
}

std::optional<std::vector<std::uint32_t>> parse_jobs(std::string_view list) {
  std::vector<std::uint32_t> jobs;
  for (const auto piece : split(list, '+')) {
    const auto job = parse_unsigned(piece);
    if (!job || *job == 0 || *job > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
    jobs.push_back(static_cast<std::uint32_t>(*job));
  }
  return jobs;
}

std::optional<std::int64_t> parse_time(std::string_view text) {
  const auto seconds = parse_unsigned(text);
  if (!seconds || *seconds == 0 || *seconds > std::numeric_limits<std::int64_t>::max() / 2)
    return std::nullopt;
  return static_cast<std::int64_t>(*seconds);
}

// "1700000000:gpu_lost", "1700000000:node_lost:n7"
std::optional<HealthMark> parse_mark(std::string_view text) {
  const auto parts = split(text, ':');
  if (parts.size() != 2 && parts.size() != 3) return std::nullopt;
  const auto when = parse_time(parts[0]);
  const auto fault_class = decode_word(parts[1]);
  const auto speaker = decode_word(parts.size() == 3 ? parts[2] : std::string_view());
  if (!when || !fault_class || fault_class->empty() || !speaker) return std::nullopt;
  return HealthMark{*when, *fault_class, *speaker};
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
  if (take_prefix(field, "left=")) {
    auto jobs = parse_jobs(field);
    const bool good = jobs.has_value();
    if (good) token.left = std::move(*jobs);
    return taken_if(good);
  }
  const bool is_hot = starts_with(field, "hot=");
  if (take_prefix(field, "hot=") || take_prefix(field, "waived=")) {
    const auto when = parse_time(field);
    (is_hot ? token.hot_unix_s : token.waived_unix_s) = when.value_or(0);
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
    if (!mark) return;
    const auto speaker = mark->speaker.empty() ? "" : ":" + encode_word(mark->speaker);
    add(name + std::to_string(mark->unix_s) + ":" + encode_word(mark->fault_class) + speaker);
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
  std::string left;
  for (const auto job : token.left) left += (left.empty() ? "" : "+") + std::to_string(job);
  if (!left.empty()) add("left=" + left);
  if (token.hot_unix_s > 0) add("hot=" + std::to_string(token.hot_unix_s));
  if (token.waived_unix_s > 0) add("waived=" + std::to_string(token.waived_unix_s));
  for (const auto& field : token.unknown) add(field);
  return fields.empty() ? "" : std::string(kPrefix) + fields;
}

}  // namespace

NodeToken node_token_in(std::string_view comment) { return read_token(comment).token; }

void add_left(NodeToken& token, std::uint32_t job) {
  if (std::find(token.left.begin(), token.left.end(), job) != token.left.end()) return;
  if (token.left.size() >= kMostLeft) token.left.erase(token.left.begin());
  token.left.push_back(job);
}

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
