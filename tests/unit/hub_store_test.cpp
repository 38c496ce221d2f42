// SPDX-License-Identifier: GPL-2.0-or-later
// The hub's history: what is acknowledged is there, once, whatever happens to the process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "common/sqlite.h"
#include "hub/history.h"
#include "hub/store.h"
#include "unit/temporary_directory.h"

namespace acrf::hub {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::int64_t kNow = 1'699'999'200'000;  // a full hour, long past

class HubStore : public testing::Test {
 protected:
  HubStore() : history_(path(), [this](const std::string& node) {
    return store_ ? store_->open_block(node) : std::string();
  }) {}

  std::string path() const { return directory_.path("hub/history.db"); }
  void open() {
    Store::Options options;
    options.path = path();
    options.commit = milliseconds(10);
    options.retry = milliseconds(20);
    options.retention = retention_;
    store_ = std::make_unique<Store>(options);
  }
  // As SIGKILL leaves the files: what the process would still write is not there.
  void kill() {
    const auto copy = directory_.path("killed");
    std::filesystem::copy(directory_.path("hub"), copy, std::filesystem::copy_options::recursive);
    store_.reset();
    std::filesystem::remove_all(directory_.path("hub"));
    std::filesystem::rename(copy, directory_.path("hub"));
  }

  static Report report(const std::string& node, std::uint64_t first_seq, int samples,
                       std::int64_t ms, int value) {
    Report report;
    report.node = node;
    report.stream = "s";
    report.first = first_seq;
    for (int i = 0; i < samples; ++i) {
      GpuValues values;
      values.fill(kNoValue);
      values[0] = value + i;
      report.items.push_back({first_seq + static_cast<std::uint64_t>(i), ms + i * 5000,
                              ReportedSample{{values, values}}});
    }
    return report;
  }
  Store::Mark take(Report given) { return store_->take(given); }
  void flush() { ASSERT_TRUE(store_->flush(seconds(20))); }

  std::vector<std::pair<std::int64_t, double>> points(const std::string& node, std::int64_t from_s,
                                                      std::int64_t to_s) {
    const auto series = history_.series({node, 0, 1, from_s, to_s, 2000});
    EXPECT_TRUE(series.ok()) << series.error().sentence;
    std::vector<std::pair<std::int64_t, double>> all;
    if (series)
      for (const auto& point : series->points) all.emplace_back(point.unix_s, point.mean);
    return all;
  }

  std::vector<std::string> audit() {  // newest first
    std::vector<std::string> all;
    const auto entries = history_.audit({});
    EXPECT_TRUE(entries.ok()) << entries.error().sentence;
    if (entries)
      for (const auto& entry : *entries) all.push_back(entry.json);
    return all;
  }

  const TemporaryDirectory directory_;
  Retention retention_{876'000, 36'500, 36'500, 36'500};
  std::unique_ptr<Store> store_;
  History history_;
};

TEST_F(HubStore, SamplesCanBeReadBackAtOnceAndAreDurableAfterTheCommit) {
  open();
  const auto mark = take(report("n1", 1, 3, kNow, 60));
  EXPECT_EQ(mark.accepted, 3u);
  flush();
  EXPECT_EQ(take(report("n1", 4, 0, kNow, 0)).durable, 3u);
  EXPECT_THAT(points("n1", kNow / 1000, kNow / 1000 + 60),
              ElementsAre(std::pair(kNow / 1000, 60.0), std::pair(kNow / 1000 + 5, 61.0),
                          std::pair(kNow / 1000 + 10, 62.0)));
  EXPECT_THAT(points("n2", kNow / 1000, kNow / 1000 + 60), IsEmpty());
}

TEST_F(HubStore, WhatIsHereAlreadyIsNotTakenTwice) {
  open();
  take(report("n1", 1, 3, kNow, 60));
  auto again = report("n1", 2, 4, kNow + 5000, 61);
  EXPECT_EQ(store_->take(again).accepted, 5u);
  EXPECT_THAT(again.items, SizeIs(2));
  flush();
  EXPECT_THAT(points("n1", kNow / 1000, kNow / 1000 + 60), SizeIs(5));
}

TEST_F(HubStore, AReportThatDoesNotFollowOnWhatIsHereIsLeftOut) {
  open();
  take(report("n1", 1, 2, kNow, 60));
  auto gap = report("n1", 5, 1, kNow, 60);
  gap.first = 2;  // the node has what is missing
  EXPECT_EQ(take(gap).accepted, 2u);
  gap.first = 5;  // it has not: it is gone for good
  EXPECT_EQ(take(gap).accepted, 5u);
}

TEST_F(HubStore, AKilledHubHasAllThatWasDurableAndNothingTwice) {
  open();
  take(report("n1", 1, 30, kNow, 10));
  take(report("n2", 1, 30, kNow, 50));
  flush();
  take(report("n1", 31, 40, kNow + 150'000, 40));  // fills a block and begins the next
  flush();
  kill();
  open();
  EXPECT_EQ(take(report("n1", 71, 0, kNow, 0)).accepted, 70u);
  take(report("n1", 71, 1, kNow + 350'000, 99));
  flush();
  const auto all = points("n1", kNow / 1000, kNow / 1000 + 3600);
  ASSERT_THAT(all, SizeIs(71));
  for (std::size_t i = 0; i < 70; ++i) EXPECT_EQ(all[i].second, 10.0 + static_cast<double>(i));
  EXPECT_EQ(all[70].second, 99.0);
  EXPECT_THAT(points("n2", kNow / 1000, kNow / 1000 + 3600), SizeIs(30));
}

TEST_F(HubStore, MinutesAndHoursAreMadeOfTheSamples) {
  open();
  take(report("n1", 1, 720, kNow - 7'200'000, 0));  // a whole hour, long past
  take(report("n1", 721, 1, kNow, 0));
  flush();
  const auto minutes = history_.series({"n1", 0, 0, kNow / 1000 - 86400, kNow / 1000 - 1, 5000});
  ASSERT_TRUE(minutes.ok());
  EXPECT_EQ(minutes->resolution_s, 60);
  ASSERT_THAT(minutes->points, SizeIs(60));
  EXPECT_EQ(minutes->points[1].min, 12);
  EXPECT_EQ(minutes->points[1].mean, 17.5);
  EXPECT_EQ(minutes->points[1].max, 23);
  const auto hours = [&] {
    return history_.series({"n1", 0, 0, kNow / 1000 - 30 * 86400, kNow / 1000 - 1, 5000});
  };
  for (int i = 0; i < 500 && hours()->points.empty(); ++i) ::usleep(20'000);
  ASSERT_THAT(hours()->points, SizeIs(1));
  EXPECT_EQ(hours()->resolution_s, 3600);
  EXPECT_EQ(hours()->points[0].max, 719);
  EXPECT_NEAR(hours()->points[0].mean, 359.5, 0.1);
}

TEST_F(HubStore, WhatIsTooOldIsRemoved) {
  retention_ = {1, 1, 1, 1};
  open();
  const auto now = static_cast<std::int64_t>(std::time(nullptr)) * 1000;
  take(report("n1", 1, 100, now - 3 * 86'400'000, 0));
  take(report("n1", 101, 100, now - 600'000, 0));
  Report incident = report("n1", 201, 0, 0, 0);
  incident.items.push_back(
      {201, now, ReportedIncident{"old", "n1", "x", "", "", "", now - 2 * 86'400'000, 0,
                                  now - 2 * 86'400'000, "{\"id\":\"old\"}"}});
  incident.items.push_back({202, now, ReportedIncident{"open", "n1", "x", "", "", "",
                                                       now - 2 * 86'400'000, 0, 0, "{}"}});
  take(incident);
  flush();
  const auto old = [&] { return points("n1", now / 1000 - 4 * 86400, now / 1000 - 2 * 86400); };
  for (int i = 0; i < 500 && !(old().empty() && history_.incidents({})->size() == 1); ++i)
    ::usleep(20'000);
  EXPECT_THAT(old(), IsEmpty());
  EXPECT_THAT(points("n1", now / 1000 - 3000, now / 1000 + 60), SizeIs(100));
  EXPECT_THAT(*history_.incidents({}), ElementsAre("{}"));  // what is open stays
}

TEST_F(HubStore, AnIncidentAndAnAuditEntryAreKeptOnceInTheirLastForm) {
  open();
  const auto incident = [](std::uint64_t seq, std::int64_t closed_ms, const std::string& json) {
    Report given;
    given.node = "n1";
    given.stream = "s";
    given.items.push_back({seq, kNow, ReportedIncident{"i1", "n1", "gpu_lost", "", "", "", kNow,
                                                       kNow, closed_ms, json}});
    given.items.push_back({seq + 1, kNow, ReportedAudit{7, kNow, "i1", json}});
    return given;
  };
  take(incident(1, 0, "{\"v\":1}"));
  take(incident(3, kNow + 1, "{\"v\":2}"));
  flush();
  EXPECT_THAT(*history_.incidents({}), ElementsAre("{\"v\":2}"));
  IncidentQuery open_only;
  open_only.open_only = true;
  EXPECT_THAT(*history_.incidents(open_only), IsEmpty());
  const auto audit = history_.audit({.incident = "i1"});
  ASSERT_THAT(*audit, SizeIs(1));
  EXPECT_EQ(audit->front().json, "{\"v\":2}");
}

TEST_F(HubStore, AuditEntriesOfOneNumberAndTwoTimesAreTwo) {
  open();
  Report given = report("n1", 1, 0, 0, 0);
  given.items.push_back({1, kNow, ReportedAudit{1, kNow, "i1", "{\"v\":1}"}});
  given.items.push_back({2, kNow, ReportedAudit{1, kNow, "i1", "{\"v\":2}"}});  // its end
  given.items.push_back({3, kNow, ReportedAudit{1, kNow + 5, "i2", "{\"v\":3}"}});
  take(given);
  store_->add_audit("n1", {1, kNow + 9, "i1", "{\"v\":4}"});  // the hub's own act
  flush();
  EXPECT_THAT(audit(), ElementsAre("{\"v\":4}", "{\"v\":3}", "{\"v\":2}"));
}

TEST_F(HubStore, AFileOfTheFirstVersionGoesOn) {
  open();
  take(report("n1", 1, 3, kNow, 60));
  flush();
  store_.reset();
  {
    auto file = sqlite::Database::open(path(), true, 1000);
    ASSERT_TRUE(file.ok());
    const auto made = file->execute(
        "DROP TABLE audit; CREATE TABLE audit(row INTEGER PRIMARY KEY, node TEXT, id INTEGER,"
        " time_ms INTEGER, incident TEXT, data TEXT NOT NULL, UNIQUE(node, id));"
        "CREATE INDEX audit_by_time ON audit(time_ms);"
        "CREATE INDEX audit_of_incident ON audit(incident);"
        "INSERT INTO audit VALUES(5, 'n1', 1, 1699999200000, 'i1', '{\"v\":1}');"
        "PRAGMA user_version=1;");
    ASSERT_TRUE(made.ok()) << made.error().sentence;
  }
  open();
  EXPECT_EQ(store_->problem(), "");
  Report given = report("n1", 4, 0, 0, 0);
  given.items.push_back({4, kNow, ReportedAudit{1, kNow, "i1", "{\"v\":2}"}});
  given.items.push_back({5, kNow, ReportedAudit{1, kNow + 5, "i2", "{\"v\":3}"}});
  take(given);
  flush();
  EXPECT_THAT(audit(), ElementsAre("{\"v\":3}", "{\"v\":2}"));
  EXPECT_EQ(history_.audit({})->back().row, 5);
  EXPECT_THAT(points("n1", kNow / 1000, kNow / 1000 + 60), SizeIs(3));
}

TEST_F(HubStore, ADamagedFileIsSetAsideAndANewOneBegins) {
  open();
  take(report("n1", 1, 5, kNow, 60));
  flush();
  store_.reset();
  std::ofstream(path(), std::ios::binary | std::ios::trunc) << std::string(100'000, 'x');
  std::filesystem::remove(path() + "-wal");
  open();
  EXPECT_EQ(take(report("n1", 1, 5, kNow, 60)).accepted, 5u);  // it knows nothing: all again
  flush();
  EXPECT_THAT(points("n1", kNow / 1000, kNow / 1000 + 60), SizeIs(5));
}

TEST_F(HubStore, ADiskThatCannotBeWrittenStopsNobody) {
  directory_.write("hub", "a file where the directory should be");
  open();
  EXPECT_FALSE(store_->problem().empty());
  auto first = report("n1", 1, 5, kNow, 60);
  const auto mark = store_->take(first);
  EXPECT_EQ(mark.accepted, 0u);  // the node keeps it
  EXPECT_THAT(first.items, SizeIs(5));  // and the present is known all the same
  std::filesystem::remove(directory_.path("hub"));
  for (int i = 0; i < 500 && take(report("n1", 1, 5, kNow, 60)).accepted == 0; ++i) ::usleep(20'000);
  flush();
  EXPECT_EQ(take(report("n1", 6, 0, kNow, 0)).durable, 5u);
  EXPECT_TRUE(store_->problem().empty());
}

}  // namespace
}  // namespace acrf::hub
