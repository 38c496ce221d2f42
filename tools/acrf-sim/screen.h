// SPDX-License-Identifier: GPL-2.0-or-later
// What a run tells its user: one line that is written over on a terminal, or one every ten seconds
// where there is none; everything that happens goes to the log file.
#pragma once

#include <cstdint>
#include <string>

#include "books.h"
#include "options.h"

namespace acrf::sim {

// The progress line, with or without colours.
std::string progress_line(std::int64_t now_ms, const Figures& figures, const Options& options,
                          bool colours);

class Screen {
 public:
  Screen();
  void log_to(const std::string& path);
  void say(const std::string& text);                        // to people, in a line of its own
  void complain(const std::string& text);                   // to standard error
  void note(std::int64_t now_ms, const std::string& what);  // to the log file
  void show(std::int64_t now_ms, const Figures& figures, const Options& options);
  void end_with(const Figures& figures);

 private:
  void clear_line();

  bool terminal_;
  bool colours_;
  bool line_is_up_ = false;
  std::int64_t shown_ms_ = -1'000'000;
  std::string log_;
};

}  // namespace acrf::sim
