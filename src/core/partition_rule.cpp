// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/partition_rule.h"

#include "core/text.h"

namespace acrf {
namespace {

using Problem = std::optional<std::string>;

Problem set_share(std::optional<Share>& share, std::string_view value) {
  share = parse_share(value);
  return share ? Problem() : "must be a percentage, such as 5%, or a number of nodes";
}

Problem set_mode(PartitionRule& rule, std::string_view value) {
  rule.mode = parse_mode(value);
  return rule.mode ? Problem() : "must be observe or enforce";
}

std::string show_share(const std::optional<Share>& share) { return share ? to_text(*share) : ""; }

constexpr PartitionKey kKeys[] = {
    {"Mode", "observe or enforce, for the nodes of this partition.", set_mode,
     [](const PartitionRule& rule) {
       return std::string(rule.mode ? mode_name(*rule.mode) : std::string_view());
     }},
    {"MaxDrainsPerHour", "In place of the setting of that name.",
     [](PartitionRule& rule, std::string_view value) {
       return set_share(rule.drains_per_hour, value);
     },
     [](const PartitionRule& rule) { return show_share(rule.drains_per_hour); }},
    {"MaxDrained", "In place of the setting of that name.",
     [](PartitionRule& rule, std::string_view value) { return set_share(rule.drained, value); },
     [](const PartitionRule& rule) { return show_share(rule.drained); }},
};

const PartitionKey* find_key(std::string_view name) {
  for (const auto& key : kKeys)
    if (equals_ignoring_case(key.name, name)) return &key;
  return nullptr;
}

}  // namespace

std::span<const PartitionKey> partition_keys() { return kKeys; }

Result<PartitionRule> parse_partition_rule(const ConfLine& line, std::string_view origin) {
  PartitionRule rule;
  rule.line = line.number;
  for (const auto& [name, value] : line.fields) {
    if (equals_ignoring_case(name, "Partition")) {
      rule.name = value;
      continue;
    }
    const auto* key = find_key(name);
    if (!key) return conf_error(origin, line.number, "a Partition has no '" + name + "'");
    if (const auto problem = key->set(rule, value))
      return conf_error(origin, line.number,
                        std::string(key->name) + "=" + value + ": " + *problem);
  }
  if (rule.name.empty()) return conf_error(origin, line.number, "a Partition needs a name");
  return rule;
}

std::string to_line(const PartitionRule& rule) {
  std::string line = "Partition=" + rule.name;
  for (const auto& key : kKeys)
    if (const auto value = key.get(rule); !value.empty())
      line += " " + std::string(key.name) + "=" + value;
  return line;
}

}  // namespace acrf
