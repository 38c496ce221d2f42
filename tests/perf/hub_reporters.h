// SPDX-License-Identifier: GPL-2.0-or-later
// Many nodes that report to a hub as acrf-healthd does, in one thread: each makes a sample of its
// GPUs every interval, seals the report with munge, sends it over a connection of its own and keeps
// what the hub has not called durable. The last number of every sample is its count, from 1.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "common/munge.h"

namespace acrf::perf {

class HubReporters {
 public:
  struct Options {
    int nodes = 12'500;
    int gpus = 8;
    int interval_ms = 5000;
    int port = 0;
    std::string munge_socket;
  };

  struct Counts {
    std::uint64_t samples = 0;   // made
    std::uint64_t answered = 0;  // reports
    std::uint64_t failed = 0;    // reports: no answer, or another status
    std::uint64_t waiting = 0;   // samples that are not durable
    std::string last_failure;
  };

  explicit HubReporters(Options options);
  ~HubReporters();

  void start();
  // No more samples; what is not durable is still sent. True when all is durable in time.
  bool finish(int limit_s);

  Counts counts() const { return counts_; }
  // From a sample's making to the hub's answer that it has it, in milliseconds.
  const std::vector<double>& lags_ms() const { return lags_ms_; }
  // How many samples each node made.
  const std::vector<std::uint32_t>& made() const { return made_; }

 private:
  struct Sample {
    std::uint32_t seq = 0;
    std::int64_t ms = 0;
    bool answered = false;
    std::string text;
  };
  struct Node;
  struct Connection;

  void run();
  void make_sample(Node& node, std::int64_t now_ms);
  void send(Node& node, std::int64_t now_ms);
  void step(Connection& connection);
  void end(Connection& connection, bool answered);
  void serve_connections(int wait_ms);
  void take_reply(Node& node, const std::string& reply);

  const Options options_;
  const Seals seals_;
  int epoll_ = -1;
  int open_ = 0;  // connections
  std::vector<Node> nodes_;
  std::atomic<bool> finishing_{false}, stopping_{false}, all_durable_{false};
  Counts counts_;
  std::vector<double> lags_ms_;
  std::vector<std::uint32_t> made_;
  std::thread thread_;
};

}  // namespace acrf::perf
