// SPDX-License-Identifier: GPL-2.0-or-later
#include "minicluster/node_repair.h"

#include <filesystem>

#include "common/file.h"
#include "core/text.h"
#include "fakegpu/state.h"

namespace acrf::minicluster {

Status mend_gpus(Cluster& cluster, const std::string& node, const std::string& replaced_uuid) {
  const auto path = cluster.path("nodes/" + node + "/gpus.json");
  auto state = fakegpu::load_state(path);
  if (!state) return state.error();
  for (auto& gpu : state->gpus) {
    fakegpu::mend(gpu);
    if (!replaced_uuid.empty() && gpu.uuid == replaced_uuid) fakegpu::replace(gpu);
  }
  return fakegpu::save_state(path, *state);
}

Status reboot(Cluster& cluster, const std::string& node) {
  if (const auto killed = cluster.kill("healthd-" + node); !killed) return killed;
  const auto directory = cluster.path("nodes/" + node + "/root/proc/sys/kernel/random");
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  const auto path = directory + "/boot_id";
  const auto before = read_file(path);
  const auto boot = fingerprint((before ? *before : "") + node);
  if (const auto written = write_file(path, boot + "\n", 0644); !written) return written;
  if (const auto mended = mend_gpus(cluster, node); !mended) return mended;
  return cluster.start_healthd(node);
}

}  // namespace acrf::minicluster
