// SPDX-License-Identifier: GPL-2.0-or-later
// Nodes that people work on. A node under maintenance is watched and never acted on. The list has
// two sources: Maintenance lines of acrf.conf, which leave the scheduler alone, and slurmctld's
// reservations with the flag MAINT, which also keep jobs off; `acrf maintenance` makes such ones.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/conf_line.h"

namespace acrf {

struct Maintenance {
  std::string name;                        // of the reservation; empty: a line of acrf.conf
  int line = 0;                            // in acrf.conf
  std::vector<std::string> nodes;          // as given by the host list
  std::int64_t start_unix_s = 0;           // 0: since ever
  std::int64_t end_unix_s = 0;             // first second after it; 0: until further notice
  std::vector<std::string> fault_classes;  // only these are left alone; empty: all
  std::string reason;
};

// A field of a Maintenance line, for the manual.
struct MaintenanceKey {
  std::string_view name, help;
};
std::span<const MaintenanceKey> maintenance_keys();

// "Maintenance=nodes[1-4] Start=... End=..."; an Error opens with "origin:line:".
Result<Maintenance> parse_maintenance(const ConfLine& line, std::string_view origin);

std::string to_line(const Maintenance& maintenance);

bool is_active(const Maintenance& maintenance, std::int64_t now_unix_s);

// The first that covers the node and this class of fault now; nullptr: none does.
const Maintenance* maintenance_of(const std::vector<Maintenance>& all, std::string_view node,
                                  std::string_view fault_class, std::int64_t now_unix_s);

}  // namespace acrf
