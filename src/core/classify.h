// SPDX-License-Identifier: GPL-2.0-or-later
// From one line of a log to a verdict. Who wrote the line is asked first: what a program wrote is
// never evidence of a broken GPU. Then the catalog: codes, registers and texts. In doubt a line is
// watched; a wrong drain costs more than a late one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/catalog.h"
#include "core/fault.h"
#include "core/log_line.h"
#include "core/xid.h"

namespace acrf {

struct LineVerdict {
  Verdict verdict{"benign", Severity::kInfo, Scope::kNode, Action::kIgnore};
  std::optional<int> xid, sxid;
  std::optional<PciAddress> gpu;
  std::optional<PciAddress> device;  // that is no GPU, or not known as one: a switch, port or NIC
  std::string mig;                   // "GPU-I:05"
  std::string location;              // inside the GPU: "GPC1/TPC3", "link 14"
  std::string suspect;               // who else may be to blame: "peer", "link", "cable"
  std::optional<int> caused_by;      // the Xid that a line names as its cause
  std::optional<std::uint64_t> pid;  // the process that it names
  int rank = 0;                      // 0: the line opens no incident
  bool known = false;                // a rule knows the line
  std::optional<Action> shadowed;    // what a rule in Mode=shadow would ask for
  bool ruled_by_site = false;        // a Fault line says what it means
};

LineVerdict classify_line(const LogLine& line, const Catalog& catalog);
LineVerdict classify_line(std::string_view text, const Catalog& catalog = Catalog::builtin());

// The line as an observation of the tracker; who had the GPU, when and in which boot is for the
// caller to say. Nothing: the line is no matter for incidents.
std::optional<Event> event_of(const LineVerdict& verdict);

}  // namespace acrf
