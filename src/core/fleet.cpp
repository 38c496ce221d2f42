// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/fleet.h"

#include <algorithm>

#include "core/incident.h"
#include "core/text.h"

namespace acrf {

const FleetNode* Fleet::find(std::string_view name) const {
  const auto found = std::find_if(nodes.begin(), nodes.end(),
                                  [&](const FleetNode& node) { return node.name == name; });
  return found == nodes.end() ? nullptr : &*found;
}

std::string_view class_in_reason(std::string_view reason) {
  if (!is_acrf_reason(reason)) return {};
  const auto words = split(reason, ' ');
  return words.size() > 1 ? words[1] : std::string_view();
}

}  // namespace acrf
