// SPDX-License-Identifier: GPL-2.0-or-later
// The state file behind the stand-in vendor libraries: one per node, written whole by
// `acrf inject` and by the test cluster, read anew by a library whenever it has changed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
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
  bool hang = false;            // every call about this GPU blocks for ever
  bool vanished = false;        // the libraries do not list it
  bool reset_required = false;  // sensors answer nothing else
  bool mig = false;
  unsigned temperature_c = 34;
  unsigned power_mw = 71000;
  unsigned links = 18;
  std::vector<unsigned> links_down;
  std::vector<std::string> link_ends;  // PCI address at the other end of each link, as far as given
  std::vector<unsigned> xids;          // since the node was made; a library tells new ones
  std::vector<std::string> not_supported;  // functions, by name; "*" is all about readings
  // What differs from a healthy GPU, by the names of core/gpu_sample.h; AMD and Intel blocks as
  // "umc_uncorrected".
  std::map<std::string, std::uint64_t, std::less<>> readings;

  std::uint64_t reading(std::string_view key, std::uint64_t healthy = 0) const {
    const auto found = readings.find(key);
    return found == readings.end() ? healthy : found->second;
  }
  bool supports(std::string_view function) const;
};

struct State {
  std::string driver = "550.90.07";
  std::vector<Gpu> gpus;
};

// A healthy node: identities depend on the node's name alone.
State healthy_state(const std::string& node, int gpus);

Result<State> load_state(const std::string& path);
Status save_state(const std::string& path, const State& state);

// Works again. Counts are lifetimes': a mended GPU keeps them.
void mend(Gpu& gpu);
// Another GPU of the same kind in its place, with an identity and counts of its own.
void replace(Gpu& gpu);

// For the libraries: the state that kStateVariable names, or nothing when there is none. The first
// looks for a new version of the file, as the first call of a pass does; the other gives what that
// one found, so that the libraries cost no more than a driver's. The pointer is good until the next
// look.
const State* look_at_state();
const State* current_state();

// The GPUs that are listed, as indices into State::gpus.
std::vector<unsigned> listed_gpus(const State& state);

// Blocks for ever when the GPU's state says so.
void maybe_hang(const Gpu& gpu);

}  // namespace acrf::fakegpu
