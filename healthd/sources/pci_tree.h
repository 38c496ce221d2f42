// SPDX-License-Identifier: GPL-2.0-or-later
// What is below a port of the PCI bus, as the kernel's tree of devices says. No device is touched.
#pragma once

#include <optional>
#include <string>

#include "core/xid.h"

namespace acrf {

// The device below the port, however many bridges are between; nothing when there is none, or more
// than one, or the port is not known. An address leaves out the function: what is below any of them
// counts. `root` stands before /sys.
std::optional<PciAddress> only_device_below(const std::string& root, const PciAddress& port);

}  // namespace acrf
