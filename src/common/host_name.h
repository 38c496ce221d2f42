// SPDX-License-Identifier: GPL-2.0-or-later
// The name that this host has in slurm.conf unless somebody says otherwise.
#pragma once

#include <unistd.h>

#include <string>

namespace acrf {

// Up to the first dot.
inline std::string short_host_name() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  const std::string text(name);
  return text.substr(0, text.find('.'));
}

}  // namespace acrf
