// SPDX-License-Identifier: GPL-2.0-or-later
// How fast lines of a log become verdicts. The text is what a healthy node writes, with one Xid in
// a thousand lines.
#pragma once

#include <cstddef>

namespace acrf::perf {

// In the processor's time, for others may be busy too; 0 when verdicts were wrong.
double classify_mb_per_s(std::size_t megabytes);

}  // namespace acrf::perf
