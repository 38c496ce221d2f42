// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/incident.h"

#include <gtest/gtest.h>

namespace acrf {
namespace {

Event lost_gpu(const std::string& discriminator, std::int64_t at, std::uint8_t bus = 0x1a) {
  Event event;
  event.verdict = classify_lost_gpu();
  event.gpu = {0, bus, 0};
  event.boot_id = "boot-a";
  event.source = "kernel log";
  event.discriminator = discriminator;
  event.unix_s = at;
  return event;
}

TEST(Incident, AStormFromOneGpuIsOneIncident) {
  IncidentTracker tracker("n1");
  EXPECT_TRUE(tracker.observe(lost_gpu("1", 1000)));
  for (int i = 2; i < 100; ++i)
    EXPECT_FALSE(tracker.observe(lost_gpu(std::to_string(i), 1000 + i)));
}

TEST(Incident, TwoSourcesOfOneFaultAreOneIncident) {
  IncidentTracker tracker("n1");
  EXPECT_TRUE(tracker.observe(lost_gpu("1", 1000)));
  auto sample = lost_gpu("uuid", 1002);
  sample.source = "nvml";
  EXPECT_FALSE(tracker.observe(sample));
}

TEST(Incident, OtherGpusAreTheirOwn) {
  IncidentTracker tracker("n1");
  EXPECT_TRUE(tracker.observe(lost_gpu("1", 1000)));
  EXPECT_TRUE(tracker.observe(lost_gpu("2", 1000, 0x2b)));
}

// NVML's field says it of every GPU, one after the other.
TEST(Incident, ARebootThatTheDriverWantsIsOneForAllGpus) {
  IncidentTracker tracker("n1");
  const auto reboot = [](const std::string& discriminator, std::uint8_t bus) {
    auto event = lost_gpu(discriminator, 1000, bus);
    event.verdict = {"recovery_reboot", Severity::kCritical, Scope::kNode, Action::kRebootNode};
    return event;
  };
  EXPECT_TRUE(tracker.observe(reboot("1", 0x1a)));
  EXPECT_FALSE(tracker.observe(reboot("2", 0x2b)));
  auto reset = reboot("3", 0x3c);
  reset.verdict = {"recovery_reset", Severity::kCritical, Scope::kGpu, Action::kResetGpu};
  EXPECT_TRUE(tracker.observe(reset));
}

// gres.conf against the bus says that one is missing, but not which.
Event missing_gpu(std::int64_t at) {
  auto event = lost_gpu("count", at);
  event.verdict = {"gpu_missing", Severity::kCritical, Scope::kNode, Action::kRebootNode, true};
  event.gpu = {};
  event.part = "node";
  event.source = "node checks";
  return event;
}

TEST(Incident, ACountOfGpusMeansTheOneThatIsKnownToBeLost) {
  IncidentTracker tracker("n1");
  auto lost = tracker.observe(lost_gpu("1", 1000))->incident;
  EXPECT_FALSE(tracker.observe(missing_gpu(1040)));
  lost.closed_unix_s = 1050;  // drained, its jobs taken care of
  tracker.update(lost);
  EXPECT_FALSE(tracker.observe(missing_gpu(1300)));
  tracker.note_return(lost.id, 1400);
  EXPECT_TRUE(tracker.observe(missing_gpu(1500)));
}

TEST(Incident, ACountOfGpusIsNewsOfItsOwnWithoutALoss) {
  IncidentTracker tracker("n1");
  const auto change = tracker.observe(missing_gpu(1000));
  ASSERT_TRUE(change);
  EXPECT_TRUE(change->newly_evacuates);
  EXPECT_TRUE(tracker.observe(lost_gpu("1", 1010)));
}

TEST(Incident, AnotherFaultOfTheGpuBelongsToItForThreeMinutes) {
  IncidentTracker tracker("n1");
  EXPECT_TRUE(tracker.observe(lost_gpu("1", 1000)));
  auto other = lost_gpu("3", 1180);
  other.verdict.fault_class = "app_fault";
  EXPECT_FALSE(tracker.observe(other));
  other.unix_s = 1361;
  EXPECT_TRUE(tracker.observe(other));
}

TEST(Incident, ComesAgainAfterThreeQuietHours) {
  IncidentTracker tracker("n1");
  EXPECT_TRUE(tracker.observe(lost_gpu("1", 1000)));
  EXPECT_FALSE(tracker.observe(lost_gpu("2", 1000 + 3 * 3600)));
  EXPECT_TRUE(tracker.observe(lost_gpu("3", 1000 + 6 * 3600 + 1)));
}

TEST(Incident, KeepsItsNameWhenTheSameLineIsReadAgain) {
  IncidentTracker before("n1");
  IncidentTracker after("n1");
  IncidentTracker elsewhere("n2");
  const auto id = before.observe(lost_gpu("17", 1000))->incident.id;
  EXPECT_EQ(after.observe(lost_gpu("17", 1000))->incident.id, id);
  EXPECT_NE(elsewhere.observe(lost_gpu("17", 1000))->incident.id, id);
}

TEST(Incident, IsKnownAfterARestart) {
  IncidentTracker first("n1");
  const auto incident = first.observe(lost_gpu("1", 1000))->incident;
  IncidentTracker tracker("n1");
  tracker.update(incident);
  EXPECT_FALSE(tracker.observe(lost_gpu("2", 1010)));
}

// The admin put the node back, and the GPU fails again.
TEST(Incident, AnEventLongAfterItsHandlingEndedOpensANewOne) {
  IncidentTracker tracker("n1");
  auto incident = tracker.observe(lost_gpu("1", 1000))->incident;
  EXPECT_FALSE(tracker.observe(lost_gpu("2", 1200)));
  incident.closed_unix_s = 1210;
  tracker.update(incident);
  EXPECT_FALSE(tracker.observe(lost_gpu("3", 1270)));
  EXPECT_TRUE(tracker.observe(lost_gpu("4", 1271)));
  EXPECT_FALSE(tracker.observe(lost_gpu("5", 2000)));
}

TEST(Incident, AfterAnAdminsResumeTheNextEventIsNews) {
  IncidentTracker tracker("n1");
  auto incident = tracker.observe(lost_gpu("1", 1000))->incident;
  incident.closed_unix_s = 1010;
  incident.taken_over = true;
  tracker.update(incident);
  EXPECT_FALSE(tracker.observe(lost_gpu("2", 1010)));
  EXPECT_TRUE(tracker.observe(lost_gpu("3", 1011)));
}

// The repair was quick, and the GPU fails again before the echo of the first fault is over.
TEST(Incident, AfterARepairTheNextEventIsNews) {
  IncidentTracker tracker("n1");
  auto incident = tracker.observe(lost_gpu("1", 1000))->incident;
  tracker.note_return(incident.id, 1015);
  incident.closed_unix_s = 1016;
  tracker.update(incident);
  EXPECT_FALSE(tracker.observe(lost_gpu("2", 1015)));
  EXPECT_TRUE(tracker.observe(lost_gpu("3", 1016)));
}

TEST(Incident, AVerdictEndsWithItsBoot) {
  IncidentTracker tracker("n1");
  EXPECT_TRUE(tracker.observe(lost_gpu("1", 1000)));
  auto next_boot = lost_gpu("1", 1100);
  next_boot.boot_id = "boot-b";
  EXPECT_TRUE(tracker.observe(next_boot));
}

TEST(Incident, TheReasonHasTheFormOthersRelyOn) {
  Incident incident;
  incident.id = "n1-0123456789";
  incident.root = lost_gpu("1", 1000);
  const auto reason = drain_reason(incident);
  EXPECT_EQ(reason, "ACRF: gpu_lost 0000:1a:00 reboot_node [n1-0123456789]");
  EXPECT_TRUE(is_acrf_reason(reason));
  EXPECT_TRUE(reason_names(reason, incident));
  EXPECT_FALSE(is_acrf_reason("NHC: ACRF: no"));
  EXPECT_FALSE(reason_names("broken [n1-0123456789]", incident));
}

TEST(Incident, WhatActsIsNotHiddenBehindWhatIsOnlyLookedInto) {
  IncidentTracker tracker("n1");
  auto link = lost_gpu("1", 1000);
  link.verdict = {"nvlink", Severity::kCritical, Scope::kFabric, Action::kCheckFabric};
  link.rank = 70;
  EXPECT_TRUE(tracker.observe(link));
  auto memory = lost_gpu("2", 1010);
  memory.verdict = {"ecc_uncorrectable", Severity::kFatal, Scope::kGpu, Action::kResetGpu};
  memory.rank = 60;
  const auto change = tracker.observe(memory);
  ASSERT_TRUE(change);
  EXPECT_TRUE(change->newly_evacuates);
  EXPECT_EQ(change->incident.root.verdict.fault_class, "ecc_uncorrectable");
}

TEST(Incident, AnotherActingFaultRightAfterOneWasTakenCareOfIsNews) {
  IncidentTracker tracker("n1");
  auto first = lost_gpu("1", 1000);
  first.verdict = {"gsp", Severity::kFatal, Scope::kGpu, Action::kResetGpu};
  auto incident = tracker.observe(first)->incident;
  incident.closed_unix_s = 1010;
  tracker.update(incident);
  EXPECT_FALSE(tracker.observe(first)) << "an echo";
  const auto change = tracker.observe(lost_gpu("2", 1020));
  ASSERT_TRUE(change);
  EXPECT_EQ(change->kind, Change::Kind::kOpened);
}

Event pending_remap(std::int64_t at) {
  auto event = lost_gpu("remap", at);
  event.verdict = {"remap_pending", Severity::kCritical, Scope::kGpu, Action::kResetGpu, true};
  event.xid = 63;
  event.rank = 60;
  return event;
}

TEST(Incident, WhatCannotWaitIsNewsAfterWhatCould) {
  IncidentTracker tracker("n1");
  const auto opened = tracker.observe(pending_remap(1000));
  ASSERT_TRUE(opened);
  EXPECT_TRUE(opened->newly_evacuates);
  EXPECT_FALSE(opened->newly_urgent);
  auto event = lost_gpu("ue", 1010);
  event.verdict = {"hbm_ue", Severity::kFatal, Scope::kGpu, Action::kResetGpu};
  event.rank = 30;  // a lesser cause all the same
  const auto change = tracker.observe(event);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->kind, Change::Kind::kStronger);
  EXPECT_TRUE(change->newly_urgent);
  EXPECT_FALSE(change->newly_evacuates);
  EXPECT_EQ(change->incident.id, opened->incident.id);
  EXPECT_EQ(change->incident.root.verdict.fault_class, "hbm_ue");
  EXPECT_FALSE(change->incident.root.verdict.at_job_end);
}

TEST(Incident, UrgencyIsToldOnceAndNeverTakenBack) {
  IncidentTracker tracker("n1");
  tracker.observe(lost_gpu("1", 1000));
  auto waits = pending_remap(1010);
  waits.rank = 90;
  EXPECT_FALSE(tracker.observe(waits));  // it names a higher rank, and would let jobs run on
  waits.xid = 154;                       // the driver's own word
  waits.verdict.action = Action::kRma;
  const auto change = tracker.observe(waits);
  ASSERT_TRUE(change);
  EXPECT_FALSE(change->newly_urgent);
  EXPECT_FALSE(change->incident.root.verdict.at_job_end);
}

TEST(Incident, TheDriversWordToResetAtOnceHastensAReset) {
  IncidentTracker tracker("n1");
  tracker.observe(pending_remap(1000));
  auto word = pending_remap(1005);
  word.xid = 154;
  word.rank = 0;
  word.verdict = {"recovery_action", Severity::kFatal, Scope::kGpu, Action::kRebootNode};
  const auto change = tracker.observe(word);
  ASSERT_TRUE(change);
  EXPECT_TRUE(change->newly_urgent);
  EXPECT_EQ(change->incident.root.xid, 63);
  EXPECT_EQ(change->incident.root.verdict.action, Action::kRebootNode);
  EXPECT_FALSE(change->incident.root.verdict.at_job_end);
}

TEST(Incident, WhatWaitedBeforeARestartIsHastenedAfterIt) {
  IncidentTracker before("n1");
  const auto waiting = before.observe(pending_remap(1000))->incident;
  IncidentTracker tracker("n1");
  tracker.update(waiting);
  const auto change = tracker.observe(lost_gpu("1", 1010));
  ASSERT_TRUE(change);
  EXPECT_TRUE(change->newly_urgent);
  EXPECT_EQ(change->incident.id, waiting.id);
}

}  // namespace
}  // namespace acrf
