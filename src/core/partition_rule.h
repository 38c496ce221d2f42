// SPDX-License-Identifier: GPL-2.0-or-later
// A Partition line of acrf.conf: what differs for the nodes of one partition. A node of several
// partitions gets the most careful mode of all of them, and counts in the budget of each.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/conf_line.h"
#include "core/mode.h"
#include "core/share.h"

namespace acrf {

struct PartitionRule {
  std::string name;
  int line = 0;
  std::optional<Mode> mode;
  std::optional<Share> drains_per_hour, drained;
};

// One key of a Partition line. The parser, `acrf conf show` and acrf.conf(5) come from this table.
struct PartitionKey {
  std::string_view name;
  std::string_view help;
  // What is wrong with the value; nothing when it was taken.
  std::optional<std::string> (*set)(PartitionRule& rule, std::string_view value);
  // As it would be written; empty when it is not set.
  std::string (*get)(const PartitionRule& rule);
};

std::span<const PartitionKey> partition_keys();

// "Partition=NAME Key=value ..."; an Error opens with "origin:line:".
Result<PartitionRule> parse_partition_rule(const ConfLine& line, std::string_view origin);

std::string to_line(const PartitionRule& rule);

}  // namespace acrf
