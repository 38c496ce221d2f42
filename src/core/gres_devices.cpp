// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/gres_devices.h"

#include <algorithm>
#include <cstdint>

#include "core/conf_line.h"
#include "core/hostlist.h"
#include "core/text.h"

namespace acrf {
namespace {

// A line without NodeName is for all nodes.
Result<bool> speaks_of(const ConfLine& line, std::string_view origin, std::string_view node) {
  const auto* names = line.find("NodeName");
  if (!names) return true;
  const auto expanded = expand_hostlist(*names);
  if (!expanded) return conf_error(origin, line.number, expanded.error().sentence);
  return std::find(expanded->begin(), expanded->end(), node) != expanded->end();
}

// A device file and its place by the line's Links, where its own number is -1.
struct DeviceFile {
  std::string path;
  std::size_t place = SIZE_MAX;
};

std::size_t place_in_links(const ConfLine& line) {
  const auto* links = line.find("Links");
  if (!links) return SIZE_MAX;
  const auto words = split(*links, ',');
  const auto own = std::find(words.begin(), words.end(), "-1");
  return own == words.end() ? SIZE_MAX : static_cast<std::size_t>(own - words.begin());
}

Status add_line(GresDevices& devices, std::vector<DeviceFile>& files, const ConfLine& line,
                std::string_view origin) {
  if (const auto* list = line.find("File")) {
    const auto expanded = expand_hostlist(*list);
    if (!expanded) return conf_error(origin, line.number, expanded.error().sentence);
    for (const auto& path : *expanded) files.push_back({path, place_in_links(line)});
    devices.gpus += static_cast<int>(expanded->size());
    devices.is_known = true;
  } else if (const auto* count = line.find("Count")) {
    const auto number = parse_unsigned(*count);
    if (!number || *number > 1024) return Done{};  // shares and the like: not a number of devices
    devices.gpus += static_cast<int>(*number);
    devices.is_known = true;
  }
  return Done{};
}

// slurmd sorts by name, then by links, which stand for the places on the bus.
std::vector<std::string> in_order(std::vector<DeviceFile> files) {
  std::sort(files.begin(), files.end(), [](const DeviceFile& a, const DeviceFile& b) {
    return a.place != b.place ? a.place < b.place : natural_less(a.path, b.path);
  });
  std::vector<std::string> paths;
  for (auto& file : files) paths.push_back(std::move(file.path));
  return paths;
}

}  // namespace

Result<GresDevices> gpus_of_node(std::string_view gres_conf, std::string_view origin,
                                 std::string_view node) {
  const auto lines = parse_conf_lines(gres_conf, origin);
  if (!lines) return lines.error();
  GresDevices devices;
  std::vector<DeviceFile> files;
  for (const auto& line : *lines) {
    const auto* detect = line.find("AutoDetect");
    if (detect && equals_ignoring_case(*detect, "nvml")) {
      const auto ours = speaks_of(line, origin, node);
      devices.by_bus |= ours && *ours;
    }
    const auto* name = line.find("Name");
    if (!name || !equals_ignoring_case(*name, "gpu") || line.find("MultipleFiles")) continue;
    const auto ours = speaks_of(line, origin, node);
    if (!ours) return ours.error();
    if (!*ours) continue;
    if (const auto added = add_line(devices, files, line, origin); !added) return added.error();
  }
  devices.files = in_order(std::move(files));
  return devices;
}

}  // namespace acrf
