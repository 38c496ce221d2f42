// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/gres_devices.h"

#include <algorithm>

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

Status add_line(GresDevices& devices, const ConfLine& line, std::string_view origin) {
  if (const auto* files = line.find("File")) {
    const auto expanded = expand_hostlist(*files);
    if (!expanded) return conf_error(origin, line.number, expanded.error().sentence);
    devices.files.insert(devices.files.end(), expanded->begin(), expanded->end());
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

}  // namespace

Result<GresDevices> gpus_of_node(std::string_view gres_conf, std::string_view origin,
                                 std::string_view node) {
  const auto lines = parse_conf_lines(gres_conf, origin);
  if (!lines) return lines.error();
  GresDevices devices;
  for (const auto& line : *lines) {
    const auto* name = line.find("Name");
    if (!name || !equals_ignoring_case(*name, "gpu") || line.find("MultipleFiles")) continue;
    const auto ours = speaks_of(line, origin, node);
    if (!ours) return ours.error();
    if (!*ours) continue;
    if (const auto added = add_line(devices, line, origin); !added) return added.error();
  }
  return devices;
}

}  // namespace acrf
