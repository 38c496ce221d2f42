// SPDX-License-Identifier: GPL-2.0-or-later
// A terminal that a program has to itself for a while: a second screen, keys one by one, no cursor.
// Whatever way the program ends, SIGKILL apart, the terminal is as it was.
#pragma once

#include <string>
#include <vector>

namespace acrf {

enum class Key { kNone, kUp, kDown, kPageUp, kPageDown, kHome, kEnd };

// One thing that was typed: a character, or a key that has none.
struct Stroke {
  char character = 0;
  Key key = Key::kNone;
};

// What a terminal sends for `bytes`.
std::vector<Stroke> strokes_in(const std::string& bytes);

struct TerminalSize {
  std::size_t lines = 24, columns = 80;
};

// Standard output is a terminal that can be drawn on.
bool can_draw();

class Terminal {
 public:
  // Takes it over. One at a time.
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // Gives it back for the time that the process is stopped; then takes it again.
  void stop_here();

  TerminalSize size() const;
  // False: it is gone.
  bool draw(const std::vector<std::string>& lines);
  // Standard input; -1 when nobody types there.
  int input() const;

 private:
  void enter();
  void leave();
};

}  // namespace acrf
