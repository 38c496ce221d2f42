// SPDX-License-Identifier: GPL-2.0-or-later
// The words in which slurmctld tells a node's GPUs and which of them jobs have:
// "gpu:h100:8(S:0-1)" and "gpu:h100:3(IDX:0-1,7),shard:0".
#pragma once

#include <string_view>

#include "core/gpu_group.h"

namespace acrf {

// GPUs of all types together.
int gpus_in_gres(std::string_view gres);

// The GPUs that an IDX list names; numbers that no GpuMask can hold are left out.
GpuMask gpus_used_in_gres(std::string_view gres_used);

}  // namespace acrf
