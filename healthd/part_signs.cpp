// SPDX-License-Identifier: GPL-2.0-or-later
#include "part_signs.h"

#include <algorithm>

namespace acrf {

void PartSigns::note_fault(const std::string& part, std::int64_t unix_s) {
  const std::lock_guard lock(mutex_);
  auto& fault_s = parts_[part].fault_s;
  fault_s = std::max(fault_s, unix_s);
}

void PartSigns::note_gpus(const std::vector<GpuLook>& looks, std::int64_t unix_s) {
  const std::lock_guard lock(mutex_);
  for (const auto& look : looks) {
    if (look.uuid.empty()) continue;
    auto& seen = parts_[look.uuid];
    if (!look.held.empty()) seen.fault_s = std::max(seen.fault_s, unix_s);
    if (look.lost) continue;
    seen.look_s = unix_s;
    places_[look.address] = look.uuid;
  }
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

}  // namespace acrf
