// SPDX-License-Identifier: GPL-2.0-or-later
// Asks slurmctld for nodes and jobs every few seconds, in a thread of its own, and tells the Model.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "common/slurm_watch.h"
#include "core/config.h"
#include "hub/model.h"

namespace acrf::hub {

class Poller {
 public:
  struct Options {
    std::string slurm_directory;  // of slurm.conf and topology.conf
    std::chrono::milliseconds pause{2000};
  };

  // `config` outlives this. Needs a SlurmClient in the process.
  Poller(Model& model, const Config& config, Options options);
  ~Poller();

  // Looks at once: something has been done.
  void look_now();

 private:
  void run();
  void look_at_nodes();
  void look_at_jobs();
  JobLook look_of(const WatchedJob& job, const Layout& layout, std::int64_t now_unix_s) const;
  void complain(const Error& error);

  Model& model_;
  const Config& config_;
  const Options options_;
  SlurmWatch watch_;
  std::string last_problem_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false, wanted_ = false;
  std::thread thread_;
};

}  // namespace acrf::hub
