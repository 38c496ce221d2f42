// SPDX-License-Identifier: GPL-2.0-or-later
// acrf-healthd --selftest: which sources work on this machine, and what the others lack. It asks
// each one as the daemon would, changes nothing and needs no running daemon.
#pragma once

#include <string>
#include <vector>

#include "core/config.h"
#include "core/node_verdict.h"

namespace acrf {

struct SourceTest {
  std::string source;
  CheckStatus status = CheckStatus::kOk;  // unknown: nothing of this kind is here
  std::string detail;
};

// `config` has its paths expanded for `node`; `program` is acrf-healthd itself.
std::vector<SourceTest> test_sources(const Config& config, const std::string& program,
                                     const std::string& node, const std::string& gres_conf);

// The worst of what is there. What is not there is no fault of the machine's.
CheckStatus overall(const std::vector<SourceTest>& tests);

// Prints the result and gives the exit code.
int print_tests(const std::vector<SourceTest>& tests, bool as_json);

}  // namespace acrf
