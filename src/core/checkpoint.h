// SPDX-License-Identifier: GPL-2.0-or-later
// Which checkpoint a restarted job begins from: the newest one that is complete.
//
// A checkpoint is a directory, or a .ckpt file, in the job's checkpoint directory. What complete
// means depends on its layout. Newest goes by the step number in its name, because clocks of nodes
// differ and copies change times; names without a number follow, by time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/checkpoint_files.h"
#include "core/checkpoint_format.h"
#include "core/checkpoint_layouts.h"
#include "core/manifest.h"

namespace acrf {

// Judges the checkpoints of one directory. Looks into a checkpoint only when asked about it, and
// reads what the layouts keep beside their checkpoints at most once.
class CheckpointJudge {
 public:
  CheckpointJudge(const CheckpointFiles& files, CheckpointFormat format)
      : files_(files), format_(format) {}

  // Everything that could be a checkpoint, newest first.
  std::vector<CheckpointEntry> candidates() const;

  // The layout whose rule applies; never kAuto.
  CheckpointFormat format_of(const CheckpointEntry& entry) const;

  // Why the checkpoint can't be used, or nothing when it is complete.
  std::optional<std::string> defect_of(const CheckpointEntry& entry) const;

 private:
  const std::optional<std::string>& tracker(std::string_view name) const;
  CheckpointFormat recognise(const CheckpointEntry& entry) const;

  const CheckpointFiles& files_;
  CheckpointFormat format_;
  struct Tracker {
    std::string_view name;
    std::optional<std::string> text;
  };
  mutable std::vector<Tracker> trackers_;
};

// Newest first.
void sort_newest_first(std::vector<CheckpointEntry>& entries);

// Looks at checkpoints from the newest on and stops at the first complete one.
std::optional<std::string> newest_complete(const CheckpointFiles& files,
                                           CheckpointFormat format = CheckpointFormat::kAuto);

}  // namespace acrf
