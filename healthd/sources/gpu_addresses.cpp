// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/gpu_addresses.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "common/file.h"
#include "core/gres_devices.h"
#include "core/text.h"

namespace acrf {
namespace {

namespace fs = std::filesystem;

std::optional<PciAddress> address_in(std::string_view name) {
  const auto address = take_pci_address(name);
  return name.empty() ? address : std::nullopt;
}

// "Device Minor: 	 0"
std::optional<std::uint64_t> minor_in(std::string_view information) {
  for (auto line : split(information, '\n'))
    if (take_prefix(line, "Device Minor:")) return parse_unsigned(trim(line));
  return std::nullopt;
}

// The N of /dev/nvidiaN.
std::map<std::uint64_t, PciAddress> nvidia_minors(const std::string& root) {
  std::map<std::uint64_t, PciAddress> minors;
  std::error_code error;
  for (fs::directory_iterator entry(root + "/proc/driver/nvidia/gpus", error), end;
       !error && entry != end; entry.increment(error)) {
    const auto address = address_in(entry->path().filename().string());
    const auto information = read_file(entry->path() / "information");
    const auto minor = information ? minor_in(*information) : std::nullopt;
    if (address && minor) minors.emplace(*minor, *address);
  }
  return minors;
}

std::optional<PciAddress> address_of(const std::string& file, const std::string& root,
                                     const std::map<std::uint64_t, PciAddress>& minors) {
  const std::string name = fs::path(file).filename();
  constexpr std::string_view kNvidia = "nvidia";
  if (const auto at = name.rfind(kNvidia); at != std::string::npos) {
    const auto minor = parse_unsigned(std::string_view(name).substr(at + kNvidia.size()));
    const auto found = minor ? minors.find(*minor) : minors.end();
    return found == minors.end() ? std::nullopt : std::optional(found->second);
  }
  std::error_code error;
  const auto device = fs::read_symlink(root + "/sys/class/drm/" + name + "/device", error);
  return error ? std::nullopt : address_in(device.filename().string());
}

}  // namespace

std::vector<std::optional<PciAddress>> gpu_addresses(const NodePaths& paths, int expected) {
  const auto text = read_file(paths.gres_conf);
  const auto devices =
      text ? gpus_of_node(*text, paths.gres_conf, paths.node) : Result<GresDevices>(text.error());
  if (!devices) return {};
  const auto minors = nvidia_minors(paths.root);
  std::vector<std::optional<PciAddress>> addresses;
  if (devices->by_bus) {
    for (const auto& [minor, address] : minors) addresses.emplace_back(address);
    std::sort(addresses.begin(), addresses.end());
  } else {
    for (const auto& file : devices->files)
      addresses.push_back(address_of(file, paths.root, minors));
  }
  if (addresses.size() != static_cast<std::size_t>(expected)) return {};
  return addresses;
}

}  // namespace acrf
