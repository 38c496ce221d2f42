// SPDX-License-Identifier: GPL-2.0-or-later
// What the registers in an NVLink error line say. They, and not the word Fatal beside them, decide.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/catalog.h"

namespace acrf {

struct LinkVerdict {
  Action action = Action::kWatch;
  Severity severity = Severity::kWarning;
  std::string suspect;  // as in Nvlink5Row
};

// Xid 74; nothing when the line has no registers or bits that no table knows.
std::optional<LinkVerdict> decode_nvlink(const Catalog& catalog, std::string_view detail);

// Xids 144-150. Both layouts of the registers are tried.
std::optional<LinkVerdict> decode_nvlink5(const Catalog& catalog, int xid, std::string_view detail);

}  // namespace acrf
