// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/case_store.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>

#include "common/file.h"
#include "temporary_directory.h"

namespace acrf {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr std::int64_t kNow = 1'800'000'000;

Case some_case() {
  Case sick;
  sick.key = "n1-first";
  sick.id = "n1-second";
  sick.node = "n1";
  sick.gpu_uuid = "GPU-1";
  sick.gpu_index = 3;
  sick.gpus_expected = 8;
  sick.fault_class = "ecc_uncorrectable";
  sick.asked = Action::kResetGpu;
  sick.whole_node = false;
  sick.state = CaseState::kResetting;
  sick.since_s = kNow - 5;
  sick.contained_s = kNow - 50;
  sick.boot_id = "boot";
  sick.program_started = true;
  sick.tried = {{Remedy::kReset, kNow - 5}};
  sick.faults_s = {kNow - 60, kNow - 50};
  return sick;
}

TEST(CaseStore, GivesBackAllThatWasSaved) {
  TemporaryDirectory dir;
  const auto store = CaseStore::open(dir.path() + "/cases");
  ASSERT_TRUE(store.ok());
  ASSERT_TRUE(store->save(some_case()).ok());
  std::vector<std::string> complaints;
  const auto cases = store->load_all(kNow, complaints);
  ASSERT_THAT(cases, SizeIs(1));
  EXPECT_EQ(CaseStore::to_json(cases[0]), CaseStore::to_json(some_case()));
  EXPECT_TRUE(complaints.empty());
  struct stat status;
  ASSERT_EQ(::stat((dir.path() + "/cases").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST(CaseStore, SetsUnreadableRecordsAside) {
  TemporaryDirectory dir;
  const auto store = CaseStore::open(dir.path());
  ASSERT_TRUE(store.ok());
  ASSERT_TRUE(write_file(dir.path() + "/n1-1.json", R"({"key":"n1-1","state":"dancing"})").ok());
  std::vector<std::string> complaints;
  EXPECT_THAT(store->load_all(kNow, complaints), SizeIs(0));
  ASSERT_THAT(complaints, SizeIs(1));
  EXPECT_THAT(complaints[0], HasSubstr("n1-1.json"));
  EXPECT_TRUE(std::filesystem::exists(dir.path() + "/n1-1.json.bad"));
}

TEST(CaseStore, ForgetsWhatTheLadderNoLongerCounts) {
  TemporaryDirectory dir;
  const auto store = CaseStore::open(dir.path());
  ASSERT_TRUE(store.ok());
  auto sick = some_case();
  sick.state = CaseState::kHealthy;
  sick.ended_s = kNow - 41 * 86400;
  ASSERT_TRUE(store->save(sick).ok());
  sick.key = "n1-recent";
  sick.ended_s = kNow - 29 * 86400;
  ASSERT_TRUE(store->save(sick).ok());
  std::vector<std::string> complaints;
  EXPECT_THAT(store->load_all(kNow, complaints), SizeIs(1));
  EXPECT_THAT(store->load_all(kNow, complaints), SizeIs(1));
  EXPECT_FALSE(std::filesystem::exists(dir.path() + "/n1-first.json"));
}

}  // namespace
}  // namespace acrf
