// SPDX-License-Identifier: GPL-2.0-or-later
#include "fakegpu/state.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "common/file.h"
#include "core/text.h"

namespace acrf::fakegpu {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Gpu, uuid, serial, name, pci, lost, hang, vanished,
                                                reset_required, mig, temperature_c, power_mw, links,
                                                links_down, link_ends, xids, not_supported,
                                                readings)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(State, driver, gpus)

bool Gpu::supports(std::string_view function) const {
  return std::none_of(not_supported.begin(), not_supported.end(),
                      [&](const std::string& item) { return item == "*" || item == function; });
}

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

void mend(Gpu& gpu) {
  gpu.lost = gpu.hang = gpu.vanished = gpu.reset_required = false;
  gpu.links_down.clear();
  gpu.temperature_c = Gpu().temperature_c;
  for (const auto* flag : {"remap_pending", "remap_failure", "slowdown_thermal", "recovery_action"})
    gpu.readings.erase(flag);
}

void replace(Gpu& gpu) {
  Gpu other = healthy_state(gpu.uuid, 1).gpus.front();
  other.name = gpu.name;
  other.pci = gpu.pci;
  gpu = std::move(other);
}

namespace {

std::optional<State> current;
std::string loaded;  // which version of which file

}  // namespace

const State* look_at_state() {
  const char* path = std::getenv(kStateVariable);
  struct stat file {};
  if (!path || ::stat(path, &file) != 0) {
    current.reset();
    loaded.clear();
    return nullptr;
  }
  const auto version = fmt::format("{} {} {} {} {}", path, file.st_ino, file.st_size,
                                   file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
  if (version != loaded) {
    auto read = load_state(path);
    current = read ? std::optional(std::move(*read)) : std::nullopt;
    loaded = version;
  }
  return current ? &*current : nullptr;
}

const State* current_state() { return current ? &*current : look_at_state(); }

std::vector<unsigned> listed_gpus(const State& state) {
  std::vector<unsigned> listed;
  for (unsigned i = 0; i < state.gpus.size(); ++i)
    if (!state.gpus[i].vanished) listed.push_back(i);
  return listed;
}

void maybe_hang(const Gpu& gpu) {
  while (gpu.hang) ::pause();
}

}  // namespace acrf::fakegpu
