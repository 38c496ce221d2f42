// SPDX-License-Identifier: GPL-2.0-or-later
// What the watching side knows of each part, for the side that repairs: is a fault still there, and
// has anybody looked since? Shared by the two threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/gpu_rules.h"
#include "core/ladder.h"

namespace acrf {

class PartSigns {
 public:
  // A fault that takes its part out of service: `part` is a GPU's UUID, or empty for the node.
  void note_fault(const std::string& part, std::int64_t unix_s);
  // What a source saw of all GPUs at `unix_s`; only what would take a GPU out of service counts as
  // held against it. True: some GPU became too hot, or is no longer, or is
  // new.
  bool note_gpus(const std::vector<GpuLook>& looks, std::int64_t unix_s);
  // The GPUs that answer and whose power limit is known.
  std::vector<GpuHeat> heat() const;
  // The node's own checks were made, and hold nothing against it that would drain it.
  void note_node_look(std::int64_t unix_s);

  // This node's slurmd was asked and answered.
  void note_slurmd_answer(std::int64_t unix_s);
  // Of a fault of which only silence tells. Silence that lasts proves nothing.
  Sign sign_of_silence(std::int64_t since_s) const;

  // Gone only if the part was looked at after `since_s` and nothing was found since.
  Sign sign_of(const std::string& part, std::int64_t since_s) const;
  // How many GPUs have answered since.
  int answering_since(std::int64_t since_s) const;
  // UUID of the GPU that answered there last; empty: unknown.
  std::string gpu_at(const PciAddress& address) const;

  // A reset needs a GPU that nobody holds, and who looks at it holds it. Bounded, so that nobody
  // who forgets to take it back leaves the GPUs unwatched.
  using Clock = std::chrono::steady_clock;
  void rest_looks_until(Clock::time_point end);
  bool looks_rest(Clock::time_point now) const;

 private:
  struct Seen {
    std::int64_t fault_s = 0;
    std::int64_t look_s = 0;
  };
  mutable std::mutex mutex_;
  std::int64_t slurmd_answered_s_ = 0;
  Clock::time_point looks_rest_until_{};
  std::map<std::string, Seen> parts_;
  std::map<PciAddress, std::string> places_;
  std::map<std::string, GpuHeat> heat_;  // by UUID
};

}  // namespace acrf
