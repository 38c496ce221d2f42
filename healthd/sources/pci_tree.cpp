// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/pci_tree.h"

#include <filesystem>
#include <set>

#include "common/file.h"
#include "core/text.h"

namespace acrf {
namespace {

namespace fs = std::filesystem;

constexpr int kMostFunctions = 8;
constexpr int kDeepest = 16;  // bridges below each other: more than any machine has
constexpr std::string_view kBridge = "0x06";

// A device's directory holds one for each device below it: "0000:3b:00.0".
void collect(const std::string& directory, int depth, std::set<PciAddress>& found) {
  std::error_code error;
  fs::directory_iterator entry(directory, error);
  for (const fs::directory_iterator end; !error && entry != end && found.size() < 2;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    std::string_view rest = name;
    const auto address = take_pci_address(rest);
    if (!address || name.size() != to_string(*address).size() + 2) continue;
    const auto kind = read_file(entry->path().string() + "/class");
    if (depth < kDeepest && kind && starts_with(*kind, kBridge))
      collect(entry->path(), depth + 1, found);
    else
      found.insert(*address);
  }
}

}  // namespace

std::optional<PciAddress> only_device_below(const std::string& root, const PciAddress& port) {
  std::set<PciAddress> found;
  const std::string device = root + "/sys/bus/pci/devices/" + to_string(port) + ".";
  for (int function = 0; function < kMostFunctions; ++function)
    collect(device + std::to_string(function), 0, found);
  return found.size() == 1 ? std::optional(*found.begin()) : std::nullopt;
}

}  // namespace acrf
