// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/signal_name.h"

#include <signal.h>

#include <utility>

namespace acrf {

int signal_number(std::string_view name) {
  constexpr std::pair<std::string_view, int> kSignals[] = {{"USR1", SIGUSR1}, {"USR2", SIGUSR2},
                                                           {"TERM", SIGTERM}, {"INT", SIGINT},
                                                           {"HUP", SIGHUP},   {"CONT", SIGCONT}};
  for (const auto& [known, number] : kSignals)
    if (known == name) return number;
  return 0;
}

}  // namespace acrf
