// SPDX-License-Identifier: GPL-2.0-or-later
// The node's own readings, out of /sys and /proc. What is not there or not readable stays unknown.
// Reading may hang on broken hardware: only worker processes call these.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/file_system_rule.h"
#include "core/gres_devices.h"
#include "core/node_rules.h"
#include "sources/kept_files.h"
#include "sources/pci_table.h"
#include "sources/process_table.h"

namespace acrf {

struct NodePaths {
  std::string root;       // stands before /sys, /proc and /dev; empty: the real ones
  std::string node;       // this node's name in gres.conf
  std::string gres_conf;  // its path; a file that is not there expects nothing
};

// Everything about the node; from look to look it remembers what hardly ever changes.
class NodeReader {
 public:
  explicit NodeReader(NodePaths paths);
  NodeReader(const NodeReader&) = delete;
  NodeReader& operator=(const NodeReader&) = delete;

  NodeReadings read(std::int64_t now_s);

  // Parts of it.
  std::vector<PortReading> read_ports();
  std::vector<MemoryControllerReading> read_memory_controllers();
  std::vector<PcieReading> read_pcie(std::int64_t now_s);
  GpuCountReading read_gpu_count(std::int64_t now_s);

 private:
  PortReading read_port(const std::string& path, std::string name);
  bool is_switched_off(const std::string& port, const std::string& fabric);
  void follow_gres_conf();

  NodePaths paths_;
  KeptFiles files_;
  PciTable pci_;
  ProcessTable processes_;
  std::string gres_version_;         // of the file that gres_ was read from
  std::optional<GresDevices> gres_;  // nothing: no such file, or it is not understood
};

MemoryReading read_memory(const std::string& root);

// `mounts` is a mount table's text, and `root` where its mount points are found.
FileSystemReading read_file_system(const std::string& path, const std::string& mounts,
                                   const std::string& root = "");

}  // namespace acrf
