// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/admin_act.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/incident.h"
#include "core/undo.h"

namespace acrf {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Kind = AdminAct::Kind;

AdminAct act(Kind kind, std::optional<int> gpu = std::nullopt) {
  return {kind, "n3", gpu, "fan is loud", "admin alice (1000)"};
}

AdminView in_service() {
  AdminView view;
  view.gpus = 8;
  view.hides_gpus = true;
  return view;
}

AdminView drained(const std::string& reason) {
  auto view = in_service();
  view.node.draining = true;
  view.node.reason = reason;
  return view;
}

TEST(AdminAct, HasNamesThatAreReadBack) {
  for (const auto kind : {Kind::kDrain, Kind::kReturn, Kind::kQuarantine, Kind::kClear})
    EXPECT_EQ(parse_admin_act(name_of(kind)), kind);
  EXPECT_FALSE(parse_admin_act("reboot"));
}

TEST(AdminAct, SaysWhatARequestLacks) {
  EXPECT_EQ(fault_in(act(Kind::kDrain)), "");
  EXPECT_EQ(fault_in(act(Kind::kQuarantine, 3)), "");
  EXPECT_THAT(fault_in(act(Kind::kQuarantine)), HasSubstr("needs a GPU's number"));
  EXPECT_THAT(fault_in(act(Kind::kDrain, 3)), HasSubstr("is of a node"));
  EXPECT_THAT(fault_in(act(Kind::kClear, 64)), HasSubstr("0 to 63"));
  EXPECT_THAT(fault_in(act(Kind::kClear, -1)), HasSubstr("0 to 63"));
  auto nowhere = act(Kind::kReturn);
  nowhere.node.clear();
  EXPECT_THAT(fault_in(nowhere), HasSubstr("needs a node"));
}

TEST(AdminAct, DrainsWhatNobodyHasDrained) {
  EXPECT_EQ(objection_to(act(Kind::kDrain), in_service()), "");
  EXPECT_THAT(objection_to(act(Kind::kDrain), drained("bob's")), HasSubstr("already: bob's"));
  EXPECT_THAT(objection_to(act(Kind::kDrain), drained("ACRF: gpu_lost x rma [n3-1]")),
              HasSubstr("already"));
}

TEST(AdminAct, ReturnsOnlyWhatIsDrainedThroughAcrf) {
  EXPECT_EQ(objection_to(act(Kind::kReturn), drained("ACRF: gpu_lost x rma [n3-1]")), "");
  EXPECT_EQ(objection_to(act(Kind::kReturn), drained(admin_reason(act(Kind::kDrain)))), "");
  EXPECT_THAT(objection_to(act(Kind::kReturn), drained("bob's")),
              HasSubstr("by somebody else: bob's"));
  EXPECT_THAT(objection_to(act(Kind::kReturn), drained("")), HasSubstr("by somebody else"));
  EXPECT_THAT(objection_to(act(Kind::kReturn), in_service()), HasSubstr("not drained"));
}

TEST(AdminAct, GivesAReasonThatNoLadderTakesForAcrfs) {
  const auto reason = admin_reason(act(Kind::kDrain));
  EXPECT_EQ(reason, "acrf drain: fan is loud (admin alice (1000))");
  EXPECT_FALSE(is_acrf_reason(reason));
  EXPECT_TRUE(is_admin_reason(reason));
  EXPECT_FALSE(is_admin_reason("ACRF: gpu_lost x rma [n3-1]"));
  auto shouting = act(Kind::kDrain);
  shouting.reason = std::string(5000, 'x') + "\n";
  EXPECT_LT(admin_reason(shouting).size(), 500u);
}

TEST(AdminAct, HidesAGpuThatIsThereAndNotHidden) {
  auto view = in_service();
  EXPECT_EQ(objection_to(act(Kind::kQuarantine, 7), view), "");
  EXPECT_THAT(objection_to(act(Kind::kQuarantine, 8), view), HasSubstr("has 8 GPUs"));
  view.node.token.health.quarantined = 1 << 7;
  EXPECT_THAT(objection_to(act(Kind::kQuarantine, 7), view), HasSubstr("already"));
  view.hides_gpus = false;
  EXPECT_THAT(objection_to(act(Kind::kQuarantine, 1), view), HasSubstr("select/acrf"));
}

TEST(AdminAct, ClearsOneGpuOrEverything) {
  auto view = in_service();
  EXPECT_THAT(objection_to(act(Kind::kClear, 2), view), HasSubstr("not in quarantine"));
  EXPECT_THAT(objection_to(act(Kind::kClear), view), HasSubstr("no GPU in quarantine"));
  NodeToken token;
  token.health = {0b1100, true, 20, true};
  view.node.token = token;
  EXPECT_EQ(objection_to(act(Kind::kClear, 2), view), "");
  change_token(act(Kind::kClear, 2), token);
  EXPECT_EQ(token.health, (NodeHealth{0b1000, true, 20, true}));
  change_token(act(Kind::kClear), token);
  EXPECT_EQ(token.health, (NodeHealth{0, false, 20, false}));
}

TEST(AdminAct, CanBeUndone) {
  const auto quarantine = parse_undo(undo_text(act(Kind::kQuarantine, 5)));
  ASSERT_TRUE(quarantine.ok());
  EXPECT_EQ(quarantine->gpu, 5);
  EXPECT_TRUE(parse_undo(undo_text(act(Kind::kDrain))).ok());
  EXPECT_EQ(undo_text(act(Kind::kReturn)), "");
  EXPECT_TRUE(may_resume("n3", drained(admin_reason(act(Kind::kDrain))).node, "").ok());
  EXPECT_FALSE(may_resume("n3", drained(admin_reason(act(Kind::kDrain))).node, "n3-1").ok());
  EXPECT_FALSE(may_resume("n3", drained("bob's").node, "").ok());
}

}  // namespace
}  // namespace acrf
