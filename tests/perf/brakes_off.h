// SPDX-License-Identifier: GPL-2.0-or-later
// For acrf.conf where a benchmark breaks every node of a small cluster again and again.
#pragma once

namespace acrf::perf {

constexpr char kBrakesOff[] =
    "MaxDrainsPerHour=100000\nMaxDrained=100000\nMaxDrainedNodes=0\nMinHealthy=0\n"
    "MaxDrainsPerSwitch=100000\nCommonCauseNodes=0\nMaxFaults=1000\nMaxRemedies=1000\n";

}  // namespace acrf::perf
