// SPDX-License-Identifier: GPL-2.0-or-later
// The state file behind the stand-in vendor libraries: one per node, written whole by
// `acrf inject` and by the test cluster, read anew by the library at every call.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"

namespace acrf::fakegpu {

// Names the state file to the stand-in libraries.
inline constexpr char kStateVariable[] = "ACRF_FAKEGPU_STATE";

struct Gpu {
  std::string uuid;
  std::string serial;
  std::string name = "NVIDIA H100 80GB HBM3";
  std::string pci;  // "00000000:1A:00.0"
  bool lost = false;
  bool hang = false;  // every call about this GPU blocks for ever
  unsigned temperature_c = 34;
  unsigned power_mw = 71000;
};

struct State {
  std::string driver = "550.90.07";
  std::vector<Gpu> gpus;
};

// A healthy node: identities depend on the node's name alone.
State healthy_state(const std::string& node, int gpus);

Result<State> load_state(const std::string& path);
Status save_state(const std::string& path, const State& state);

}  // namespace acrf::fakegpu
