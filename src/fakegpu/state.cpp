// SPDX-License-Identifier: GPL-2.0-or-later
#include "fakegpu/state.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/file.h"
#include "core/text.h"

namespace acrf::fakegpu {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Gpu, uuid, serial, name, pci, lost, hang,
                                                temperature_c, power_mw)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(State, driver, gpus)

State healthy_state(const std::string& node, int gpus) {
  State state;
  for (int i = 0; i < gpus; ++i) {
    const std::string a = fingerprint(fmt::format("{}/{}", node, i));
    const std::string b = fingerprint(a);
    Gpu gpu;
    gpu.uuid = fmt::format("GPU-{}-{}-{}-{}-{}", a.substr(0, 8), a.substr(8, 4), a.substr(12, 4),
                           b.substr(0, 4), b.substr(4, 12));
    gpu.serial = fmt::format("16{:011}", std::stoull(a.substr(0, 8), nullptr, 16));
    gpu.pci = fmt::format("00000000:{:02X}:00.0", 0x10 + i * 0x10);
    state.gpus.push_back(gpu);
  }
  return state;
}

Result<State> load_state(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return text.error();
  try {
    return nlohmann::json::parse(*text).get<State>();
  } catch (const std::exception& problem) {
    return Error{ErrorCode::kInvalid, path + ": " + problem.what()};
  }
}

Status save_state(const std::string& path, const State& state) {
  return write_file(path, nlohmann::json(state).dump(2) + "\n", 0644);
}

}  // namespace acrf::fakegpu
