// SPDX-License-Identifier: GPL-2.0-or-later
// What people and machine rooms do to a broken node of a private cluster.
#pragma once

#include <string>

#include "core/result.h"
#include "minicluster/cluster.h"

namespace acrf::minicluster {

// All GPUs of the node work again; the one of this UUID, if any, by another one in its place.
Status mend_gpus(Cluster& cluster, const std::string& node, const std::string& replaced_uuid = "");

// What a reboot is to acrf-healthd: it ends, and begins with another boot id on mended GPUs.
Status reboot(Cluster& cluster, const std::string& node);

}  // namespace acrf::minicluster
