// SPDX-License-Identifier: GPL-2.0-or-later
// Publishing under the fence: a checkpoint becomes one that a restart may begin from, unless the
// job has been restarted since its writer began.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "common/checkpoint_seal.h"
#include "core/fence.h"

namespace acrf {

struct Publication {
  std::string checkpoint;      // the directory just written
  std::string directory;       // the job's checkpoint directory; empty: the one it is in
  std::string name;            // what it shall be called there; empty: as it is
  std::optional<Fence> fence;  // of the writer; none: sealed unconditionally
  Checksums checksums = Checksums::kAll;
};

// Path of what is now published. kDenied when a later restart of the job holds the fence; then
// nothing has changed. A checkpoint of the same name is replaced.
Result<std::string> publish_checkpoint(const Publication& publication);

// Fences off the writers of the job's earlier restarts.
Status raise_fence(const std::string& directory, const Fence& fence,
                   std::chrono::milliseconds patience);

// Who holds the fence of the directory, one for each job.
std::vector<Fence> read_fences(const std::string& directory);

}  // namespace acrf
