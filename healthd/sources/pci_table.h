// SPDX-License-Identifier: GPL-2.0-or-later
// The devices on the PCI bus. A node has hundreds, and hardly ever another one: what they are is
// read once, the bus is listed again every half minute or when a GPU has gone. The error counters
// of GPUs are read at each look, those of other devices every ten seconds, not all in the same one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/node_rules.h"
#include "sources/kept_files.h"

namespace acrf {

class PciTable {
 public:
  // `root` stands before /sys; `files` outlives this.
  PciTable(const std::string& root, KeptFiles& files)
      : directory_(root + "/sys/bus/pci/devices"), files_(files) {}

  void look(std::int64_t now_s);

  // At the last look: error counters of all devices that have some, and how many GPUs there are,
  // nothing when there is no bus.
  std::vector<PcieReading> errors() const;
  std::optional<int> gpus(bool only_nvidia) const;

 private:
  struct Device {
    bool is_nvidia = false;
    bool has_counters = false;
    std::int64_t read_s = 0;
    PcieReading reading;
  };

  void list(std::int64_t now_s);
  Device identify(const std::string& name) const;
  bool gpu_is_gone() const;
  void read_counters(Device& device) const;
  std::optional<std::uint64_t> total_of(const std::string& path) const;

  std::string directory_;
  KeptFiles& files_;
  bool has_bus_ = false;
  std::optional<std::int64_t> listed_s_;
  std::map<std::string, Device> devices_;
};

}  // namespace acrf
