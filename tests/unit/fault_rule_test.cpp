// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/fault_rule.h"

#include <gtest/gtest.h>

#include "core/classify.h"
#include "core/config.h"

namespace acrf {
namespace {

Catalog site(std::string_view conf) {
  auto config = parse_config(conf, "acrf.conf");
  EXPECT_TRUE(config) << config.error().sentence;
  return Catalog::with_rules(config->faults);
}

LineVerdict lost_gpu(const Catalog& catalog) {
  return classify_line("NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.", catalog);
}

TEST(FaultRule, TheSiteHasTheLastWord) {
  const auto catalog = site("Fault=xid:79 Action=drain Severity=critical Scope=node\n");
  const auto found = lost_gpu(catalog);
  EXPECT_EQ(found.verdict.action, Action::kDrain);
  EXPECT_EQ(found.verdict.severity, Severity::kCritical);
  EXPECT_EQ(found.verdict.scope, Scope::kNode);
}

TEST(FaultRule, ARuleCanBeSwitchedOffOrWatchInTheShadow) {
  const auto off = lost_gpu(site("Fault=class:gpu_lost Mode=off\n"));
  EXPECT_EQ(off.verdict.action, Action::kIgnore);
  const auto shadow = lost_gpu(site("Fault=xid:79 Mode=shadow\n"));
  EXPECT_EQ(shadow.verdict.action, Action::kWatch);
  EXPECT_EQ(shadow.shadowed, Action::kRebootNode);
}

TEST(FaultRule, CodesGoBeforeClasses) {
  const auto catalog = site("Fault=class:gpu_lost Mode=off\nFault=xid:79 Action=rma\n");
  EXPECT_EQ(lost_gpu(catalog).verdict.action, Action::kRma);
}

TEST(FaultRule, ACodeOfTheSiteAlone) {
  const auto catalog = site("Fault=xid:200 Action=drain Severity=critical\n");
  EXPECT_TRUE(evacuates(classify_line("NVRM: Xid (PCI:0000:3b:00): 200, x", catalog).verdict));
}

TEST(FaultRule, DoesNotMakeAUsersWordTrue) {
  const auto catalog = site("Fault=xid:79 Action=drain\n");
  EXPECT_EQ(classify_line("12,1,2,-;NVRM: Xid (PCI:0000:3b:00): 79, x", catalog).verdict.action,
            Action::kIgnore);
}

TEST(FaultRule, ErrorsNameFileAndLine) {
  const auto error = [](std::string_view conf) { return parse_config(conf, "f").error().sentence; };
  EXPECT_EQ(error("\nFault=xid:79 Action=jump\n"), "f:2: Action=jump: is no action");
  EXPECT_EQ(error("Fault=79 Action=drain\n"), "f:1: Fault=79: must be xid:N, sxid:N or class:NAME");
  EXPECT_EQ(error("Fault=xid:79 Colour=red\n"), "f:1: Colour=red: is no field of a Fault");
  EXPECT_EQ(error("Fault=xid:79 Mode=maybe\n"), "f:1: Mode=maybe: must be on, shadow or off");
  EXPECT_EQ(error("Fault=xid:79 Mode=off\nFault=xid:79 Mode=on\n"),
            "f:2: Fault xid:79 is already on line 1");
  EXPECT_EQ(error("Fault=xid:79\n"),
            "f:1: Fault=xid:79 changes nothing: give Action, Severity, Scope or Mode");
}

TEST(FaultRule, IsWrittenAsItIsRead) {
  for (const std::string line :
       {"Fault=xid:63 Action=watch Severity=warning", "Fault=class:gsp Scope=node Mode=shadow",
        "Fault=sxid:20034 Mode=on"}) {
    const auto config = parse_config(line, "f");
    ASSERT_TRUE(config) << line;
    EXPECT_EQ(to_line(config->faults[0]), line);
  }
}

}  // namespace
}  // namespace acrf
