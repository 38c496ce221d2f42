// SPDX-License-Identifier: GPL-2.0-or-later
// Where a job begins: the checkpoint, the record of the choice, and the fence against the writers
// that the job left behind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/checkpoint_format.h"

namespace acrf {

// Full path of the checkpoint below `directory` from which the job begins in its restart of this
// number. From restart 1 on it raises the fence first and then notes the choice in the directory,
// for the no-progress rule; when it can't do either within a second, the job resumes all the same.
std::optional<std::string> resume_checkpoint(const std::string& directory, CheckpointFormat format,
                                             std::uint64_t job_id, unsigned restart);

}  // namespace acrf
