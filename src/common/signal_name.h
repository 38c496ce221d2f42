// SPDX-License-Identifier: GPL-2.0-or-later
// The signals that core/last_checkpoint.h names, as this system numbers them.
#pragma once

#include <string_view>

namespace acrf {

// 0: not one of them.
int signal_number(std::string_view name);

}  // namespace acrf
