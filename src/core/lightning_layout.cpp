// SPDX-License-Identifier: GPL-2.0-or-later
// Lightning: one archive of torch.save, or with a sharding strategy a directory of that name.
#include "core/checkpoint_layouts.h"
#include "core/tensor_file.h"

namespace acrf {

std::optional<std::string> lightning_defect(const CheckpointFiles& files,
                                            const CheckpointEntry& entry) {
  const std::string& path = entry.name;
  if (!path.ends_with(".ckpt")) return "not named *.ckpt";
  if (!entry.is_directory) {
    const auto defect = zip_defect(files, path);
    return defect ? std::optional("the file" + defect->substr(path.size())) : std::nullopt;
  }
  if (files.size_of(path + "/" + std::string(kDeepSpeedTracker)))
    return nested_deepspeed_defect(files, path);
  if (auto defect = torch_dcp_defect(files, path)) return defect;
  // Written after the shards; nothing can be loaded without it.
  const auto defect = torch_save_defect(files, path + "/meta.pt");
  return defect ? std::optional(defect->substr(path.size() + 1)) : std::nullopt;
}

}  // namespace acrf
