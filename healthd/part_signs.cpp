// SPDX-License-Identifier: GPL-2.0-or-later
#include "part_signs.h"

#include <algorithm>

namespace acrf {
namespace {

// A GPU that was not seen for so long, while others were, is not there.
constexpr std::int64_t kGone_s = 60;

}  // namespace

void PartSigns::note_fault(const std::string& part, std::int64_t unix_s) {
  const std::lock_guard lock(mutex_);
  auto& fault_s = parts_[part].fault_s;
  fault_s = std::max(fault_s, unix_s);
}

bool PartSigns::note_gpus(const std::vector<GpuLook>& looks, std::int64_t unix_s) {
  const std::lock_guard lock(mutex_);
  bool heat_changed = false;
  for (const auto& look : looks) {
    if (look.uuid.empty()) continue;
    auto& seen = parts_[look.uuid];
    if (!look.held.empty()) seen.fault_s = std::max(seen.fault_s, unix_s);
    if (look.lost) continue;
    seen.look_s = unix_s;
    places_[look.address] = look.uuid;
    if (!look.power_limit_mw) continue;
    auto& heat = heat_[look.uuid];
    heat_changed |= heat.uuid.empty() || heat.hot != look.hot;
    heat = {look.uuid, look.address, look.hot, look.power_limit_mw, unix_s};
  }
  return heat_changed;
}

std::vector<GpuHeat> PartSigns::heat() const {
  const std::lock_guard lock(mutex_);
  std::vector<GpuHeat> all;
  std::int64_t newest_s = 0;
  for (const auto& [uuid, heat] : heat_) newest_s = std::max(newest_s, heat.look_s);
  for (const auto& [uuid, heat] : heat_)
    if (newest_s - heat.look_s < kGone_s) all.push_back(heat);
  return all;
}

void PartSigns::note_node_look(std::int64_t unix_s) {
  const std::lock_guard lock(mutex_);
  parts_[""].look_s = unix_s;
}

Sign PartSigns::sign_of(const std::string& part, std::int64_t since_s) const {
  const std::lock_guard lock(mutex_);
  const auto found = parts_.find(part);
  if (found == parts_.end()) return Sign::kUnknown;
  if (found->second.fault_s > since_s) return Sign::kPresent;
  return found->second.look_s > since_s ? Sign::kGone : Sign::kUnknown;
}

void PartSigns::note_slurmd_answer(std::int64_t unix_s) {
  const std::lock_guard lock(mutex_);
  slurmd_answered_s_ = unix_s;
}

Sign PartSigns::sign_of_silence(std::int64_t since_s) const {
  const std::lock_guard lock(mutex_);
  return slurmd_answered_s_ > since_s ? Sign::kGone : Sign::kUnknown;
}

int PartSigns::answering_since(std::int64_t since_s) const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(std::count_if(parts_.begin(), parts_.end(), [&](const auto& part) {
    return !part.first.empty() && part.second.look_s > since_s;
  }));
}

std::string PartSigns::gpu_at(const PciAddress& address) const {
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(address);
  return found == places_.end() ? "" : found->second;
}

void PartSigns::rest_looks_until(Clock::time_point end) {
  const std::lock_guard lock(mutex_);
  looks_rest_until_ = end;
}

bool PartSigns::looks_rest(Clock::time_point now) const {
  const std::lock_guard lock(mutex_);
  return now < looks_rest_until_;
}

}  // namespace acrf
