// SPDX-License-Identifier: GPL-2.0-or-later
// A log line without what tells whose machine it is: host and user names, network addresses, unique
// ids, paths. PCI addresses, codes and counts stay: they are what the line is about. When in doubt
// a word goes.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace acrf {

// `names` are words to take out wherever they stand: this host's names, users. At most 500
// printable bytes come back.
std::string redact(std::string_view line, std::span<const std::string> names);

}  // namespace acrf
