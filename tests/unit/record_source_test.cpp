// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/record_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "common/audit_file.h"
#include "common/audit_log.h"
#include "common/incident_store.h"
#include "unit/temporary_directory.h"

namespace acrf {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class Records : public testing::Test {
 protected:
  Records() : store_(*IncidentStore::open(directory_.path("incidents"))) {}

  RecordSource source() const { return {directory_.path(), directory_.path("report/cursor.json")}; }
  // What a hub that has everything durable at once gets from a fresh look.
  std::vector<std::string> sent(RecordSource& source) {
    Outbox outbox(directory_.path("out"), "s" + std::to_string(++streams_));
    source.look(outbox, "550");
    const auto parcel = outbox.news();
    for (const auto& record : outbox.acknowledge(parcel, parcel.items.size(), parcel.items.size()))
      source.confirm(record);
    source.save();
    return parcel.items;
  }
  void save(const std::string& id, const std::string& outcome) {
    Incident incident;
    incident.id = id;
    incident.node = "n1";
    incident.root.verdict.fault_class = "gpu_lost";
    incident.outcome = outcome;
    ASSERT_TRUE(store_.save(incident).ok());
  }

  const TemporaryDirectory directory_;
  IncidentStore store_;
  int streams_ = 0;
};

TEST_F(Records, AnIncidentIsSentWhenItIsNewAndWhenItChanges) {
  auto records = source();
  EXPECT_THAT(sent(records), IsEmpty());
  save("i1", "");
  EXPECT_THAT(sent(records), SizeIs(1));
  EXPECT_THAT(sent(records), IsEmpty());
  ::usleep(5000);  // the record's time tells them apart
  save("i1", "drained");
  const auto again = sent(records);
  ASSERT_THAT(again, SizeIs(1));
  EXPECT_THAT(again[0], HasSubstr("\"outcome\":\"drained\""));
}

TEST_F(Records, ADaemonThatStartsAnewSendsOnlyWhatTheHubLacks) {
  save("i1", "");
  {
    auto records = source();
    EXPECT_THAT(sent(records), SizeIs(1));
    save("i2", "");
    Outbox lost(directory_.path("lost"), "lost");
    records.look(lost, "");  // sent, never acknowledged
  }
  auto records = source();
  const auto items = sent(records);
  ASSERT_THAT(items, SizeIs(1));
  EXPECT_THAT(items[0], HasSubstr("\"id\":\"i2\""));
}

TEST_F(Records, AnAuditEntryIsSentWhenItBeginsAndWhenItEnds) {
  auto file = AuditFile::open(audit_path(directory_.path()));
  ASSERT_TRUE(file.ok()) << file.error().sentence;
  AuditEntry entry;
  entry.node = "n1";
  entry.what = "drain";
  const auto id = file->add(entry, {}, 1000);
  ASSERT_TRUE(id.ok());
  {
    auto records = source();
    EXPECT_THAT(sent(records), SizeIs(1));
    EXPECT_THAT(sent(records), IsEmpty());
  }
  ASSERT_TRUE(file->finish(*id, AuditResult::done(), 2000).ok());
  auto records = source();
  const auto items = sent(records);
  ASSERT_THAT(items, SizeIs(1));
  EXPECT_THAT(items[0], HasSubstr("\"result\":\"done\""));
  EXPECT_THAT(sent(records), IsEmpty());
}

TEST_F(Records, ALongAuditLogComesWholeAndInOrder) {
  auto file = AuditFile::open(audit_path(directory_.path()));
  ASSERT_TRUE(file.ok());
  for (int i = 0; i < 450; ++i)
    ASSERT_TRUE(file->add({}, AuditResult::done(), 1000 + i).ok());
  auto records = source();
  std::size_t items = 0;
  for (int i = 0; i < 5; ++i) items += sent(records).size();
  EXPECT_EQ(items, 450u);
}

TEST_F(Records, AnAuditLogThatBeganAnewIsSentFromItsBeginning) {
  const auto path = audit_path(directory_.path());
  const auto add = [&](int count, const AuditResult& result, const char* what) {
    auto file = AuditFile::open(path);
    ASSERT_TRUE(file.ok()) << file.error().sentence;
    AuditEntry entry;
    entry.what = what;
    for (int i = 0; i < count; ++i) ASSERT_TRUE(file->add(entry, result, 1000 + i).ok());
  };
  add(4, AuditResult(), "drain");
  auto records = source();
  EXPECT_THAT(sent(records), SizeIs(4));
  add(1, AuditResult::done(), "drain");
  Outbox late(directory_.path("late"), "late");
  records.look(late, "");  // on its way when the file is lost
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path + suffix);
  add(2, AuditResult::done(), "requeue");
  EXPECT_THAT(sent(records), testing::AllOf(SizeIs(2), testing::Each(HasSubstr("requeue"))));
  for (const auto& record : late.acknowledge(late.news(), 1, 1)) records.confirm(record);
  records.save();
  EXPECT_THAT(sent(records), IsEmpty());
  add(4, AuditResult::done(), "resume");
  auto again = source();
  EXPECT_THAT(sent(again), testing::AllOf(SizeIs(4), testing::Each(HasSubstr("resume"))));
}

TEST_F(Records, ADamagedCursorMeansThatAllIsSentAgain) {
  save("i1", "");
  auto first = source();
  EXPECT_THAT(sent(first), SizeIs(1));
  directory_.write("report/cursor.json", "{\"audit\":\"x\"}");
  auto second = source();
  EXPECT_THAT(sent(second), SizeIs(1));
}

}  // namespace
}  // namespace acrf
