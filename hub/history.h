// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the hub's history. Every call opens the database for itself, beside the one writer: calls
// may come from any thread and hold up nobody. An Error: the disk has failed; the cluster's present
// state is still in the Model.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/result.h"

namespace acrf::hub {

// "HubDir/history.db"
std::string history_path(const std::string& hub_dir);

struct SeriesPoint {
  std::int64_t unix_s = 0;
  double min = 0, mean = 0, max = 0;
};

struct Series {
  int resolution_s = 0;  // 0: as it was sampled; 60 or 3600
  std::vector<SeriesPoint> points;
};

struct SeriesQuery {
  std::string node;
  int metric = 0;  // index into kGpuMetrics
  int gpu = 0;
  std::int64_t from_s = 0, to_s = 0;
  std::size_t most = 2000;  // points; neighbours are joined when there are more
};

struct IncidentQuery {
  std::string id = {}, node = {}, fault_class = {};
  bool open_only = false;
  std::int64_t since_ms = 0;
  std::string after = {};  // id: those that stand behind it in the answer
  std::size_t limit = 1000;
};

struct AuditFilter {
  std::string node = {}, incident = {};
  std::int64_t since_ms = 0;
  std::int64_t after = 0;  // `row` of an AuditLook: those that stand behind it in the answer
  std::size_t limit = 1000;
};

struct AuditLook {
  std::int64_t row = 0;
  std::string node, json;
};

class History {
 public:
  // `open_block`: a node's samples of the last minutes, from the Store.
  using OpenBlock = std::function<std::string(const std::string& node)>;
  explicit History(std::string path, OpenBlock open_block = nullptr)
      : path_(std::move(path)), open_block_(std::move(open_block)) {}

  // The finest resolution that is kept for the whole span.
  Result<Series> series(const SeriesQuery& query) const;
  // JSON objects, the newest first.
  Result<std::vector<std::string>> incidents(const IncidentQuery& query) const;
  Result<std::vector<AuditLook>> audit(const AuditFilter& filter) const;
  // Bytes of the database, its log included.
  std::uint64_t size() const;

 private:
  std::string path_;
  OpenBlock open_block_;
};

}  // namespace acrf::hub
