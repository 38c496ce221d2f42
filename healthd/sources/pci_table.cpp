// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/pci_table.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "core/text.h"

namespace acrf {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kListEvery_s = 30;
constexpr std::int64_t kReadEvery_s = 10;

// Display controllers and accelerators of the three vendors; not a server's own little screen.
bool is_gpu(std::string_view kind, std::string_view vendor) {
  kind = kind.substr(0, 6);
  if (vendor == "0x10de") return kind == "0x0302" || kind == "0x0300";
  return (vendor == "0x1002" || vendor == "0x8086") &&
         (kind == "0x0300" || kind == "0x0302" || kind == "0x0380" || kind == "0x1200");
}

bool is_there(const std::string& path) { return ::access(path.c_str(), R_OK) == 0; }

}  // namespace

PciTable::Device PciTable::identify(const std::string& name) const {
  const std::string path = directory_ + "/" + name;
  const auto vendor = files_.text(path + "/vendor");
  Device device;
  device.is_nvidia = vendor == "0x10de";
  device.has_counters = is_there(path + "/aer_dev_fatal");
  device.reading.device = name;
  device.reading.is_gpu = is_gpu(files_.text(path + "/class"), vendor);
  return device;
}

void PciTable::list(std::int64_t now_s) {
  std::map<std::string, Device> devices;
  std::error_code error;
  fs::directory_iterator entry(directory_, error);
  has_bus_ = !error;
  for (const fs::directory_iterator end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename();
    auto known = devices_.extract(name);
    // What is new is read at once, and from then on in its own second of the ten.
    const auto spread = static_cast<std::int64_t>(devices.size()) % kReadEvery_s;
    if (known.empty()) {
      auto& device = devices.emplace(name, identify(name)).first->second;
      if (device.has_counters) read_counters(device);
      device.read_s = now_s - spread;
    } else {
      devices.insert(std::move(known));
    }
  }
  devices_ = std::move(devices);
  listed_s_ = now_s;
}

bool PciTable::gpu_is_gone() const {
  return std::any_of(devices_.begin(), devices_.end(), [&](const auto& device) {
    return device.second.reading.is_gpu && !is_there(directory_ + "/" + device.first + "/vendor");
  });
}

void PciTable::look(std::int64_t now_s) {
  if (!listed_s_ || now_s - *listed_s_ >= kListEvery_s || gpu_is_gone()) list(now_s);
  for (auto& [name, device] : devices_) {
    if (!device.has_counters) continue;
    if (!device.reading.is_gpu && now_s - device.read_s < kReadEvery_s) continue;
    device.read_s = now_s;
    read_counters(device);
  }
}

void PciTable::read_counters(Device& device) const {
  const std::string path = directory_ + "/" + device.reading.device;
  device.reading.correctable = total_of(path + "/aer_dev_correctable");
  device.reading.nonfatal = total_of(path + "/aer_dev_nonfatal");
  device.reading.fatal = total_of(path + "/aer_dev_fatal");
}

// "TOTAL_ERR_COR 12", the last line of an aer_dev_ file.
std::optional<std::uint64_t> PciTable::total_of(const std::string& path) const {
  const auto text = files_.text(path);
  const auto at = text.rfind("TOTAL_ERR_");
  const auto blank = at == std::string::npos ? at : text.find(' ', at);
  if (blank == std::string::npos) return std::nullopt;
  return parse_unsigned(trim(std::string_view(text).substr(blank)));
}

std::vector<PcieReading> PciTable::errors() const {
  std::vector<PcieReading> readings;
  for (const auto& [name, device] : devices_)
    if (device.has_counters) readings.push_back(device.reading);
  return readings;
}

std::optional<int> PciTable::gpus(bool only_nvidia) const {
  if (!has_bus_) return std::nullopt;
  return static_cast<int>(std::count_if(devices_.begin(), devices_.end(), [&](const auto& device) {
    return device.second.reading.is_gpu && (!only_nvidia || device.second.is_nvidia);
  }));
}

}  // namespace acrf
