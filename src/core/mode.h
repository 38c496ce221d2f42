// SPDX-License-Identifier: GPL-2.0-or-later
// Whether ACRF acts or only says what it would do.
#pragma once

#include <optional>
#include <string_view>

namespace acrf {

enum class Mode { kObserve, kEnforce };

std::string_view mode_name(Mode mode);
std::optional<Mode> parse_mode(std::string_view name);  // in any case

}  // namespace acrf
