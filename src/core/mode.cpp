// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/mode.h"

#include "core/text.h"

namespace acrf {

std::string_view mode_name(Mode mode) { return mode == Mode::kEnforce ? "enforce" : "observe"; }

std::optional<Mode> parse_mode(std::string_view name) {
  for (const auto mode : {Mode::kObserve, Mode::kEnforce})
    if (equals_ignoring_case(name, mode_name(mode))) return mode;
  return std::nullopt;
}

}  // namespace acrf
