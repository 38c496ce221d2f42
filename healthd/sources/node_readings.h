// SPDX-License-Identifier: GPL-2.0-or-later
// The node's own readings, out of /sys and /proc. What is not there or not readable stays unknown.
// Reading may hang on broken hardware: only worker processes call these.
#pragma once

#include <string>
#include <vector>

#include "core/file_system_rule.h"
#include "core/node_rules.h"
#include "sources/process_table.h"

namespace acrf {

struct NodePaths {
  std::string root;       // stands before /sys, /proc and /dev; empty: the real ones
  std::string node;       // this node's name in gres.conf
  std::string gres_conf;  // its path; a file that is not there expects nothing
};

// `processes` has the root of `paths`.
NodeReadings read_node(const NodePaths& paths, ProcessTable& processes, std::int64_t now_s);

std::vector<PortReading> read_ports(const std::string& root);
std::vector<MemoryControllerReading> read_memory_controllers(const std::string& root);
std::vector<PcieReading> read_pcie(const std::string& root);
GpuCountReading read_gpu_count(const NodePaths& paths);
MemoryReading read_memory(const std::string& root);

// `mounts` is a mount table's text, and `root` where its mount points are found.
FileSystemReading read_file_system(const std::string& path, const std::string& mounts,
                                   const std::string& root = "");

}  // namespace acrf
