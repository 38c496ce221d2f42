// SPDX-License-Identifier: GPL-2.0-or-later
// Tells the hubs what this node sees and does, from a thread of its own: nobody who acts waits for
// a hub. Each hub has its own outbox and its own acrf-courier, which makes the requests; one that is
// away delays no other. Without a hub in acrf.conf there is no thread and no process.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/unique_fd.h"
#include "report/outbox.h"
#include "report/record_source.h"
#include "sources/probe.h"

namespace acrf {

class Reporter {
 public:
  struct Options {
    std::vector<std::string> hubs;  // URLs
    std::string node, boot_id, state_dir;
    std::string courier;       // program
    std::string munge_socket;  // empty: munge's own
    int interval_s = 5;
  };
  // What a hub advises, in the reporter's thread; once for each change.
  using Advise = std::function<void(const std::string& kind, const std::string& text)>;

  Reporter(Options options, Advise advise);
  // What the hubs lack is on disk then.
  ~Reporter();

  // Items as of report_items.h; they return at once.
  void sample(std::string item);
  void state(std::string item);
  void set_driver(const std::string& driver);

 private:
  using Clock = std::chrono::steady_clock;

  struct Hub {
    Hub(const Options& options, const std::string& url, const std::string& stream);
    std::string url;
    Outbox outbox;
    RecordSource records;
    Probe courier;
    std::optional<Outbox::Parcel> on_its_way;
    int failures = 0;
    bool takes_nothing = false;  // although it answers
    Clock::time_point next_try{}, next_report{}, next_old{};
    std::vector<std::string> advice;  // as last told
    std::uint64_t told_dropped = 0;
  };

  void run();
  void take_queue();
  bool take_file_news();
  void look_at_records();
  void send(Hub& hub, Clock::time_point now);
  void take_answer(Hub& hub);
  void take_reply(Hub& hub, const std::string& reply);
  void take_advice(Hub& hub, std::vector<std::string> advice);
  void fail(Hub& hub, const std::string& why);
  void spill(Hub& hub, bool is_first);
  std::string body_of(const Outbox::Parcel& parcel);
  int poll_timeout_ms(Clock::time_point now) const;

  const Options options_;
  const Advise advise_;
  std::vector<std::unique_ptr<Hub>> hubs_;
  UniqueFd wake_, file_news_;
  int incidents_watch_ = -1;
  Clock::time_point next_look_{};

  std::mutex mutex_;
  std::vector<Outbox::Item> queue_;
  std::string driver_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace acrf
