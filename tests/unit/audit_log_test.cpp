// SPDX-License-Identifier: GPL-2.0-or-later
// The audit log on real files, and on file systems that are full, read-only or damaged.
#include "common/audit_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <fstream>

#include "common/file.h"
#include "common/unique_fd.h"
#include "temporary_directory.h"

namespace acrf {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::SizeIs;
using State = AuditResult::State;

AuditEntry drain_of(const std::string& node, const std::string& incident = "i1") {
  AuditEntry entry;
  entry.node = node;
  entry.incident = incident;
  entry.kind = AuditKind::kAct;
  entry.what = "drain";
  entry.subject = node;
  entry.decided_by = "gpu_lost";
  entry.mode = Mode::kEnforce;
  entry.evidence = "NVRM: Xid (PCI:0000:1a:00): 79, pid=1, GPU has fallen off the bus.";
  entry.undo = "resume " + node;
  return entry;
}

AuditLog::Options options_for(const std::string& path) {
  AuditLog::Options options;
  options.path = path;
  options.patience = seconds(10);  // a busy test machine is no slow disk
  options.retry = milliseconds(20);
  return options;
}

std::vector<AuditRecord> records_in(const std::string& path, AuditQuery query = {}) {
  auto records = find_audit_records(path, query);
  EXPECT_TRUE(records.ok()) << (records ? "" : records.error().sentence);
  return records ? *records : std::vector<AuditRecord>();
}

std::vector<std::string> set_aside_in(const TemporaryDirectory& directory) {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(directory.path())) {
    const auto name = file.path().filename().string();
    if (name.starts_with("audit.db.bad-") && !name.ends_with("-wal")) names.push_back(name);
  }
  return names;
}

bool comes_true(const std::function<bool()>& condition) {
  const auto limit = std::chrono::steady_clock::now() + seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return true;
}

TEST(AuditLog, ShowsAnActBeforeItsResult) {
  const TemporaryDirectory directory;
  const auto path = directory.path("state/audit.db");
  AuditLog log(options_for(path));
  const auto id = log.begin(drain_of("n1"));
  ASSERT_TRUE(id.is_recorded());
  auto records = records_in(path);
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_EQ(records[0].id, id.value);
  EXPECT_EQ(records[0].result.state, State::kPending);
  EXPECT_EQ(records[0].entry.what, "drain");
  EXPECT_EQ(records[0].entry.undo, "resume n1");
  EXPECT_EQ(records[0].entry.mode, Mode::kEnforce);
  EXPECT_GT(records[0].entry.unix_ms, 1'700'000'000'000);
  log.finish(id, AuditResult::failed("slurmctld said no"));
  ASSERT_TRUE(log.flush(seconds(10)));
  records = records_in(path);
  EXPECT_EQ(records[0].result.state, State::kFailed);
  EXPECT_EQ(records[0].result.sentence, "slurmctld said no");
  EXPECT_GE(records[0].finished_unix_ms, records[0].entry.unix_ms);
}

TEST(AuditLog, IsForItsOwnerOnly) {
  const TemporaryDirectory directory;
  const auto path = directory.path("state/audit.db");
  AuditLog log(options_for(path));
  log.begin(drain_of("n1"));
  struct stat status;
  ASSERT_EQ(::stat(directory.path("state").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  for (const char* suffix : {"", "-wal", "-shm"}) {
    ASSERT_EQ(::stat((path + suffix).c_str(), &status), 0) << suffix;
    EXPECT_EQ(status.st_mode & 0777, 0600u) << suffix;
  }
}

TEST(AuditLog, WritesNothingWhereOthersMayWrite) {
  const TemporaryDirectory directory;
  ASSERT_EQ(::chmod(directory.path().c_str(), 0777), 0);
  AuditLog log(options_for(directory.path("audit.db")));
  EXPECT_FALSE(log.begin(drain_of("n1")).is_recorded());
  EXPECT_FALSE(std::filesystem::exists(directory.path("audit.db")));
}

TEST(AuditLog, FollowsNoLink) {
  const TemporaryDirectory directory;
  directory.write("precious", "text");
  std::filesystem::create_symlink(directory.path("precious"), directory.path("audit.db"));
  AuditLog log(options_for(directory.path("audit.db")));
  EXPECT_TRUE(log.begin(drain_of("n1")).is_recorded());
  EXPECT_EQ(*read_file(directory.path("precious")), "text");
}

TEST(AuditLog, FindsByNodeIncidentTimeAndNumber) {
  const TemporaryDirectory directory;
  const auto path = directory.path("audit.db");
  constexpr std::int64_t kStart = 4'000'000'000'000;  // never too old
  AuditLog log(options_for(path));
  for (int i = 1; i <= 5; ++i) {
    auto entry = drain_of(i % 2 ? "odd" : "even", "i" + std::to_string(i));
    entry.unix_ms = kStart + i * 1000;
    log.record(entry, i == 5 ? AuditResult{} : AuditResult::done());
  }
  EXPECT_THAT(records_in(path, {.node = "odd"}), SizeIs(3));
  EXPECT_THAT(records_in(path, {.incident = "i2"}), SizeIs(1));
  EXPECT_THAT(records_in(path, {.since_unix_ms = kStart + 4000}), SizeIs(2));
  EXPECT_THAT(records_in(path, {.pending = true}), SizeIs(1));
  const auto newest = records_in(path, {.newest = 2});
  ASSERT_THAT(newest, SizeIs(2));
  EXPECT_EQ(newest[0].entry.incident, "i4");
  EXPECT_THAT(records_in(path, {.after_id = newest[0].id}), SizeIs(1));
  EXPECT_THAT(records_in(path, {.id = newest[0].id}), SizeIs(1));
}

TEST(AuditLog, KeepsBytesAndCutsFloods) {
  const TemporaryDirectory directory;
  const auto path = directory.path("audit.db");
  AuditLog log(options_for(path));
  auto entry = drain_of("n1");
  entry.subject = std::string("a\0b'; DROP TABLE entry; --", 25);
  entry.evidence = std::string(100'000, 'x') + "\xff";
  ASSERT_TRUE(log.begin(entry).is_recorded());
  const auto records = records_in(path);
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_EQ(records[0].entry.subject, entry.subject);
  EXPECT_EQ(records[0].entry.evidence.size(), kLongestEvidence);
}

// A process killed at any point leaves a database that is whole, with the entry of each act that
// was begun; the next one finds which acts have no result.
TEST(AuditLog, SurvivesAKillAtAnyPoint) {
  for (int round = 0; round < 8; ++round) {
    const TemporaryDirectory directory;
    const auto path = directory.path("audit.db");
    int channel[2];
    ASSERT_EQ(::pipe(channel), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(channel[0]);
      AuditLog log(options_for(path));
      while (true) {
        const auto id = log.begin(drain_of("n1"));
        if (::write(channel[1], &id, sizeof id) != sizeof id) ::_exit(1);
        log.finish(id, AuditResult::done());
      }
    }
    ::close(channel[1]);
    UniqueFd pipe(channel[0]);
    AuditId last;
    for (int i = 0; i <= 7 * round; ++i)
      ASSERT_EQ(::read(pipe.get(), &last, sizeof last), static_cast<ssize_t>(sizeof last));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    while (::read(pipe.get(), &last, sizeof last) == static_cast<ssize_t>(sizeof last)) {
    }
    ASSERT_THAT(records_in(path, {.id = last.value}), SizeIs(1));
    const auto pending = records_in(path, {.pending = true});
    EXPECT_LE(pending.size(), 2u);  // the one reported last, and one that was not yet reported
    auto options = options_for(path);
    {
      AuditLog admins(options);  // a command beside the daemon leaves them alone
      ASSERT_TRUE(admins.flush(seconds(10)));
    }
    EXPECT_THAT(records_in(path, {.pending = true}), SizeIs(pending.size()));
    options.ends_pending = true;
    AuditLog log(options);
    const auto next = log.begin(AuditEntry{});
    ASSERT_TRUE(log.flush(seconds(10)));
    ASSERT_THAT(records_in(path, {.pending = true}), SizeIs(1)) << "what it has begun itself";
    EXPECT_EQ(records_in(path, {.pending = true})[0].id, next.value);
    for (const auto& record : pending)
      EXPECT_EQ(records_in(path, {.id = record.id})[0].result.state, AuditResult::State::kUnknown);
    EXPECT_THAT(set_aside_in(directory), SizeIs(0));
  }
}

TEST(AuditLog, SetsADamagedFileAsideAndBeginsANewOne) {
  for (const bool all : {true, false}) {
    const TemporaryDirectory directory;
    const auto path = directory.path("audit.db");
    {
      AuditLog log(options_for(path));
      for (int i = 0; i < 200; ++i) log.record(drain_of("n1"), AuditResult::done());
    }
    const auto size = std::filesystem::file_size(path);
    {
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(all ? 0 : 8192);
      file << std::string(all ? size : 8192, '\x5a');
    }
    AuditLog log(options_for(path));
    const auto id = log.begin(drain_of("n2"));
    EXPECT_TRUE(id.is_recorded());
    ASSERT_THAT(records_in(path), SizeIs(1));
    ASSERT_THAT(set_aside_in(directory), SizeIs(1));
    EXPECT_EQ(std::filesystem::file_size(directory.path(set_aside_in(directory)[0])), size);
  }
}

TEST(AuditLog, NoticesDamageWhileItRuns) {
  const TemporaryDirectory directory;
  const auto path = directory.path("audit.db");
  auto options = options_for(path);
  options.tidy = milliseconds(20);
  AuditLog log(options);
  const auto before = log.begin(drain_of("n1"));
  ASSERT_TRUE(before.is_recorded());
  for (const char* suffix : {"", "-wal"})
    std::ofstream(path + suffix, std::ios::binary) << std::string(8192, '\x5a');
  ASSERT_TRUE(comes_true([&] { return set_aside_in(directory).size() == 1; }));
  const auto after = log.begin(drain_of("n2"));
  EXPECT_TRUE(after.is_recorded());
  EXPECT_GT(after.value, before.value);  // a number is never given twice
  log.finish(before, AuditResult::done());
  log.finish(after, AuditResult::done());
  ASSERT_TRUE(log.flush(seconds(10)));
  const auto records = records_in(path);
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_EQ(records[0].result.state, State::kDone);
}

TEST(AuditLog, GoesOnWhenItsFileIsRemoved) {
  const TemporaryDirectory directory;
  const auto path = directory.path("audit.db");
  AuditLog log(options_for(path));
  const auto before = log.begin(drain_of("n1"));
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path + suffix);
  const auto after = log.begin(drain_of("n2"));
  EXPECT_TRUE(after.is_recorded());
  EXPECT_GT(after.value, before.value);
  EXPECT_THAT(records_in(path), SizeIs(1));
}

TEST(AuditLog, KeepsFewDamagedFiles) {
  const TemporaryDirectory directory;
  const auto path = directory.path("audit.db");
  for (int i = 0; i < 6; ++i) {
    directory.write("audit.db",
                    "no database, but long enough to be looked at as one" + std::string(600, '.'));
    ASSERT_TRUE(set_aside(path, 1000 + i).ok());
  }
  EXPECT_THAT(
      set_aside_in(directory),
      testing::UnorderedElementsAre("audit.db.bad-1003", "audit.db.bad-1004", "audit.db.bad-1005"));
}

TEST(AuditLog, LeavesANewerVersionsFileAlone) {
  const TemporaryDirectory directory;
  const auto path = directory.path("audit.db");
  { AuditLog(options_for(path)).begin(drain_of("n1")); }
  {
    auto database = sqlite::Database::open(path, true, 1000);
    ASSERT_TRUE(database->execute("PRAGMA user_version=9").ok());
  }
  AuditLog log(options_for(path));
  EXPECT_FALSE(log.begin(drain_of("n1")).is_recorded());
  EXPECT_THAT(set_aside_in(directory), SizeIs(0));
}

TEST(AuditLog, ReadersDoNotStopTheWriter) {
  const TemporaryDirectory directory;
  const auto path = directory.path("audit.db");
  AuditLog log(options_for(path));
  log.begin(drain_of("n1"));
  auto reader = sqlite::Database::open(path, false, 0);
  ASSERT_TRUE(reader->execute("BEGIN").ok());
  EXPECT_EQ(*reader->number("SELECT count(*) FROM entry"), 1);
  EXPECT_TRUE(log.begin(drain_of("n2")).is_recorded());
  EXPECT_EQ(*reader->number("SELECT count(*) FROM entry"), 1);  // as of its beginning
  ASSERT_TRUE(reader->execute("COMMIT").ok());
  EXPECT_EQ(*reader->number("SELECT count(*) FROM entry"), 2);
}

// Another process that holds the file delays no act, and nothing is lost.
TEST(AuditLog, AWriterInTheWayDelaysNoAct) {
  const TemporaryDirectory directory;
  const auto path = directory.path("audit.db");
  auto options = options_for(path);
  { AuditLog(options).begin(drain_of("n1")); }
  auto other = sqlite::Database::open(path, true, 0);
  ASSERT_TRUE(other->execute("BEGIN IMMEDIATE").ok());
  options.patience = milliseconds(1);
  AuditLog log(options);
  const auto id = log.begin(drain_of("n2"));
  EXPECT_FALSE(id.is_recorded());
  log.finish(id, AuditResult::done());
  ASSERT_TRUE(other->execute("COMMIT").ok());
  ASSERT_TRUE(log.flush(seconds(20)));
  const auto records = records_in(path, {.node = "n2"});
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_EQ(records[0].result.state, State::kDone);
}

TEST(AuditLog, ForgetsWhatIsTooOld) {
  const TemporaryDirectory directory;
  auto file = AuditFile::open(directory.path("audit.db"));
  ASSERT_TRUE(file.ok());
  constexpr std::int64_t kDay = 86'400'000;
  auto entry = drain_of("n1");
  for (int day = 1; day <= 10; ++day) {
    entry.unix_ms = day * kDay;
    for (int i = 0; i < 30; ++i) ASSERT_TRUE(file->add(entry, AuditResult::done(), 1).ok());
  }
  int steps = 0;
  while (*file->trim({.days = 3, .megabytes = 1000}, 10 * kDay)) ++steps;
  EXPECT_GT(steps, 1);
  const auto left = records_in(directory.path("audit.db"), {.newest = 1000});
  EXPECT_EQ(left.size(), 4u * 30);
  EXPECT_EQ(left.front().entry.unix_ms, 7 * kDay);
}

TEST(AuditLog, StaysWithinItsSize) {
  const TemporaryDirectory directory;
  const auto path = directory.path("audit.db");
  auto file = AuditFile::open(path);
  auto entry = drain_of("n1");
  entry.unix_ms = 1000;
  entry.evidence = std::string(8000, 'e');
  std::int64_t last = 0;
  for (int i = 0; i < 400; ++i) last = *file->add(entry, AuditResult::done(), 1);
  while (*file->trim({.days = 1000, .megabytes = 1}, 2000)) {
  }
  ASSERT_FALSE(file->is_replaced());
  auto database = sqlite::Database::open(path, false, 1000);
  EXPECT_LE(*database->number("PRAGMA page_count") * 4096, 1'100'000);
  EXPECT_THAT(records_in(path, {.id = last}), SizeIs(1));
}

// A file system of its own, so small or so closed that nothing can be written.
class AuditMount : public testing::Test {
 protected:
  bool mount(unsigned long flags, const std::string& size) {
    if (::geteuid() != 0) return false;
    const auto data = "mode=0700,size=" + size;
    mounted_ = ::mount("tmpfs", directory_.path().c_str(), "tmpfs", flags, data.c_str()) == 0;
    return mounted_;
  }
  ~AuditMount() override {
    if (mounted_) ::umount2(directory_.path().c_str(), MNT_DETACH);
  }
  TemporaryDirectory directory_;
  bool mounted_ = false;
};

TEST_F(AuditMount, AFullDiskStopsNothingAndIsCaughtUpWith) {
  if (!mount(0, "400k")) GTEST_SKIP() << "needs root and the right to mount";
  const auto path = directory_.path("audit.db");
  AuditLog log(options_for(path));
  ASSERT_TRUE(log.begin(drain_of("n1")).is_recorded());
  {
    std::ofstream filler(directory_.path("filler"), std::ios::binary);
    for (int i = 0; i < 200 && filler; ++i) (filler << std::string(4096, 'f')).flush();
  }
  auto entry = drain_of("n2");
  entry.evidence = std::string(8000, 'e');
  AuditId id{1};
  std::size_t begun = 0;
  for (; id.is_recorded() && begun < 100; ++begun) id = log.begin(entry);
  ASSERT_FALSE(id.is_recorded()) << "the disk did not fill up";
  log.finish(id, AuditResult::done("drained"));
  std::filesystem::remove(directory_.path("filler"));
  ASSERT_TRUE(log.flush(seconds(20)));
  const auto records = records_in(path, {.node = "n2"});
  ASSERT_EQ(records.size(), begun);
  EXPECT_EQ(records.back().result.sentence, "drained");
}

TEST_F(AuditMount, AReadOnlyDiskStopsNothing) {
  if (!mount(MS_RDONLY, "1m")) GTEST_SKIP() << "needs root and the right to mount";
  const auto path = directory_.path("audit.db");
  AuditLog log(options_for(path));
  const auto id = log.begin(drain_of("n1"));
  EXPECT_FALSE(id.is_recorded());
  log.finish(id, AuditResult::done());
  ASSERT_EQ(::mount(nullptr, directory_.path().c_str(), nullptr, MS_REMOUNT, nullptr), 0);
  ASSERT_TRUE(log.flush(seconds(20)));
  const auto records = records_in(path);
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_EQ(records[0].result.state, State::kDone);
}

}  // namespace
}  // namespace acrf
