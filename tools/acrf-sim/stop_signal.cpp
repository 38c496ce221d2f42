// SPDX-License-Identifier: GPL-2.0-or-later
#include "stop_signal.h"

#include <signal.h>

#include <initializer_list>

namespace acrf::sim {
namespace {

volatile sig_atomic_t asked = 0;

void note_stop(int) { asked = 1; }

}  // namespace

void catch_stop_signals() {
  struct sigaction action {};
  action.sa_handler = note_stop;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
}

bool stop_was_asked() { return asked != 0; }

}  // namespace acrf::sim
