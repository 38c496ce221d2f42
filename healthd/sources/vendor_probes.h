// SPDX-License-Identifier: GPL-2.0-or-later
// The vendors' sides of a probe. Each opens its library, serves requests from standard input until
// that ends, and returns the exit status. A library that is missing, or has no device, is an
// answer.
#pragma once

#include <string>

namespace acrf {

int run_nvml_probe(const std::string& library);
int run_dcgm_probe(const std::string& library);
int run_level_zero_probe(const std::string& library);

// `sysfs` is where the kernel says which cards sleep.
int run_rocm_smi_probe(const std::string& library, const std::string& sysfs);

}  // namespace acrf
