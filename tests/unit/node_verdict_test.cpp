// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/node_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace acrf {
namespace {

using testing::HasSubstr;

const Verdict kEcc{"gpu_ecc_uncorrectable", Severity::kCritical, Scope::kGpu, Action::kResetGpu};
const Verdict kWarm{"thermal_slowdown", Severity::kWarning, Scope::kGpu, Action::kWatch};

const Verdict kUnknownXid{"unknown_xid", Severity::kWarning, Scope::kGpu, Action::kWatch};

Finding finding(Verdict verdict, std::string where = "0000:1a:00") {
  return {std::move(verdict), std::move(where), "seen"};
}

TEST(NodeVerdict, NothingFoundIsHealthy) {
  const auto verdict = judge_node({}, {});
  EXPECT_EQ(verdict.node_class, "HEALTHY");
  EXPECT_EQ(verdict.status, CheckStatus::kOk);
}

TEST(NodeVerdict, ASilentSourceIsNotHealthyAndHidesNoFault) {
  const std::vector<std::string> silent = {"NVML: no answer"};
  EXPECT_EQ(judge_node({}, silent).status, CheckStatus::kUnknown);
  EXPECT_THAT(judge_node({}, silent).text, HasSubstr("NVML"));
  const std::vector<Finding> findings = {finding(classify_lost_gpu())};
  EXPECT_EQ(judge_node(findings, silent).status, CheckStatus::kCritical);
}

TEST(NodeVerdict, ClassesAreThoseOfTheMission) {
  EXPECT_EQ(health_state(classify_lost_gpu(), 79), "XID_CRITICAL_79");
  EXPECT_EQ(health_state(kUnknownXid, 9999), "XID_WARNING_9999");
  EXPECT_EQ(health_state({"hbm_ue", Severity::kFatal, Scope::kGpu, Action::kResetGpu}, 48),
            "XID_CRITICAL_48");
  EXPECT_EQ(health_state(kEcc, {}), "ECC_ERROR");
  EXPECT_EQ(health_state(kWarm, {}), "GPU_HEALTH_WARNING");
  EXPECT_EQ(health_state({"ib_down", Severity::kCritical, Scope::kNode, Action::kDrain}, {}),
            "GPU_HEALTH_ERROR");
  EXPECT_EQ(health_state({"note", Severity::kInfo, Scope::kNode, Action::kWatch}, {}), "HEALTHY");
}

// A program's own fault is no reason to keep jobs off the node.
TEST(NodeVerdict, WhatOnlyRestartsTheProgramIsAWarning) {
  const Verdict application{"mem_contained", Severity::kCritical, Scope::kProcess,
                            Action::kRestartApp};
  EXPECT_EQ(health_state(application, 94), "XID_CRITICAL_94");
  const std::vector<Finding> findings = {finding(application)};
  EXPECT_EQ(judge_node(findings, {}).status, CheckStatus::kWarning);
}

TEST(NodeVerdict, TheWorstNamesTheNode) {
  const std::vector<Finding> findings = {finding(kWarm), finding(kEcc, "0000:20:00"),
                                         finding(kUnknownXid)};
  const auto verdict = judge_node(findings, {});
  EXPECT_EQ(verdict.node_class, "ECC_ERROR");
  EXPECT_EQ(verdict.text, "gpu_ecc_uncorrectable 0000:20:00: seen (and 2 more)");
}

TEST(NodeVerdict, TheTextIsOneShortPrintableLine) {
  auto hostile = finding(kWarm);
  hostile.evidence = "a\nOK\x1b[2J\xff" + std::string(5000, 'x');
  const std::vector<Finding> findings = {hostile};
  const auto text = judge_node(findings, {}).text;
  EXPECT_LE(text.size(), 400u);
  for (const char c : text) EXPECT_TRUE(c >= ' ' && c < 0x7f);
}

TEST(CurrentFindings, LinesHoldForTheirTimeAndChecksForAsLongAsTheySaySo) {
  CurrentFindings current;
  current.note(finding(kWarm), 100);
  current.note(finding(classify_lost_gpu()), CurrentFindings::kForThisBoot);
  current.replace("node", {finding(kEcc)});
  EXPECT_EQ(current.at(100).size(), 3u);
  EXPECT_EQ(current.at(101).size(), 2u);
  current.replace("node", {});
  EXPECT_EQ(current.at(101).size(), 1u);
  current.forget("gpu_lost", "0000:1a:00");
  EXPECT_TRUE(current.at(101).empty());
}

// A node that an admin has resumed is the admin's.
TEST(CurrentFindings, WhatAnAdminTookOverDoesNotCountUntilItComesAnew) {
  CurrentFindings current;
  current.replace("node", {finding(kEcc, "mc0"), finding(kWarm, "mc0")});
  current.forget(kEcc.fault_class, "mc0");
  current.replace("node", {finding(kEcc, "mc0"), finding(kWarm, "mc0")});
  EXPECT_EQ(current.at(0).size(), 1u);
  current.replace("node", {});
  current.replace("node", {finding(kEcc, "mc0")});
  EXPECT_EQ(current.at(0).size(), 1u);
}

TEST(CurrentFindings, TheSameFindingAgainIsOneAndHoldsLonger) {
  CurrentFindings current;
  current.note(finding(kWarm), 100);
  current.note(finding(kWarm), 200);
  EXPECT_EQ(current.at(150).size(), 1u);
}

}  // namespace
}  // namespace acrf
