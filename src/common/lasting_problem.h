// SPDX-License-Identifier: GPL-2.0-or-later
// A problem that lasts, a full disk say: logged when it begins, when it becomes another and when it
// is over, and not at every try in between.
#pragma once

#include <string>

#include "core/result.h"

namespace acrf {

class LastingProblem {
 public:
  // `what` could not be done: "place in the kernel log".
  explicit LastingProblem(std::string what) : what_(std::move(what)) {}

  // How the last try went.
  void note(const Status& tried);

 private:
  std::string what_;
  std::string said_;  // empty: all is well
};

}  // namespace acrf
