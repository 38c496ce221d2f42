// SPDX-License-Identifier: GPL-2.0-or-later
#include <sys/stat.h>
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

// "400 Gb/sec (4X NDR)", "2.5 Gb/sec (1X SDR)"
Reading rate_mbps(std::string_view text) {
  const auto whole = take_unsigned(text);
  if (!whole || *whole > 1'000'000) return std::nullopt;
  std::uint64_t tenth = 0;
  if (take_prefix(text, ".")) tenth = take_unsigned(text).value_or(0);
  if (tenth > 9 || !starts_with(text, " Gb/sec")) return std::nullopt;
  return *whole * 1000 + tenth * 100;
}

}  // namespace

// Somebody has switched the port off: that it is down then says nothing about it. An Ethernet port
// calls itself disabled whenever it has no link; there its network interface tells.
bool NodeReader::is_switched_off(const std::string& port, const std::string& fabric) {
  if (fabric != "Ethernet") return starts_with(files_.text(port + "/phys_state"), "3:");
  const std::string interfaces = port + "/../../device/net";
  const auto names = names_in(interfaces);
  if (names.size() != 1) return false;
  const auto text = files_.text(interfaces + "/" + names[0] + "/flags");  // "0x1003"
  std::string_view flags = text;
  constexpr std::uint64_t kUp = 1;
  const auto bits = take_prefix(flags, "0x") ? parse_unsigned(flags, 16) : std::nullopt;
  return bits && (*bits & kUp) == 0;
}

// The InfiniBand link's own counters stand still on Ethernet, and RoCE's on InfiniBand: there they
// would only look healthy. Where the kernel does not say which it is, what is there counts.
PortReading NodeReader::read_port(const std::string& path, std::string name) {
  PortReading reading;
  reading.name = std::move(name);
  const auto fabric = files_.text(path + "/link_layer");
  const auto state = files_.text(path + "/state");  // "4: ACTIVE"
  if (starts_with(state, "4:") || (!state.empty() && !is_switched_off(path, fabric)))
    reading.active = starts_with(state, "4:");
  reading.rate_mbps = rate_mbps(files_.text(path + "/rate"));
  reading.link_downs = files_.number(path + "/counters/link_downed");
  reading.receive_errors = files_.number(path + "/counters/port_rcv_errors");
  reading.ack_timeouts = files_.number(path + "/hw_counters/local_ack_timeout_err");
  if (fabric != "Ethernet") {
    reading.symbol_errors = files_.number(path + "/counters/symbol_error");
    reading.link_recoveries = files_.number(path + "/counters/link_error_recovery");
    reading.integrity_errors = files_.number(path + "/counters/local_link_integrity_errors");
  }
  if (fabric != "InfiniBand") {
    reading.icrc_errors = files_.number(path + "/hw_counters/rx_icrc_encapsulated");
    reading.retransmits = files_.number(path + "/hw_counters/roce_adp_retrans");
    reading.slow_restarts = files_.number(path + "/hw_counters/roce_slow_restart");
  }
  return reading;
}

std::vector<PortReading> NodeReader::read_ports() {
  std::vector<PortReading> ports;
  const std::string all = paths_.root + "/sys/class/infiniband";
  for (const auto& device : names_in(all)) {
    for (const auto& port : names_in(all + "/" + device + "/ports")) {
      const std::string path = all + "/" + device + "/ports/" + port;
      ports.push_back(read_port(path, device + "/" + port));
    }
  }
  return ports;
}

std::vector<MemoryControllerReading> NodeReader::read_memory_controllers() {
  std::vector<MemoryControllerReading> controllers;
  const std::string all = paths_.root + "/sys/devices/system/edac/mc";
  for (const auto& name : names_in(all)) {
    if (!starts_with(name, "mc")) continue;
    controllers.push_back({name, files_.number(all + "/" + name + "/ce_count"),
                           files_.number(all + "/" + name + "/ue_count")});
  }
  return controllers;
}

std::vector<PcieReading> NodeReader::read_pcie(std::int64_t now_s) {
  pci_.look(now_s);
  return pci_.errors();
}

void NodeReader::follow_gres_conf() {
  struct stat status {};
  std::string version;
  if (::stat(paths_.gres_conf.c_str(), &status) == 0)
    version = std::to_string(status.st_ino) + " " + std::to_string(status.st_size) + " " +
              std::to_string(status.st_mtim.tv_sec) + " " + std::to_string(status.st_mtim.tv_nsec);
  if (version == gres_version_) return;
  gres_version_ = version;
  gres_.reset();
  const auto text = read_file(paths_.gres_conf);
  if (!text) return;
  if (auto devices = gpus_of_node(*text, paths_.gres_conf, paths_.node))
    gres_ = std::move(*devices);
}

GpuCountReading NodeReader::read_gpu_count(std::int64_t now_s) {
  GpuCountReading reading;
  follow_gres_conf();
  if (!gres_ || !gres_->is_known) return reading;
  reading.expected = gres_->gpus;
  for (const auto& file : gres_->files)
    if (::access((paths_.root + file).c_str(), F_OK) != 0) reading.missing_files.push_back(file);
  const bool only_nvidia =
      !gres_->files.empty() &&
      std::all_of(gres_->files.begin(), gres_->files.end(),
                  [](const std::string& file) { return file.find("nvidia") != std::string::npos; });
  pci_.look(now_s);
  reading.on_bus = pci_.gpus(only_nvidia);
  return reading;
}

}  // namespace acrf
