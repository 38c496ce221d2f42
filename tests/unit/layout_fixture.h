// SPDX-License-Identifier: GPL-2.0-or-later
// Checkpoints of one layout on a real disk, judged with the layout recognised and with it given.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "common/checkpoint_dir.h"
#include "core/checkpoint_layouts.h"
#include "layouts.h"

namespace acrf {

class Layouts : public testing::Test {
 protected:
  // What `acrf checkpoint list` says of it; nothing when it is complete.
  std::optional<std::string> defect(const std::string& name) const {
    const CheckpointDir files(directory_.path());
    const CheckpointJudge recognising(files, CheckpointFormat::kAuto);
    for (const auto& entry : recognising.candidates()) {
      if (entry.name != name) continue;
      EXPECT_EQ(name_of(recognising.format_of(entry)), name_of(format_)) << name;
      const auto found = CheckpointJudge(files, format_).defect_of(entry);
      EXPECT_EQ(recognising.defect_of(entry), found) << name;
      return found;
    }
    return "not listed";
  }
  std::optional<std::string> newest() const {
    return newest_complete(CheckpointDir(directory_.path()));
  }
  void expect_whole(const std::string& name) const { EXPECT_EQ(defect(name), std::nullopt); }
  void expect_broken(const std::string& name, const std::string& why) const {
    EXPECT_THAT(defect(name), testing::Optional(testing::HasSubstr(why)));
  }

  TemporaryDirectory directory_;
  CheckpointFormat format_ = CheckpointFormat::kManifest;
};

}  // namespace acrf
