// SPDX-License-Identifier: GPL-2.0-or-later
// What is known of a node's health, as one word in the node's comment:
// "acrf:gpus=3+5,suspect,risk=20". Slurm keeps it, shows it and hands it to the backup controller.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/gpu_group.h"

namespace acrf {

struct NodeHealth {
  GpuMask quarantined = 0;  // GPUs that must not be given to jobs
  bool suspect = false;     // the whole node is doubtful
  int risk = 0;             // 0 to 100: how likely it is to fail soon
  bool operator==(const NodeHealth&) const = default;
};

// The first token in the text; nothing when there is none or when it is malformed.
std::optional<NodeHealth> find_node_health(std::string_view comment);

// The comment with the token set, replaced or (for a healthy node) taken out. Other words stay.
std::string with_node_health(std::string_view comment, const NodeHealth& health);

}  // namespace acrf
