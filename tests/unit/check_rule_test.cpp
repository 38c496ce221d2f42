// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/check_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "build_paths.h"
#include "common/file.h"
#include "core/config.h"

namespace acrf {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

TEST(CheckLine, ANewCheckIsInShadowAndOnlyWatches) {
  const auto config = parse_config("Check=disk Program=/opt/check\n", "acrf.conf");
  ASSERT_TRUE(config.ok()) << config.error().sentence;
  ASSERT_EQ(config->checks.size(), 1u);
  EXPECT_EQ(config->checks[0].mode, CheckMode::kShadow);
  EXPECT_EQ(config->checks[0].action, Action::kWatch);
}

TEST(CheckLine, IsShownAsItIsRead) {
  const std::string line =
      "Check=disk Program=\"/opt/check -w 5\" Interval=60 Timeout=5 Action=drain Mode=on";
  const auto config = parse_config(line, "acrf.conf");
  ASSERT_TRUE(config.ok()) << config.error().sentence;
  EXPECT_EQ(config->checks[0].program, (std::vector<std::string>{"/opt/check", "-w", "5"}));
  EXPECT_EQ(to_line(config->checks[0]), line);
}

TEST(CheckLine, MistakesHaveFileAndLine) {
  for (const auto& [text, reason] : std::vector<std::pair<std::string, std::string>>{
           {"Check=a", "a Check needs a Program"},
           {"Check=\"a b\" Program=/x", "a name of letters"},
           {"Check=a Program=x", "must be an absolute path"},
           {"Check=a Program=/x Action=reboot_node", "must be watch or drain"},
           {"Check=a Program=/x Mode=yes", "must be off, shadow or on"},
           {"Check=a Program=/x Interval=1", "from 10 to 86400"},
           {"Check=a Program=/x Shell=yes", "a Check has no 'Shell'"},
           {"Check=a Program=/x Mode=on Mode=off", "a Check is a line of Key=value"},
           {"Check=a Program=/x\nCheck=a Program=/y", "already on line 2"}}) {
    const auto config = parse_config("Mode=observe\n" + text, "acrf.conf");
    ASSERT_FALSE(config.ok()) << text;
    EXPECT_THAT(config.error().sentence, StartsWith("acrf.conf:")) << text;
    EXPECT_THAT(config.error().sentence, HasSubstr(reason)) << text;
  }
}

TEST(CheckLine, EveryKeyStandsInTheManual) {
  const auto manual = read_file(ACRF_TEST_DATA "/../../doc/man/acrf.conf.5");
  ASSERT_TRUE(manual.ok());
  for (const auto& key : check_keys())
    EXPECT_THAT(*manual, HasSubstr(".TP\n.B " + std::string(key.name) + "\n" +
                                   std::string(key.help) + "\n"));
}

CheckRule draining() {
  CheckRule rule;
  rule.name = "disk";
  rule.action = Action::kDrain;
  return rule;
}

TEST(CheckHistory, TwoCriticalResultsOfThreeAct) {
  CheckHistory history(draining());
  EXPECT_THAT(history.observe({2, "bad"}), testing::SizeIs(0));
  const auto found = history.observe({2, "bad"});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].verdict.fault_class, "check_disk");
  EXPECT_EQ(found[0].verdict.action, Action::kDrain);
  EXPECT_TRUE(found[0].verdict.at_job_end);
  EXPECT_EQ(found[0].evidence, "bad");
}

TEST(CheckHistory, UnknownTimeoutAndCrashAreNeverActedOn) {
  CheckHistory history(draining());
  for (int i = 0; i < 10; ++i)
    for (const auto& result : {CheckResult{3, "?"}, CheckResult{std::nullopt, "killed"},
                               CheckResult{127, ""}, CheckResult{-1, ""}})
      EXPECT_THAT(history.observe(result), IsEmpty());
}

TEST(CheckHistory, AWarningIsWatchedWhateverTheAction) {
  CheckHistory history(draining());
  history.observe({1, "warm"});
  EXPECT_EQ(history.observe({1, "warm"}).at(0).verdict.action, Action::kWatch);
}

}  // namespace
}  // namespace acrf
