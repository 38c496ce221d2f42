// SPDX-License-Identifier: GPL-2.0-or-later
// Which GPUs gres.conf says that a node has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace acrf {

struct GresDevices {
  int gpus = 0;                    // as many as the lines for this node count
  std::vector<std::string> files;  // device files of those lines that name them, as Slurm counts
  bool is_known = false;           // false: no line speaks of this node's GPUs, or by AutoDetect
  bool by_bus = false;             // AutoDetect=nvml: Slurm counts the GPUs by their bus addresses
};

Result<GresDevices> gpus_of_node(std::string_view gres_conf, std::string_view origin,
                                 std::string_view node);

}  // namespace acrf
