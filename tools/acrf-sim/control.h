// SPDX-License-Identifier: GPL-2.0-or-later
// The simulator's control socket: a line of JSON in, a line of JSON out. The hub's simulator tab
// speaks through it.
#pragma once

#include <functional>
#include <string>

#include "common/unique_fd.h"
#include "core/result.h"

namespace acrf::sim {

class Control {
 public:
  // Gives the answer to a line, without its line end.
  using Answer = std::function<std::string(const std::string& line)>;

  // Owner only; a socket file that is there already is replaced.
  static Result<Control> open(const std::string& path);

  // Serves who is there, for at most this long in all; returns at once when nobody is.
  void serve(const Answer& answer, int wait_ms);

 private:
  explicit Control(UniqueFd listener) : listener_(std::move(listener)) {}
  UniqueFd listener_;
};

}  // namespace acrf::sim
