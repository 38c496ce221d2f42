// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "build_paths.h"
#include "common/config_file.h"
#include "common/file.h"
#include "core/text.h"
#include "temporary_directory.h"

namespace acrf {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Config, AnEmptyFileIsTheSafeDefault) {
  const auto config = parse_config("", "acrf.conf");
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->mode, Mode::kObserve);
  EXPECT_EQ(config->kernel_log, "/dev/kmsg");
}

TEST(Config, ReadsSlurmsSyntax) {
  const auto config = parse_config(
      "# a comment\n\n  mode = enforce # why not\nSTATEDIR=\"/var/lib/a # "
      "b\"\nSampleInterval=2\r\n",
      "acrf.conf");
  ASSERT_TRUE(config.ok()) << config.error().sentence;
  EXPECT_EQ(config->mode, Mode::kEnforce);
  EXPECT_EQ(config->state_dir, "/var/lib/a # b");
  EXPECT_EQ(config->sample_interval_s, 2);
  EXPECT_EQ(config->line_of.at("Mode"), 3);
}

TEST(Config, ALineThatGoesOnAtTheEndOfTheFileCounts) {
  const auto config = parse_config("Policy=p MaxRequeues=3\nMode=enforce \\", "acrf.conf");
  ASSERT_TRUE(config.ok()) << config.error().sentence;
  EXPECT_EQ(config->mode, Mode::kEnforce);
  const auto twice = parse_config("Policy=p MaxRequeues=3 \\\\", "acrf.conf");
  ASSERT_TRUE(twice.ok()) << twice.error().sentence;
  EXPECT_EQ(twice->policies.size(), 1u);
}

TEST(Config, NodeNameGoesIntoPaths) { EXPECT_EQ(expand_node("/x/%n/y%%n%", "n7"), "/x/n7/y%n%"); }

TEST(Config, EverySettingCanBeShownAndReadBack) {
  const Config defaults;
  std::string text;
  for (const auto& setting : settings())
    text += std::string(setting.name) + "=" + setting_value(defaults, setting) + "\n";
  const auto config = parse_config(text, "acrf.conf");
  ASSERT_TRUE(config.ok()) << config.error().sentence;
  for (const auto& setting : settings())
    EXPECT_EQ(setting_value(*config, setting), setting_value(defaults, setting));
}

// Each file in tests/data/conf opens with a comment: the sentence it must be refused with.
TEST(Config, BadFilesAreRefusedWithLineAndReason) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ACRF_TEST_DATA "/conf")) {
    const auto text = read_file(entry.path());
    ASSERT_TRUE(text.ok());
    std::string_view expected = *text;
    ASSERT_TRUE(take_prefix(expected, "# "));
    expected = expected.substr(0, expected.find('\n'));
    const auto config = load_config(entry.path(), true);
    ASSERT_FALSE(config.ok()) << entry.path();
    EXPECT_THAT(config.error().sentence, StartsWith(entry.path().string() + ":"));
    EXPECT_THAT(config.error().sentence, HasSubstr(std::string(expected)));
    ++files;
  }
  EXPECT_GE(files, 5);
}

TEST(Config, AMissingFileMattersOnlyWhenNamed) {
  EXPECT_TRUE(load_config("/nonexistent/acrf.conf", false).ok());
  EXPECT_FALSE(load_config("/nonexistent/acrf.conf", true).ok());
}

// Every setting stands in the manual with its default and its help text.
TEST(Config, TheManualSaysWhatTheTableSays) {
  const auto manual = read_file(ACRF_TEST_DATA "/../../doc/man/acrf.conf.5");
  ASSERT_TRUE(manual.ok());
  for (const auto& setting : settings()) {
    const auto entry = ".BR " + std::string(setting.name) + " \" (" +
                       setting_value(Config(), setting) + ")\"\n" + std::string(setting.help) +
                       "\n";
    EXPECT_THAT(*manual, HasSubstr(entry));
  }
  for (const auto& key : policy_keys())
    EXPECT_THAT(*manual, HasSubstr(".TP\n.B " + std::string(key.name) + "\n" +
                                   std::string(key.help) + "\n"));
  for (const auto& key : fault_keys())
    EXPECT_THAT(*manual, HasSubstr(".TP\n.B " + std::string(key.name) + "\n" +
                                   std::string(key.help) + "\n"));
}

TEST(Config, TheExampleFileIsValid) {
  const auto config = load_config(ACRF_TEST_DATA "/../../contrib/examples/acrf.conf.example", true);
  ASSERT_TRUE(config.ok()) << config.error().sentence;
  EXPECT_EQ(config->mode, Mode::kObserve);
  ASSERT_EQ(config->policies.size(), 4u);
  EXPECT_EQ(config->policies[2].checkpoint_over_s, 12 * 3600);
}

// What it shows behind a '#' are the defaults.
TEST(Config, TheExampleFileShowsTheDefaults) {
  const auto text = read_file(ACRF_TEST_DATA "/../../contrib/examples/acrf.conf.example");
  ASSERT_TRUE(text.ok());
  for (const auto& setting : settings()) {
    if (setting.name == "Mode" || setting.name == "FakeGpuState" || setting.name == "NodeRoot")
      continue;
    EXPECT_THAT(*text, HasSubstr("\n#" + std::string(setting.name) + "=" +
                                 setting_value(Config(), setting) + "\n"));
  }
}

TEST(Config, AFaultyFileLeavesTheLastGoodOneInForce) {
  const TemporaryDirectory directory;
  const auto path = directory.path("acrf.conf");
  const auto kept = directory.path("kept");
  directory.write("acrf.conf", "SampleInterval=zero\n");
  EXPECT_FALSE(load_config_or_kept(path, kept, true).ok());  // nothing was good yet
  directory.write("acrf.conf", "SampleInterval=7\n");
  ASSERT_TRUE(load_config_or_kept(path, kept, true).ok());
  directory.write("acrf.conf", "SampleInterval=zero\n");
  const auto faulty = load_config_or_kept(path, kept, true);
  ASSERT_TRUE(faulty.ok()) << faulty.error().sentence;
  EXPECT_EQ(faulty->config.sample_interval_s, 7);
  EXPECT_THAT(faulty->problem, HasSubstr("acrf.conf:1: SampleInterval=zero"));
  // Readers that keep nothing change nothing; a file that is gone means the defaults.
  directory.write("acrf.conf", "SampleInterval=8\n");
  EXPECT_EQ(load_config_or_kept(path, kept, false)->config.sample_interval_s, 8);
  EXPECT_EQ(*read_file(kept), "SampleInterval=7\n");
  std::filesystem::remove(path);
  ASSERT_TRUE(load_config_or_kept(path, kept, true).ok());
  EXPECT_EQ(*read_file(kept), "");
}

}  // namespace
}  // namespace acrf
