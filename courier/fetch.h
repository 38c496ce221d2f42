// SPDX-License-Identifier: GPL-2.0-or-later
// One request for the acrf command, which passes it on standard input, for a token is nobody else's
// to read: {"url":...,"headers":[...],"body":...}; without a body it is a GET. The answer is
// {"status":...,"body":...} or {"error":...}.
#pragma once

namespace acrf {

// The process's exit status.
int run_fetch();

}  // namespace acrf
