// SPDX-License-Identifier: GPL-2.0-or-later
// Ctrl-C and SIGTERM end a run in good order; a second one ends it at once, and the cluster with
// it.
#pragma once

namespace acrf::sim {

void catch_stop_signals();
bool stop_was_asked();

}  // namespace acrf::sim
