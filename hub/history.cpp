// SPDX-License-Identifier: GPL-2.0-or-later
#include "hub/history.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "common/sqlite.h"
#include "hub/sample_blocks.h"

namespace acrf::hub {
namespace {

constexpr int kPatience_ms = 2000;
// Spans up to this long are read sample by sample, or minute by minute.
constexpr std::int64_t kRawSpan_s = 3 * 3600;
constexpr std::int64_t kMinuteSpan_s = 4 * 86400;

// Reads a column of rows of `per` numbers for each metric: 1 as sampled, 3 as rolled up.
std::optional<SeriesPoint> point_in(const SeriesRow& row, std::size_t column, std::size_t per) {
  if ((column + 1) * per > row.numbers.size()) return std::nullopt;
  const auto* numbers = &row.numbers[column * per];
  if (numbers[0] == kNoNumber) return std::nullopt;
  if (per == 1) {
    const double value = numbers[0];
    return SeriesPoint{row.ms / 1000, value, value, value};
  }
  return SeriesPoint{row.ms / 1000, static_cast<double>(numbers[0]),
                     static_cast<double>(numbers[1]) / kMeanScale, static_cast<double>(numbers[2])};
}

// Joins neighbours so that no more than `most` are left.
void thin(std::vector<SeriesPoint>& points, std::size_t most) {
  if (most == 0 || points.size() <= most) return;
  const auto step = (points.size() + most - 1) / most;
  std::vector<SeriesPoint> fewer;
  for (std::size_t i = 0; i < points.size(); i += step) {
    auto joined = points[i];
    const auto end = std::min(points.size(), i + step);
    for (auto j = i + 1; j < end; ++j) {
      joined.min = std::min(joined.min, points[j].min);
      joined.max = std::max(joined.max, points[j].max);
      joined.mean += points[j].mean;
    }
    joined.mean /= static_cast<double>(end - i);
    fewer.push_back(joined);
  }
  points = std::move(fewer);
}

class Reader {
 public:
  Reader(sqlite::Database& database, const SeriesQuery& query) : database_(database), query_(query) {}

  // `reach_ms`: how long before its end a row of the table begins.
  Status read(const char* sql, std::int64_t reach_ms, std::size_t per) {
    auto rows = database_.prepare(sql);
    if (!rows) return rows.error();
    rows->bind(1, query_.node).bind(2, query_.from_s * 1000 - reach_ms).bind(3, query_.to_s * 1000);
    while (true) {
      const auto row = rows->step();
      if (!row) return row.error();
      if (!*row) return Done{};
      if (const auto series = read_series(rows->text(0))) add(*series, per);
    }
  }

  void add_open_block(std::string_view bytes) {
    if (const auto series = read_series(bytes)) add(*series, 1);
  }

  std::vector<SeriesPoint> points() const {
    std::vector<SeriesPoint> all;
    for (const auto& [unix_s, point] : points_) all.push_back(point);
    return all;
  }

 private:
  void add(const std::vector<SeriesRow>& rows, std::size_t per) {
    const auto column = static_cast<std::size_t>(query_.gpu) * kGpuMetrics.size() +
                        static_cast<std::size_t>(query_.metric);
    for (const auto& row : rows) {
      const auto point = point_in(row, column, per);
      if (point && point->unix_s >= query_.from_s && point->unix_s <= query_.to_s)
        points_[point->unix_s] = *point;
    }
  }

  sqlite::Database& database_;
  const SeriesQuery& query_;
  std::map<std::int64_t, SeriesPoint> points_;
};

constexpr char kRaw[] =
    "SELECT data FROM raw WHERE node=(SELECT id FROM node WHERE name=?1) AND begin_ms>=?2"
    " AND begin_ms<=?3 ORDER BY begin_ms, id";
constexpr char kMinute[] =
    "SELECT data FROM minute WHERE node=(SELECT id FROM node WHERE name=?1) AND begin_ms>=?2"
    " AND begin_ms<=?3 ORDER BY begin_ms, id";
constexpr char kHour[] =
    "SELECT data FROM hour WHERE node=(SELECT id FROM node WHERE name=?1) AND begin_ms>=?2"
    " AND begin_ms<=?3 ORDER BY begin_ms";

}  // namespace

std::string history_path(const std::string& hub_dir) { return hub_dir + "/history.db"; }

Result<Series> History::series(const SeriesQuery& query) const {
  auto database = sqlite::Database::open(path_, false, kPatience_ms);
  if (!database) return database.error();
  Reader reader(*database, query);
  Series series;
  Status done = Done{};
  const auto span = query.to_s - query.from_s;
  if (span <= kRawSpan_s) {
    done = reader.read(kRaw, kBlock_ms, 1);
    if (open_block_) reader.add_open_block(open_block_(query.node));
  }
  // Also where the samples themselves are gone already.
  if (done && (span > kRawSpan_s || reader.points().empty())) {
    const bool minutes = span <= kMinuteSpan_s;
    series.resolution_s = minutes ? 60 : 3600;
    done = minutes ? reader.read(kMinute, kBlock_ms, 3) : reader.read(kHour, kHour_ms, 3);
  }
  if (done && series.resolution_s == 60 && reader.points().empty()) {
    series.resolution_s = 3600;
    done = reader.read(kHour, kHour_ms, 3);
  }
  if (!done) return done.error();
  series.points = reader.points();
  thin(series.points, query.most);
  return series;
}

Result<std::vector<std::string>> History::incidents(const IncidentQuery& query) const {
  auto database = sqlite::Database::open(path_, false, kPatience_ms);
  if (!database) return database.error();
  auto rows = database->prepare(
      "SELECT data FROM incident WHERE (?1='' OR id=?1) AND (?2='' OR node=?2)"
      " AND (?3='' OR class=?3) AND (NOT ?4 OR closed_ms=0) AND opened_ms>=?5"
      " AND (?6='' OR (opened_ms, id) < (SELECT opened_ms, id FROM incident WHERE id=?6))"
      " ORDER BY opened_ms DESC, id DESC LIMIT ?7");
  if (!rows) return rows.error();
  rows->bind(1, query.id).bind(2, query.node).bind(3, query.fault_class);
  rows->bind(4, std::int64_t{query.open_only}).bind(5, query.since_ms).bind(6, query.after);
  rows->bind(7, static_cast<std::int64_t>(query.limit));
  std::vector<std::string> all;
  while (true) {
    const auto row = rows->step();
    if (!row) return row.error();
    if (!*row) return all;
    all.push_back(rows->text(0));
  }
}

Result<std::vector<AuditLook>> History::audit(const AuditFilter& filter) const {
  auto database = sqlite::Database::open(path_, false, kPatience_ms);
  if (!database) return database.error();
  auto rows = database->prepare(
      "SELECT row, node, data FROM audit WHERE (?1='' OR node=?1) AND (?2='' OR incident=?2)"
      " AND time_ms>=?3 AND (?4=0 OR row<?4) ORDER BY row DESC LIMIT ?5");
  if (!rows) return rows.error();
  rows->bind(1, filter.node).bind(2, filter.incident).bind(3, filter.since_ms);
  rows->bind(4, filter.after).bind(5, static_cast<std::int64_t>(filter.limit));
  std::vector<AuditLook> all;
  while (true) {
    const auto row = rows->step();
    if (!row) return row.error();
    if (!*row) return all;
    all.push_back({rows->number(0), rows->text(1), rows->text(2)});
  }
}

std::uint64_t History::size() const {
  std::uint64_t bytes = 0;
  for (const char* suffix : {"", "-wal"}) {
    std::error_code error;
    const auto size = std::filesystem::file_size(path_ + suffix, error);
    if (!error) bytes += size;
  }
  return bytes;
}

}  // namespace acrf::hub
