// SPDX-License-Identifier: GPL-2.0-or-later
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "common/file.h"
#include "core/gres_devices.h"
#include "core/text.h"
#include "sources/node_readings.h"

namespace acrf {
namespace {

namespace fs = std::filesystem;

// Names in a directory, sorted; none when it is not there.
std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error))
    names.push_back(entry->path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

std::string text_of(const std::string& path) {
  const auto text = read_file(path);
  return text ? std::string(trim(*text)) : "";
}

std::optional<std::uint64_t> number_of(const std::string& path) {
  return parse_unsigned(text_of(path));
}

// "TOTAL_ERR_COR 12", the last line of an aer_dev_ file.
std::optional<std::uint64_t> total_of(const std::string& path) {
  const auto text = text_of(path);
  for (const auto line : split(text, '\n')) {
    auto rest = line;
    if (!take_prefix(rest, "TOTAL_ERR_")) continue;
    const auto blank = rest.find(' ');
    if (blank != std::string_view::npos) return parse_unsigned(trim(rest.substr(blank)));
  }
  return std::nullopt;
}

std::string devices_path(const std::string& root) { return root + "/sys/bus/pci/devices"; }

// Display controllers and accelerators of the three vendors; not a server's own little screen.
bool is_gpu(const std::string& device) {
  const auto kind = text_of(device + "/class").substr(0, 6);
  const auto vendor = text_of(device + "/vendor");
  if (vendor == "0x10de") return kind == "0x0302" || kind == "0x0300";
  return (vendor == "0x1002" || vendor == "0x8086") &&
         (kind == "0x0300" || kind == "0x0302" || kind == "0x0380" || kind == "0x1200");
}

// "400 Gb/sec (4X NDR)", "2.5 Gb/sec (1X SDR)"
Reading rate_mbps(std::string_view text) {
  const auto whole = take_unsigned(text);
  if (!whole || *whole > 1'000'000) return std::nullopt;
  std::uint64_t tenth = 0;
  if (take_prefix(text, ".")) tenth = take_unsigned(text).value_or(0);
  if (tenth > 9 || !starts_with(text, " Gb/sec")) return std::nullopt;
  return *whole * 1000 + tenth * 100;
}

// The InfiniBand link's own counters stand still on Ethernet, and RoCE's on InfiniBand: there they
// would only look healthy. Where the kernel does not say which it is, what is there counts.
PortReading read_port(const std::string& path, std::string name) {
  PortReading reading;
  reading.name = std::move(name);
  const auto state = text_of(path + "/state");  // "4: ACTIVE"
  if (!state.empty()) reading.active = starts_with(state, "4:");
  reading.rate_mbps = rate_mbps(text_of(path + "/rate"));
  reading.link_downs = number_of(path + "/counters/link_downed");
  reading.receive_errors = number_of(path + "/counters/port_rcv_errors");
  reading.ack_timeouts = number_of(path + "/hw_counters/local_ack_timeout_err");
  const auto fabric = text_of(path + "/link_layer");
  if (fabric != "Ethernet") {
    reading.symbol_errors = number_of(path + "/counters/symbol_error");
    reading.link_recoveries = number_of(path + "/counters/link_error_recovery");
    reading.integrity_errors = number_of(path + "/counters/local_link_integrity_errors");
  }
  if (fabric != "InfiniBand") {
    reading.icrc_errors = number_of(path + "/hw_counters/rx_icrc_encapsulated");
    reading.retransmits = number_of(path + "/hw_counters/roce_adp_retrans");
    reading.slow_restarts = number_of(path + "/hw_counters/roce_slow_restart");
  }
  return reading;
}

}  // namespace

std::vector<PortReading> read_ports(const std::string& root) {
  std::vector<PortReading> ports;
  const std::string all = root + "/sys/class/infiniband";
  for (const auto& device : names_in(all)) {
    for (const auto& port : names_in(all + "/" + device + "/ports")) {
      const std::string path = all + "/" + device + "/ports/" + port;
      ports.push_back(read_port(path, device + "/" + port));
    }
  }
  return ports;
}

std::vector<MemoryControllerReading> read_memory_controllers(const std::string& root) {
  std::vector<MemoryControllerReading> controllers;
  const std::string all = root + "/sys/devices/system/edac/mc";
  for (const auto& name : names_in(all)) {
    if (!starts_with(name, "mc")) continue;
    controllers.push_back({name, number_of(all + "/" + name + "/ce_count"),
                           number_of(all + "/" + name + "/ue_count")});
  }
  return controllers;
}

std::vector<PcieReading> read_pcie(const std::string& root) {
  std::vector<PcieReading> devices;
  for (const auto& name : names_in(devices_path(root))) {
    const std::string path = devices_path(root) + "/" + name;
    if (::access((path + "/aer_dev_fatal").c_str(), R_OK) != 0) continue;
    devices.push_back({name, is_gpu(path), total_of(path + "/aer_dev_correctable"),
                       total_of(path + "/aer_dev_nonfatal"), total_of(path + "/aer_dev_fatal")});
  }
  return devices;
}

GpuCountReading read_gpu_count(const NodePaths& paths) {
  GpuCountReading reading;
  const auto text = read_file(paths.gres_conf);
  if (!text) return reading;
  const auto devices = gpus_of_node(*text, paths.gres_conf, paths.node);
  if (!devices || !devices->is_known) return reading;
  reading.expected = devices->gpus;
  for (const auto& file : devices->files)
    if (::access((paths.root + file).c_str(), F_OK) != 0) reading.missing_files.push_back(file);
  const bool nvidia =
      std::all_of(devices->files.begin(), devices->files.end(),
                  [](const std::string& file) { return file.find("nvidia") != std::string::npos; });
  std::error_code error;
  if (!fs::exists(devices_path(paths.root), error)) return reading;
  int on_bus = 0;
  for (const auto& name : names_in(devices_path(paths.root))) {
    const std::string path = devices_path(paths.root) + "/" + name;
    const bool counts = !nvidia || devices->files.empty() || text_of(path + "/vendor") == "0x10de";
    if (counts && is_gpu(path)) ++on_bus;
  }
  reading.on_bus = on_bus;
  return reading;
}

}  // namespace acrf
