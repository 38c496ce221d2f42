// SPDX-License-Identifier: GPL-2.0-or-later
// The NVSwitch driver's "nvidia-nvswitch0: SXid (PCI:0000:06:00.0): 20034, Fatal, Link 48 ..."
// lines.
#pragma once

#include <optional>
#include <string_view>

#include "core/xid.h"

namespace acrf {

enum class SxidWord { kNone, kFatal, kNonFatal };

struct Sxid {
  int code = 0;
  PciAddress device;                // the switch
  SxidWord word = SxidWord::kNone;  // how bad the driver calls it
  bool is_detail = false;           // registers that belong to the line before
  std::string_view text;            // what follows the code and the word
};

// `body`: the message without the driver's name.
std::optional<Sxid> parse_sxid(std::string_view body);

// Codes from 28001 to 30006 were renumbered between driver branches: the code that the text means.
int sxid_by_text(const Sxid& sxid);

}  // namespace acrf
