// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/undo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace acrf {
namespace {

using testing::HasSubstr;

AuditRecord drained() {
  AuditRecord record;
  record.id = 7;
  record.entry.mode = Mode::kEnforce;
  record.entry.what = "drain";
  record.entry.incident = "n3-abc";
  record.entry.undo = "resume n3";
  record.result = AuditResult::done();
  return record;
}

TEST(Undo, IsWrittenAsItIsRead) {
  for (const char* text :
       {"resume n3", "unquarantine n3 5", "unquarantine n3 5 GPU-1", "release 9"})
    EXPECT_EQ(to_text(*parse_undo(text)), text);
}

TEST(Undo, UnderstandsNothingElse) {
  for (const char* text :
       {"", "resume", "resume a b", "unquarantine n3", "unquarantine n3 64", "unquarantine n3 x",
        "release 0", "release x", "release 99999999999", "reboot n3"})
    EXPECT_FALSE(parse_undo(text).ok()) << text;
}

TEST(Undo, IsOfActsThatWereDone) {
  EXPECT_EQ(undo_of(drained())->node, "n3");
  auto record = drained();
  record.result = AuditResult::unknown("killed");
  EXPECT_TRUE(undo_of(record).ok());
  record.result = AuditResult::failed("no");
  EXPECT_THAT(undo_of(record).error().sentence, HasSubstr("nothing was done"));
  record.result = {};
  EXPECT_THAT(undo_of(record).error().sentence, HasSubstr("under way"));
  record = drained();
  record.entry.mode = Mode::kObserve;
  EXPECT_THAT(undo_of(record).error().sentence, HasSubstr("observed"));
  record = drained();
  record.undone_by = 8;
  EXPECT_THAT(undo_of(record).error().sentence, HasSubstr("by entry 8"));
  record = drained();
  record.entry.undo = "";
  EXPECT_THAT(undo_of(record).error().sentence, HasSubstr("cannot be undone"));
}

TEST(Undo, LeavesWhatAnAdminChanged) {
  NodeView view;
  view.draining = true;
  view.reason = "ACRF: gpu_lost 0000:1a:00 reboot_node [n3-abc]";
  EXPECT_TRUE(may_resume("n3", view, "n3-abc").ok());
  EXPECT_THAT(may_resume("n3", view, "n3-ab").error().sentence, HasSubstr("another incident"));
  view.reason = "fan replacement [n3-abc]";
  EXPECT_THAT(may_resume("n3", view, "n3-abc").error().sentence, HasSubstr("somebody else"));
  view.draining = false;
  EXPECT_THAT(may_resume("n3", view, "n3-abc").error().sentence, HasSubstr("not drained"));
}

TEST(Undo, TakesOneGpuOutOfQuarantine) {
  const auto undo = *parse_undo("unquarantine n3 5");
  NodeHealth health;
  health.quarantined = 0b101000;
  health.risk = 20;
  EXPECT_TRUE(take_out_of_quarantine(undo, health).ok());
  EXPECT_EQ(health.quarantined, GpuMask{0b001000});
  EXPECT_EQ(health.risk, 20);
  EXPECT_THAT(take_out_of_quarantine(undo, health).error().sentence, HasSubstr("any more"));
  EXPECT_EQ(health.quarantined, GpuMask{0b001000});
}

}  // namespace
}  // namespace acrf
