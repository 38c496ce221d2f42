// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/gpu_inventory.h"

#include <nlohmann/json.hpp>

namespace acrf {
namespace {

constexpr int kReadingsToBelieve = 2;

}  // namespace

Result<std::vector<GpuSample>> parse_samples(const std::string& answer) {
  const auto record = nlohmann::json::parse(answer, nullptr, false);
  if (!record.is_object())
    return Error{ErrorCode::kInvalid, "the probe's answer is not JSON: " + answer.substr(0, 200)};
  if (!record.value("ok", false))
    return Error{ErrorCode::kUnavailable, record.value("error", std::string("unknown error"))};
  std::vector<GpuSample> samples;
  for (const auto& gpu : record.value("gpus", nlohmann::json::array())) {
    const std::string pci = gpu.value("pci", "");
    std::string_view rest = pci;
    const auto address = take_pci_address(rest);
    if (address)
      samples.push_back({*address, gpu.value("uuid", std::string()), gpu.value("lost", false)});
  }
  return samples;
}

std::vector<GpuSample> GpuInventory::update(const std::vector<GpuSample>& samples) {
  std::vector<GpuSample> newly_lost;
  for (const auto& sample : samples) {
    Known& gpu = gpus_[sample.address];
    if (gpu.uuid != sample.uuid) gpu = {sample.uuid, 0};  // swapped: no verdict carries over
    gpu.lost_in_a_row = sample.lost ? gpu.lost_in_a_row + 1 : 0;
    if (gpu.lost_in_a_row == kReadingsToBelieve) newly_lost.push_back(sample);
  }
  return newly_lost;
}

std::string GpuInventory::uuid_at(const PciAddress& address) const {
  const auto found = gpus_.find(address);
  return found == gpus_.end() ? "" : found->second.uuid;
}

}  // namespace acrf
