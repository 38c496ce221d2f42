// SPDX-License-Identifier: GPL-2.0-or-later
// The fuzz targets without a fuzzer: the texts of their corpus, changed at random; the same ones in
// every run.
#include <gtest/gtest.h>

#include <filesystem>

#include "build_paths.h"
#include "common/file.h"
#include "fuzz/targets.h"
#include "random.h"

namespace acrf {
namespace {

std::string changed(Random& random, std::string text) {
  for (int changes = 1 + random.below(6); changes > 0; --changes) {
    const auto at = static_cast<std::size_t>(random.below(static_cast<int>(text.size()) + 1));
    switch (random.below(4)) {
      case 0: text.insert(at, 1, static_cast<char>(random.below(256))); break;
      case 1: text.erase(at, static_cast<std::size_t>(random.below(5))); break;
      case 2: text.insert(at, text.substr(at / 2, 8)); break;
      default:
        if (at < text.size()) text[at] = "=,:%+ \n\"\\#[]-/9"[random.below(15)];
    }
  }
  return text;
}

class Fuzz : public testing::TestWithParam<fuzz::Target> {};

TEST_P(Fuzz, DamagedTextDoesNoHarm) {
  const auto corpus = std::filesystem::path(ACRF_FUZZ_CORPUS) / GetParam().name;
  Random random(20261116);
  int texts = 0;
  for (const auto& entry : std::filesystem::directory_iterator(corpus)) {
    const auto text = read_file(entry.path());
    ASSERT_TRUE(text) << entry.path();
    GetParam().feed(*text);
    for (int i = 0; i < 1500; ++i) GetParam().feed(changed(random, *text));
    ++texts;
  }
  EXPECT_GT(texts, 0) << corpus;
}

INSTANTIATE_TEST_SUITE_P(OfEveryKind, Fuzz,
                         testing::ValuesIn(fuzz::targets().begin(), fuzz::targets().end()),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace acrf
