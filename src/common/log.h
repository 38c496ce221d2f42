// SPDX-License-Identifier: GPL-2.0-or-later
// The daemons' log: standard error, which systemd hands to the journal. One line says what
// happened, to what, and what was done.
#pragma once

#include <string>

#include "core/result.h"

namespace acrf {

// Level: trace, debug, info, warning, error.
Status init_log(const std::string& level);

}  // namespace acrf
