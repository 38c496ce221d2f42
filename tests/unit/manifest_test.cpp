// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/checkpoint_dir.h"
#include "common/checkpoint_seal.h"
#include "core/crc32c.h"
#include "temporary_directory.h"

namespace acrf {
namespace {

using testing::HasSubstr;
using testing::Optional;

TEST(Manifest, SurvivesWritingAndReading) {
  for (const bool checksums : {false, true}) {
    const auto sum = checksums ? std::optional<std::uint32_t>(0xc0ffee) : std::nullopt;
    const auto text = format_manifest({{0, "empty", sum}, {7, "dir/with blank", sum}});
    EXPECT_THAT(text, HasSubstr(checksums ? "acrf-manifest 2\n0 00c0ffee empty\n"
                                          : "acrf-manifest 1\n0 empty\n"));
    const auto files = parse_manifest(text);
    ASSERT_TRUE(files.ok());
    ASSERT_EQ(files->size(), 2u);
    EXPECT_EQ((*files)[1].path, "dir/with blank");
    EXPECT_EQ((*files)[1].crc32c, sum);
  }
}

TEST(Manifest, CutAnywhereItIsRefused) {
  for (const auto& whole : {format_manifest({{10, "a", {}}, {20, "b", {}}}),
                            format_manifest({{10, "a", 1}, {20, "b", 2}})})
    for (std::size_t length = 0; length + 1 < whole.size(); ++length)
      EXPECT_FALSE(parse_manifest(whole.substr(0, length)).ok()) << length;
}

TEST(Manifest, NamesNothingOutsideItsCheckpoint) {
  for (const auto path : {"/etc/passwd", "../x", "a/../../x", "a//b", "./a", ""})
    for (const auto sum : {std::optional<std::uint32_t>(), std::optional<std::uint32_t>(1)})
      EXPECT_FALSE(parse_manifest(format_manifest({{1, path, sum}})).ok()) << path;
}

TEST(Manifest, LinesWithoutAGoodChecksumAreRefused) {
  for (const auto line : {"10 a", "10 0000000g a", "10 123 a", "10 123456789 a", "10 12345678"})
    EXPECT_FALSE(parse_manifest("acrf-manifest 2\n" + std::string(line) + "\nend 1\n").ok())
        << line;
}

TEST(Manifest, SizesAreComparedAndFilesMustExist) {
  const TemporaryDirectory directory;
  directory.write("c/a", "0123456789");
  directory.write("c/acrf-manifest", "acrf-manifest 1\n10 a\nend 1\n");
  const CheckpointDir files(directory.path());
  EXPECT_EQ(manifest_defect(files, "c"), std::nullopt);
  directory.write("c/acrf-manifest", "acrf-manifest 1\n20 a\nend 1\n");
  EXPECT_THAT(manifest_defect(files, "c"),
              Optional(HasSubstr("a has 10 bytes, the manifest says 20")));
  directory.write("c/acrf-manifest", "acrf-manifest 1\n10 b\nend 1\n");
  EXPECT_THAT(manifest_defect(files, "c"), Optional(HasSubstr("b is missing")));
  EXPECT_THAT(manifest_defect(files, "d"), Optional(HasSubstr("no acrf-manifest")));
}

TEST(Manifest, AChangedByteIsFoundByItsChecksumOnly) {
  const TemporaryDirectory directory;
  const std::string large(3 << 20, 'x');
  directory.write("c/large", large);
  directory.write("c/empty", "");
  ASSERT_TRUE(seal_checkpoint(directory.path("c")).ok());
  const CheckpointDir files(directory.path());
  EXPECT_EQ(checksum_defect(files, "c"), std::nullopt);
  auto damaged = large;
  damaged[2'500'000] ^= 1;
  directory.write("c/large", damaged);
  EXPECT_EQ(manifest_defect(files, "c"), std::nullopt);
  EXPECT_THAT(checksum_defect(files, "c"), Optional(HasSubstr("large has checksum ")));
}

TEST(Crc32c, MatchesThePublishedVectors) {
  EXPECT_EQ(crc32c(""), 0u);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
}

TEST(Crc32c, PiecesAddUpToTheWhole) {
  const std::string text = "the quick brown fox jumps over the lazy dog";
  for (std::size_t cut = 0; cut <= text.size(); ++cut)
    EXPECT_EQ(crc32c(text.substr(cut), crc32c(text.substr(0, cut))), crc32c(text)) << cut;
}

}  // namespace
}  // namespace acrf
