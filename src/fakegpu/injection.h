// SPDX-License-Identifier: GPL-2.0-or-later
// A fault on a test cluster, as the hardware would show it: in the stand-in libraries' state and in
// the kernel log.
#pragma once

#include <string>
#include <vector>

#include "core/config.h"

namespace acrf::fakegpu {

// One of the faults, or the repair of all.
struct Injection {
  std::string node;
  unsigned gpu = 0;
  int xid = 0;        // reported in the kernel log; 79 loses the GPU
  std::string fault;  // one of fault_names()
  bool hang = false;
  bool repair = false;
};

std::vector<std::string> fault_names();

// The same in one word: "xid:79", "hang", "repair" or one of fault_names().
Result<Injection> parse_injection(const std::string& node, unsigned gpu, const std::string& word);

// Refuses a cluster whose acrf.conf names no FakeGpuState.
Status inject(const Config& config, const Injection& injection);

}  // namespace acrf::fakegpu
