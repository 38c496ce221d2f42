// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "common/file.h"
#include "common/verdict_file.h"
#include "temporary_directory.h"

namespace acrf {
namespace {

using testing::HasSubstr;

class CheckCacheFile : public testing::Test {
 protected:
  NodeVerdict read(std::int64_t now_ms, const std::string& boot = "boot-a") const {
    return read_check_cache(path_, boot, now_ms);
  }
  TemporaryDirectory directory_;
  std::string path_ = verdict_path(directory_.path());
  CheckCache cache_{path_, "boot-a"};
  const NodeVerdict ok_{CheckStatus::kOk, "HEALTHY", "no findings"};
  const NodeVerdict bad_{CheckStatus::kCritical, "XID_CRITICAL_79", "gpu_lost 0000:1a:00: gone"};
};

TEST_F(CheckCacheFile, GivesBackWhatTheDaemonFound) {
  ASSERT_TRUE(cache_.publish(bad_, 1000).ok());
  EXPECT_EQ(read(1001), bad_);
}

TEST_F(CheckCacheFile, AChangeIsWrittenAtOnceAndTheRestWhenDue) {
  ASSERT_TRUE(cache_.publish(ok_, 1000).ok());
  ASSERT_TRUE(cache_.publish(bad_, 1001).ok());
  EXPECT_EQ(read(1002), bad_);
  std::filesystem::remove(path_);
  ASSERT_TRUE(cache_.publish(bad_, 1002).ok());
  EXPECT_FALSE(std::filesystem::exists(path_));
  ASSERT_TRUE(cache_.publish(bad_, 1001 + kCheckCacheEveryMs).ok());
  EXPECT_TRUE(std::filesystem::exists(path_));
}

TEST_F(CheckCacheFile, MissingStaleFutureOtherBootOrBrokenIsUnknown) {
  EXPECT_EQ(read(0).status, CheckStatus::kUnknown);
  ASSERT_TRUE(cache_.publish(ok_, 100'000).ok());
  EXPECT_EQ(read(100'000 + kCheckCacheStaleMs).status, CheckStatus::kOk);
  EXPECT_EQ(read(100'001 + kCheckCacheStaleMs).status, CheckStatus::kUnknown);
  EXPECT_EQ(read(99'999).status, CheckStatus::kUnknown);
  EXPECT_EQ(read(100'000, "boot-b").status, CheckStatus::kUnknown);
  EXPECT_THAT(read(100'000, "boot-b").text, HasSubstr("earlier boot"));
  for (
      const auto* text :
      {"", "{", "[]", "{\"version\":1}", "{\"version\":2}",
       R"({"version":1,"boot_id":"boot-a","boottime_ms":0,"status":9,"class":"HEALTHY","text":""})",
       R"({"version":1,"boot_id":"boot-a","boottime_ms":"0","status":0,"class":"HEALTHY","text":""})",
       R"({"version":1,"boot_id":"boot-a","boottime_ms":0,"status":0,"class":7,"text":""})"}) {
    directory_.write("verdict.json", text);
    EXPECT_EQ(read(0).status, CheckStatus::kUnknown) << text;
  }
}

TEST_F(CheckCacheFile, ProgramsOfOtherUsersMayRead) {
  ASSERT_TRUE(cache_.publish(ok_, 0).ok());
  struct stat status;
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644u);
}

}  // namespace
}  // namespace acrf
