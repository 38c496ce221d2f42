// SPDX-License-Identifier: GPL-2.0-or-later
// The worker's half of a Probe: the process in which a vendor library runs. One answer line per
// request line; beside it, before each GPU, its address, so that a hang has a place, and an empty
// line while the address is not known yet.
#pragma once

#include <functional>
#include <string>

#include "sources/sample_json.h"

namespace acrf {

// Tells the daemon which GPU the next calls are about.
void report_place(const PciAddress& gpu);
void report_unknown_place();

// Answers requests from standard input until it ends, and ends with the daemon. Returns the exit
// status.
int serve_samples(const std::function<Result<ProbeAnswer>()>& sample);

// "nvml", "dcgm", "rocm-smi" or "level-zero", the library's file name, and where sysfs is.
int run_probe(const std::string& kind, const std::string& library, const std::string& sysfs);

}  // namespace acrf
