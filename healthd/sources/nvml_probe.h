// SPDX-License-Identifier: GPL-2.0-or-later
// The NVML side of a probe: runs in the probe's own process, one answer line per request line.
#pragma once

#include <string>

namespace acrf {

// Serves requests from standard input until it ends. Returns the exit status.
int run_nvml_probe(const std::string& library);

}  // namespace acrf
