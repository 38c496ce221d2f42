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

// What readings say goes by the lines for its class: each has its switch and its shadow.
TEST(FaultRule, EveryClassOfReadingsCanBeSwitchedOffOrWatchInTheShadow) {
  const char* const classes[] = {"bad_page_failed",
                                 "bad_page_pending",
                                 "clock_unsynchronized",
                                 "cooling_or_power",
                                 "dcgm_memory",
                                 "dcgm_policy_memory",
                                 "dcgm_policy_nvlink",
                                 "driver_hung",
                                 "ecc_corrected_rate",
                                 "ecc_uncorrectable",
                                 "ecc_uncorrectable_chronic",
                                 "edac_uncorrected",
                                 "fabric_degraded",
                                 "fabric_manager_gone",
                                 "fs_hung",
                                 "gpu_lost",
                                 "gpu_missing",
                                 "gpu_process_stuck",
                                 "gpu_repair_pending",
                                 "gpu_reset_required",
                                 "gpu_wedged",
                                 "hw_slowdown",
                                 "hw_slowdown_lasting",
                                 "ib_carrier_losses",
                                 "ib_down",
                                 "ib_flapping",
                                 "ib_local_link_integrity",
                                 "ib_slow",
                                 "ib_symbol_errors",
                                 "memory_replace",
                                 "nvlink_crc",
                                 "nvlink_down",
                                 "nvlink_errors",
                                 "page_retirement_limit",
                                 "pcie_degraded",
                                 "pcie_fatal",
                                 "pcie_replay",
                                 "persistence_lost",
                                 "ras_uncorrectable",
                                 "recovery_reset",
                                 "roce_icrc_errors",
                                 "row_remap_failure",
                                 "row_remap_pending",
                                 "slurmd_gone",
                                 "sram_ecc_exceeded",
                                 "temperature_limit",
                                 "temperature_limit_lasting",
                                 "xgmi_error"};
  for (const std::string name : classes) {
    const Verdict found{name, Severity::kCritical, Scope::kGpu, Action::kDrain};
    const auto off = site("Fault=class:" + name + " Mode=off\n");
    auto verdict = found;
    ASSERT_TRUE(off.find_rule({}, {}, name)) << name;
    EXPECT_EQ(apply_rule(*off.find_rule({}, {}, name), verdict), std::nullopt);
    EXPECT_EQ(verdict.action, Action::kIgnore) << name;
    const auto shadow = site("Fault=class:" + name + " Mode=shadow\n");
    verdict = found;
    EXPECT_EQ(apply_rule(*shadow.find_rule({}, {}, name), verdict), Action::kDrain) << name;
    EXPECT_EQ(verdict.action, Action::kWatch) << name;
  }
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
