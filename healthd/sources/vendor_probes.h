// SPDX-License-Identifier: GPL-2.0-or-later
// The vendors' sides of a probe. Each opens its library, serves requests from standard input until
// that ends, and returns the exit status. A library that is missing, or has no device, is an
// answer.
#pragma once

#include <string>

namespace acrf {

int run_nvml_probe(const std::string& library);

}  // namespace acrf
