// SPDX-License-Identifier: GPL-2.0-or-later
// One line of a log, whatever wrote it to the file: a record of /dev/kmsg, dmesg in all its forms,
// syslog, journalctl, or bare. What matters is who speaks: the kernel, somebody who wrote into the
// kernel's log, or another program. The message is what remains without the header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace acrf {

enum class Writer {
  kKernel,
  kUser,    // written into the kernel's log by a program: never believed
  kDaemon,  // the log of another program: evidence only of what it says itself
};

struct LogLine {
  Writer writer = Writer::kKernel;
  std::string_view daemon;              // name of the program, for kDaemon
  std::string_view message;             // points into the parsed text
  std::optional<std::int64_t> time_us;  // on the log's own clock, whichever that is
  bool time_is_step = false;            // time_us counts from the line before
  int repeats = 1;                      // "message repeated N times: [ ... ]"
  bool repeats_last = false;            // "last message repeated N times"
  bool is_field = false;                // " SUBSYSTEM=pci" below a record of /dev/kmsg
  bool is_indented = false;             // dmesg and journalctl show a record's later lines so
};

// Never fails: a line without a header that is known is all message.
LogLine parse_log_line(std::string_view text);

// Without the colours that dmesg and journalctl give a terminal, and some logs keep.
std::string without_colours(std::string_view text);

}  // namespace acrf
