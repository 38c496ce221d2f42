// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/power_cap.h"

#include <optional>

#include "core/text.h"

namespace acrf {
namespace {

constexpr int kMostTries = 3;
constexpr std::int64_t kTryAgain_s = 60;
constexpr std::uint64_t kMilliwatts = 1000;
constexpr std::size_t kWords = 11;

// Drivers round to what the board can do.
bool is_about(std::uint64_t limit_mw, std::uint64_t watts) {
  const auto limit_w = (limit_mw + kMilliwatts / 2) / kMilliwatts;
  return limit_w <= watts + 1 && watts <= limit_w + 1;
}

bool may_lower(const PowerCap& cap, std::int64_t now_s) {
  return cap.tries == 0 || (cap.tries < kMostTries && now_s - cap.tried_s >= kTryAgain_s);
}

bool may_restore(const PowerCap& cap, std::int64_t now_s) {
  return !cap.restoring || now_s - cap.tried_s >= kTryAgain_s;
}

std::optional<PowerCap> parse_line(std::string_view line) {
  const auto words = split(line, ' ');
  if (words.size() != kWords) return std::nullopt;
  const auto uuid = decode_word(words[0]);
  auto pci = words[1];
  const auto address = take_pci_address(pci);
  const auto incident = decode_word(words[2]);
  std::uint64_t numbers[kWords - 3] = {};
  for (std::size_t i = 3; i < kWords; ++i) {
    const auto number = parse_unsigned(words[i]);
    if (!number || *number > INT64_MAX) return std::nullopt;
    numbers[i - 3] = *number;
  }
  if (!uuid || uuid->empty() || !address || !incident || numbers[1] == 0) return std::nullopt;
  return PowerCap{*uuid,
                  *address,
                  *incident,
                  numbers[0],
                  numbers[1],
                  static_cast<std::int64_t>(numbers[2]),
                  static_cast<int>(numbers[3]),
                  static_cast<std::int64_t>(numbers[4]),
                  numbers[5] != 0,
                  numbers[6] != 0,
                  numbers[7] != 0};
}

}  // namespace

bool is_heat(std::string_view fault_class) {
  return starts_with(fault_class, "hw_slow") || starts_with(fault_class, "temperature_") ||
         starts_with(fault_class, "thermal");
}

PowerCap plan_cap(const GpuHeat& gpu, int percent, const std::string& incident) {
  PowerCap cap{gpu.uuid, gpu.address, incident};
  if (!gpu.power_limit_mw || percent <= 0 || percent >= 100) return cap;
  cap.before_w = *gpu.power_limit_mw / kMilliwatts;
  cap.capped_w = cap.before_w * static_cast<std::uint64_t>(percent) / 100;
  return cap;
}

CapStep next_cap_step(PowerCap& cap, const GpuHeat& gpu, std::int64_t now_s, std::int64_t cool_s) {
  if (gpu.hot) cap.hot_s = now_s;
  // Before a look that is younger than what was done, nobody knows what became of it.
  if (!gpu.power_limit_mw || gpu.look_s <= cap.tried_s) return CapStep::kNothing;
  const bool is_capped = is_about(*gpu.power_limit_mw, cap.capped_w);
  const bool is_as_before = is_about(*gpu.power_limit_mw, cap.before_w);
  cap.is_others = cap.is_others || (!is_capped && !is_as_before);
  const bool is_cool = now_s - cap.hot_s >= cool_s;
  if (is_cool && (cap.is_others || is_as_before)) return CapStep::kForget;
  if (cap.is_others) return CapStep::kNothing;
  if (is_capped)
    return (is_cool || cap.lifted) && may_restore(cap, now_s) ? CapStep::kRestore
                                                              : CapStep::kNothing;
  if (cap.lifted) return CapStep::kNothing;
  if (cap.restoring) return CapStep::kForget;  // given back, and hot again: from the beginning
  return may_lower(cap, now_s) ? CapStep::kLower : CapStep::kNothing;
}

void note_try(PowerCap& cap, CapStep step, std::int64_t now_s) {
  cap.restoring = step == CapStep::kRestore;
  if (!cap.restoring) ++cap.tries;
  cap.tried_s = now_s;
}

std::string power_caps_path(const std::string& state_dir) {
  return state_dir + "/power-caps.state";
}

std::string power_caps_lift_path(const std::string& state_dir) {
  return state_dir + "/power-caps.lift";
}

std::string to_text(const std::vector<PowerCap>& caps) {
  std::string text;
  for (const auto& cap : caps) {
    text += encode_word(cap.uuid) + " " + to_string(cap.address) + " " + encode_word(cap.incident);
    for (const auto number :
         {cap.before_w, cap.capped_w, static_cast<std::uint64_t>(cap.tried_s),
          static_cast<std::uint64_t>(cap.tries), static_cast<std::uint64_t>(cap.hot_s),
          static_cast<std::uint64_t>(cap.restoring), static_cast<std::uint64_t>(cap.lifted),
          static_cast<std::uint64_t>(cap.is_others)})
      text += " " + std::to_string(number);
    text += "\n";
  }
  return text;
}

std::vector<PowerCap> parse_power_caps(std::string_view text) {
  std::vector<PowerCap> caps;
  for (const auto line : split(text, '\n'))
    if (auto cap = parse_line(line)) caps.push_back(std::move(*cap));
  return caps;
}

}  // namespace acrf
