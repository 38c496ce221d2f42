// SPDX-License-Identifier: GPL-2.0-or-later
// Reads acrf.conf again, in a thread of its own: the file may lie on a server that does not answer,
// and nothing else may wait for that.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/config.h"

namespace acrf {

class ConfigReload {
 public:
  using Read = std::function<Result<Config>()>;

  explicit ConfigReload(Read read) : read_(std::move(read)) {}

  // While a read is under way another one follows it: the file may have changed since.
  void start();

  // What was read, once; nothing while there is no answer.
  std::optional<Result<Config>> take();

 private:
  struct Answer;

  Read read_;
  std::shared_ptr<Answer> answer_;  // shared with the thread, which may outlive this
  bool again_ = false;
};

// Settings that differ, as "Mode=enforce"; Fault, Check and Policy lines count as one each.
std::vector<std::string> changes_between(const Config& before, const Config& after);

// Puts back what can only change when the daemon starts; gives those settings' names.
std::vector<std::string> keep_fixed_settings(const Config& before, Config& after);

}  // namespace acrf
