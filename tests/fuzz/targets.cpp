// SPDX-License-Identifier: GPL-2.0-or-later
#include "fuzz/targets.h"

namespace acrf::fuzz {

std::span<const Target> targets() {
  static constexpr Target kTargets[] = {
      {"kernel_log", feed_kernel_log}, {"catalog", feed_catalog},
      {"nvlink", feed_nvlink},         {"config", feed_config},
      {"tokens", feed_tokens},         {"cluster_files", feed_cluster_files},
      {"samples", feed_samples},       {"records", feed_records},
      {"checkpoint", feed_checkpoint},
  };
  return kTargets;
}

}  // namespace acrf::fuzz
