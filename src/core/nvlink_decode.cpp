// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/nvlink_decode.h"

#include <algorithm>

#include "core/text.h"
#include "core/xid.h"

namespace acrf {
namespace {

int strength(Action action) {
  switch (action) {
    case Action::kIgnore: return 0;
    case Action::kWatch: return 1;
    case Action::kRestartApp: return 2;
    case Action::kCheckFabric: return 3;
    default: return 4;
  }
}

Severity severity_of(Action action) {
  if (action == Action::kIgnore) return Severity::kInfo;
  return strength(action) >= 3 ? Severity::kCritical : Severity::kWarning;
}

// "NETIR_LINK_EVT/NETIR_LINK_DOWN" stands for two names of one unit.
bool unit_fits(std::string_view names, std::string_view detail) {
  const auto word = detail.substr(0, detail.find(' '));
  for (const auto name : split(names, '/'))
    if (name == word) return true;
  return false;
}

bool bits_fit(const Nvlink5Row& row, std::uint32_t info) {
  return (info & row.mask[0]) == row.bits[0] || (info & row.mask[1]) == row.bits[1];
}

bool is_one_bit(std::uint32_t value) { return value != 0 && (value & (value - 1)) == 0; }

// A status may be a set of bits of which each has its row.
bool status_fits(const Nvlink5Row& row, std::uint32_t status) {
  if (!row.status || *row.status == status) return true;
  return row.xid <= 147 && is_one_bit(*row.status) && (status & *row.status) != 0;
}

}  // namespace

std::optional<LinkVerdict> decode_nvlink(const Catalog& catalog, std::string_view detail) {
  const auto registers = registers_in(detail);
  LinkVerdict verdict{Action::kIgnore, Severity::kInfo, {}};
  bool any = false;
  for (std::size_t reg = 0; reg < registers.size(); ++reg) {
    for (int bit = 0; bit < 32; ++bit) {
      if (!(registers[reg] >> bit & 1)) continue;
      const auto& known = catalog.nvlink_bits();
      const auto row = std::find_if(known.begin(), known.end(), [&](const NvlinkBit& entry) {
        return entry.reg == static_cast<int>(reg) + 1 && entry.bit == bit;
      });
      if (row == known.end()) return std::nullopt;
      const auto action = row->needs_repeat ? Action::kCheckFabric : row->action;
      if (strength(action) > strength(verdict.action)) verdict.action = action;
      any = true;
    }
  }
  if (!any) return std::nullopt;
  verdict.severity = severity_of(verdict.action);
  return verdict;
}

std::optional<LinkVerdict> decode_nvlink5(const Catalog& catalog, int xid,
                                          std::string_view detail) {
  const auto registers = registers_in(detail);
  if (registers.size() < 2) return std::nullopt;
  const Nvlink5Row* best = nullptr;
  bool best_is_named = false;
  for (const auto& row : catalog.nvlink5()) {
    if (row.xid != xid || !bits_fit(row, registers[0]) || !status_fits(row, registers[1])) continue;
    const bool is_named = unit_fits(row.unit, detail);
    const bool is_stronger = best && strength(row.action) > strength(best->action);
    if (!best || (is_named && !best_is_named) || (is_named == best_is_named && is_stronger)) {
      best = &row;
      best_is_named = is_named;
    }
  }
  if (!best) return std::nullopt;
  return LinkVerdict{best->action, best->severity, best->suspect};
}

}  // namespace acrf
