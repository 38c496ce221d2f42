// SPDX-License-Identifier: GPL-2.0-or-later
// A process space of its own for a cluster's daemons and jobs: a PID namespace whose first process,
// acrf-cluster-init, starts and signals the daemons on request. When that process ends, the kernel
// ends every process in the space, whatever they have done to their sessions or parents. It ends by
// itself when its owner is gone, however the owner went. Nothing is ever stopped by name.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/unique_fd.h"
#include "core/result.h"

namespace acrf::minicluster {

// Any thread may ask.
class ProcessSpace {
 public:
  // `root` receives init.pid, which names the space to a later stop_recorded().
  static Result<ProcessSpace> create(const std::string& root, bool own_network = false);

  // Starts a daemon under a name; its output is appended to `log`.
  Status start(const std::string& name, const std::vector<std::string>& command,
               const std::vector<std::string>& environment, const std::string& log);
  Status signal(const std::string& name, int signal);
  // Exit status once it has ended (128+N for signal N); nothing while it runs.
  Result<std::optional<int>> ended(const std::string& name);

  // From now on the space outlives its owner; stop_recorded() ends it.
  Status keep();

 private:
  explicit ProcessSpace(UniqueFd control) : control_(std::move(control)) {}
  UniqueFd control_;
  std::unique_ptr<std::mutex> asking_ = std::make_unique<std::mutex>();
};

// Ends the space that `root`/init.pid names and waits until all of it is gone. True when there was
// one.
Result<bool> stop_recorded(const std::string& root);

// "PID STARTTIME" of a live process: a number alone could by now be somebody else's.
std::string process_identity(int pid);

}  // namespace acrf::minicluster
