// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/incident_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "temporary_directory.h"

namespace acrf {
namespace {

Incident example(const std::string& id, Phase phase, std::int64_t at = 5) {
  Incident incident;
  incident.id = id;
  incident.node = "n1";
  incident.phase = phase;
  incident.enforced = true;
  incident.drained_unix_s = 77;
  incident.closed_unix_s = 88;
  incident.root.verdict = classify_lost_gpu();
  incident.root.gpu = {0, 0x1a, 0};
  incident.root.gpu_uuid = "GPU-1";
  incident.root.boot_id = "boot";
  incident.root.source = "kernel log";
  incident.root.evidence = "bytes \xff and \"quotes\"";
  incident.root.discriminator = "9";
  incident.root.unix_s = at;
  return incident;
}

TEST(IncidentStore, GivesBackWhatWasSaved) {
  const TemporaryDirectory directory;
  const auto store = IncidentStore::open(directory.path("incidents"));
  ASSERT_TRUE(store.ok());
  ASSERT_TRUE(store->save(example("n1-a", Phase::kDrained)).ok());
  std::vector<std::string> complaints;
  const auto loaded = store->load_all(complaints);
  ASSERT_EQ(loaded.size(), 1u);
  EXPECT_TRUE(complaints.empty());
  EXPECT_EQ(loaded[0].id, "n1-a");
  EXPECT_EQ(loaded[0].phase, Phase::kDrained);
  EXPECT_EQ(loaded[0].drained_unix_s, 77);
  EXPECT_EQ(loaded[0].closed_unix_s, 88);
  EXPECT_EQ(loaded[0].root.verdict.action, Action::kRebootNode);
  EXPECT_EQ(loaded[0].root.gpu, (PciAddress{0, 0x1a, 0}));
}

TEST(IncidentStore, AWithdrawalOutlastsWhoeverWritesTheRecord) {
  const TemporaryDirectory directory;
  {
    const auto store = IncidentStore::open(directory.path("incidents"));
    ASSERT_TRUE(store->save(example("n1-a", Phase::kSeen)).ok());
    ASSERT_TRUE(store->withdraw("n1-a").ok());
    ASSERT_TRUE(store->save(example("n1-a", Phase::kSeen)).ok());
  }
  const auto store = IncidentStore::open(directory.path("incidents"));
  EXPECT_TRUE(store->is_withdrawn("n1-a"));
  EXPECT_FALSE(store->is_withdrawn("n1-b"));
  std::vector<std::string> complaints;
  EXPECT_EQ(store->load_all(complaints).size(), 1u);
  EXPECT_TRUE(complaints.empty());
  ASSERT_TRUE(store->save(example("n1-a", Phase::kDone)).ok());
  store->prune(0);
  EXPECT_FALSE(store->is_withdrawn("n1-a"));
}

TEST(IncidentStore, IsForItsOwnerOnly) {
  const TemporaryDirectory directory;
  const auto store = IncidentStore::open(directory.path("incidents"));
  ASSERT_TRUE(store->save(example("n1-a", Phase::kSeen)).ok());
  struct stat status;
  ASSERT_EQ(::stat(directory.path("incidents").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  ASSERT_EQ(::stat(directory.path("incidents/n1-a.json").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST(IncidentStore, SetsUnreadableRecordsAside) {
  const TemporaryDirectory directory;
  const auto store = IncidentStore::open(directory.path("incidents"));
  ASSERT_TRUE(store->save(example("n1-good", Phase::kSeen)).ok());
  directory.write("incidents/n1-cut.json", "{\"id\": \"n1-cut\"");
  directory.write("incidents/n1-alien.json", "{\"id\": \"n1-alien\", \"phase\": \"unheard of\"}");
  std::vector<std::string> complaints;
  EXPECT_EQ(store->load_all(complaints).size(), 1u);
  EXPECT_EQ(complaints.size(), 2u);
  EXPECT_TRUE(std::filesystem::exists(directory.path("incidents/n1-cut.json.bad")));
  complaints.clear();
  EXPECT_EQ(store->load_all(complaints).size(), 1u);
  EXPECT_TRUE(complaints.empty());
}

TEST(IncidentStore, PrunesOldFinishedOnesOnly) {
  const TemporaryDirectory directory;
  const auto store = IncidentStore::open(directory.path("incidents"));
  for (int i = 0; i < 5; ++i)
    ASSERT_TRUE(store->save(example("n1-done" + std::to_string(i), Phase::kDone, i)).ok());
  ASSERT_TRUE(store->save(example("n1-open", Phase::kSeen, 0)).ok());
  store->prune(2);
  EXPECT_TRUE(std::filesystem::exists(directory.path("incidents/n1-open.json")));
  EXPECT_TRUE(std::filesystem::exists(directory.path("incidents/n1-done4.json")));
  EXPECT_TRUE(std::filesystem::exists(directory.path("incidents/n1-done3.json")));
  EXPECT_FALSE(std::filesystem::exists(directory.path("incidents/n1-done2.json")));
}

}  // namespace
}  // namespace acrf
