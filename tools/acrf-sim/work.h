// SPDX-License-Identifier: GPL-2.0-or-later
// `acrf-sim work`: what a job of the simulator does on its nodes, in each of its tasks. Told by its
// environment: SIM_DIR, the job's own directory; SIM_TYPE; SIM_SECONDS of work; SIM_PROGRAM, of a
// custom type. The first task does the work and keeps the run file; the others stay until it ends.
#pragma once

namespace acrf::sim {

int work();

}  // namespace acrf::sim
