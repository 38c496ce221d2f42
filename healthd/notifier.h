// SPDX-License-Identifier: GPL-2.0-or-later
// Sees to it that people are told, from a thread of its own: tell() returns at once, whatever disks
// and endpoints do. Notices go into the spool on disk; acrf-courier, one process per receiver while
// there is something to send, takes them from there. A receiver that does not answer is tried again
// ever more rarely and delays no other.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/notify_spool.h"
#include "common/unique_fd.h"
#include "core/notification.h"

namespace acrf {

class Notifier {
 public:
  struct Options {
    std::vector<NotifyRule> rules;  // none: nobody is told, and there is no thread
    std::string spool;              // directory
    std::string courier;            // program
    std::string config_path;        // what the courier reads; empty: acrf.conf beside slurm.conf
    std::string node;
    NotifySpool::Bounds bounds;
    int first_retry_ms = 0;  // 0: as in retry_after_s()
  };

  // What became of one message.
  struct Outcome {
    std::string receiver, id, incident;
    bool sent = false;
    std::string sentence;  // why it was not
  };
  // Called in the notifier's thread.
  using Report = std::function<void(const Outcome&)>;

  Notifier(Options options, Report report);
  // What is not sent yet stays in the spool.
  ~Notifier();

  void tell(Notice notice);

 private:
  using Clock = std::chrono::steady_clock;

  struct Receiver {
    explicit Receiver(const NotifyRule& with) : rule(with), limit(with.per_hour) {}
    NotifyRule rule;
    HourlyLimit limit;
    bool waiting = false;  // there are messages in the spool
    UniqueFd output;       // of its courier, while one runs
    std::string pending;
    bool progressed = false;  // this courier sent something
    std::string trouble;      // why the rest waits
    int failures = 0;
    Clock::time_point next_try{};
  };

  void run();
  bool open_spool();
  void take_queue();
  void spool_for(Receiver& receiver, const Notice& notice);
  void put(Receiver& receiver, const Notice& notice);
  void add_summaries();
  void start_couriers();
  void start_courier(Receiver& receiver);
  void read_courier(Receiver& receiver);
  void take_line(Receiver& receiver, const std::string& line);
  void end_courier(Receiver& receiver);
  int poll_timeout_ms();

  const Options options_;
  const Report report_;
  std::optional<NotifySpool> spool_;
  bool complained_ = false;
  std::vector<Receiver> receivers_;
  std::deque<Notice> taken_;  // not yet in the spool

  std::mutex mutex_;
  std::deque<Notice> queue_;
  bool stopping_ = false;
  UniqueFd wake_;
  std::thread thread_;
};

}  // namespace acrf
