// SPDX-License-Identifier: GPL-2.0-or-later
// Keeps what nodes report: take() queues it, one thread commits the queue about once a second. What
// has been committed is durable; a node holds everything else until it is. A disk that is full or
// broken costs the history and nothing else: take() then takes nothing more, and nodes keep it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "hub/history_file.h"

namespace acrf::hub {

class Store {
 public:
  struct Options {
    std::string path;
    Retention retention;
    std::chrono::milliseconds commit{1000};  // between two commits
    std::chrono::milliseconds retry{5000};   // after one that failed
    std::size_t most_waiting = 400'000;      // items
  };

  explicit Store(Options options);
  // Commits what is waiting.
  ~Store();

  struct Mark {
    std::uint64_t accepted = 0;  // of the report's stream, up to which all is here
    std::uint64_t durable = 0;   // and on disk
  };
  // Queues what is news; what is here already is taken out of the report. A report whose items do
  // not follow on what is here is not queued at all: the node sends what is missing first. Nor is
  // one before the history could be read, or while too much waits: the node keeps it.
  Mark take(Report& report);

  // An act of the hub itself; `audit.id` counts for this hub alone.
  void add_audit(const std::string& node, ReportedAudit audit);

  // Waits until all that was taken before is on disk; false: not within the time.
  bool flush(std::chrono::milliseconds limit);

  // Incidents of earlier lives: the open ones and the last thousand.
  std::vector<ReportedIncident> recent_incidents();

  // The node's samples that are in no block yet, as a series.
  std::string open_block(const std::string& node) const;

  std::uint64_t waiting() const { return waiting_; }
  // Why nothing can be committed; empty: it can.
  std::string problem() const;

 private:
  struct Waiting {
    int node = 0;
    std::string node_name, stream;
    ReportItem item;
  };
  struct Position {
    std::uint64_t accepted = 0, durable = 0;
  };

  Status open_file();
  void run();
  void work(std::vector<Waiting> taken, std::int64_t now_ms);
  void add_to_batch(Waiting& one);
  bool commit(std::int64_t now_ms);
  void tidy(std::int64_t now_ms);
  void fail(const Error& error, std::int64_t now_ms);
  void begin_anew();
  int number_of(const std::string& node);

  const Options options_;
  // The writer's alone.
  std::optional<HistoryFile> file_;
  mutable std::mutex blocks_mutex_;  // readers look at the blocks, too
  SampleBlocks blocks_;
  Batch batch_;
  std::size_t batch_items_ = 0;
  std::set<std::pair<int, std::int64_t>> hours_;  // node, begin: to be rolled up
  std::int64_t next_try_ms_ = 0, next_tidy_ms_ = 0, next_trim_journal_ms_ = 0;
  std::int64_t next_seal_ms_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable wake_, written_;
  std::vector<Waiting> queue_;
  std::unordered_map<std::string, int> numbers_;  // of nodes
  std::unordered_map<int, std::string> names_;    // the same, the other way round
  int next_number_ = 1;
  bool is_loaded_ = false;  // what the history holds is known
  std::vector<std::pair<int, std::string>> new_nodes_;
  std::unordered_map<std::string, Position> positions_;  // "node stream"
  std::vector<ReportedIncident> recent_;
  std::string problem_;
  bool stopping_ = false;
  std::uint64_t taken_ = 0, committed_ = 0;
  std::atomic<std::uint64_t> waiting_{0};
  std::thread thread_;
};

}  // namespace acrf::hub
