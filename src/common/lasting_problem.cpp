// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/lasting_problem.h"

#include <spdlog/spdlog.h>

namespace acrf {

void LastingProblem::note(const Status& tried) {
  const std::string sentence = tried ? "" : tried.error().sentence;
  if (sentence == said_) return;
  if (tried)
    spdlog::info("{}: can be written again", what_);
  else
    spdlog::error("{}: not written: {}", what_, sentence);
  said_ = sentence;
}

}  // namespace acrf
