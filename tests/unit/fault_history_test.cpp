// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/fault_history.h"

#include <gtest/gtest.h>

#include "core/classify.h"

namespace acrf {
namespace {

struct Fault {
  std::string message;
  std::int64_t at = 0;
  std::optional<std::uint64_t> job, user;
};

Verdict judge(FaultHistory& history, const Fault& fault) {
  auto event = event_of(classify_line(fault.message)).value();
  event.boot_id = "boot";
  event.unix_s = fault.at;
  event.job = fault.job;
  event.user = fault.user;
  history.judge(event);
  return event.verdict;
}

std::string page_fault(const std::string& bus = "3b") {
  return "NVRM: Xid (PCI:0000:" + bus + ":00): 31, pid=7, name=x, MMU Fault: ENGINE GRAPHICS";
}

std::string exception(int tpc) {
  return "NVRM: Xid (PCI:0000:3b:00): 13, Graphics SM Warp Exception on (GPC 1, TPC " +
         std::to_string(tpc) + ", SM 0): Out Of Range Address";
}

TEST(FaultHistory, AProgramsFaultStaysItsOwn) {
  FaultHistory history;
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(judge(history, {page_fault(), i * 100, 77, 1000}).action, Action::kRestartApp);
}

TEST(FaultHistory, DifferentJobsOfDifferentUsersMakeItTheGpus) {
  FaultHistory history;
  judge(history, {page_fault(), 1000, 77, 1000});
  EXPECT_EQ(judge(history, {page_fault(), 2000, 78, 1000}).action, Action::kRestartApp);
  const auto verdict = judge(history, {page_fault(), 3000, 79, 1001});
  EXPECT_EQ(verdict.fault_class, "gpu_suspect");
  EXPECT_TRUE(evacuates(verdict));
}

TEST(FaultHistory, AfterADayItIsForgotten) {
  FaultHistory history;
  judge(history, {page_fault(), 1000, 77, 1000});
  EXPECT_FALSE(evacuates(judge(history, {page_fault(), 1000 + 86'401, 78, 1001})));
}

TEST(FaultHistory, WhatNobodyCanBeBlamedForProvesNothing) {
  FaultHistory history;
  for (int i = 0; i < 10; ++i)
    EXPECT_FALSE(evacuates(judge(history, {page_fault(), i * 1000, {}, {}})));
}

TEST(FaultHistory, OtherGpusAreOtherMatters) {
  FaultHistory history;
  judge(history, {page_fault("3b"), 1000, 77, 1000});
  EXPECT_FALSE(evacuates(judge(history, {page_fault("4c"), 2000, 78, 1001})));
}

TEST(FaultHistory, AJobOnThreeGpusIsToBlameItself) {
  FaultHistory history;
  judge(history, {page_fault("3b"), 1000, 70, 1000});
  for (const auto* bus : {"4c", "5d", "3b"})
    EXPECT_FALSE(evacuates(judge(history, {page_fault(bus), 2000, 78, 1001}))) << bus;
}

TEST(FaultHistory, ExceptionsCountInTheSameUnitOnly) {
  FaultHistory history;
  judge(history, {exception(3), 1000, 77, 1000});
  EXPECT_FALSE(evacuates(judge(history, {exception(4), 2000, 78, 1001})));
  EXPECT_TRUE(evacuates(judge(history, {exception(3), 3000, 79, 1002})));
}

TEST(FaultHistory, TheNeverHardwareCodesStaySo) {
  FaultHistory history;
  const std::string line = "NVRM: Xid (PCI:0000:3b:00): 43, pid=7, name=x, Ch 00000010";
  judge(history, {line, 1000, 77, 1000});
  EXPECT_FALSE(evacuates(judge(history, {line, 2000, 78, 1001})));
}

TEST(FaultHistory, WithinFiveSecondsOfASpiFault) {
  for (const int after : {5, 6}) {
    FaultHistory history;
    judge(history, {"NVRM: Xid (PCI:0000:3b:00): 122, x", 1000, {}, {}});
    EXPECT_EQ(evacuates(judge(history, {page_fault(), 1000 + after, 77, 1000})), after == 5);
  }
}

TEST(FaultHistory, AfterAPcieErrorOfTheDevice) {
  FaultHistory history;
  judge(history,
        {"pcieport 0000:00:01.2: AER: Uncorrectable (Non-Fatal) error received from 0000:3b:00.0",
         1000,
         {},
         {}});
  EXPECT_FALSE(evacuates(judge(history, {page_fault("4c"), 1001, 77, 1000})));
  EXPECT_EQ(judge(history, {page_fault("3b"), 1001, 77, 1000}).fault_class, "pcie_secondary");
}

TEST(FaultHistory, HangsThatComeBackDrain) {
  const std::string ring =
      "amdgpu 0000:28:00.0: ring gfx_0.0.0 timeout, signaled seq=1, emitted seq=2";
  const std::string engine = "xe 0000:0b:00.0: [drm] Tile0: GT0: Engine reset: engine_class=ccs";
  for (const auto& line : {ring, engine}) {
    FaultHistory history;
    judge(history, {line, 1000, 77, 1000});
    EXPECT_FALSE(evacuates(judge(history, {line, 1100, 78, 1000}))) << "the same burst: " << line;
    EXPECT_TRUE(evacuates(judge(history, {line, 9000, 79, 1000}))) << line;
    FaultHistory unknown;
    judge(unknown, {line, 1000, {}, {}});
    EXPECT_FALSE(evacuates(judge(unknown, {line, 9000, {}, {}}))) << "whose job, nobody knows";
  }
  FaultHistory history;
  judge(history, {ring, 1000, 77, 1000});
  EXPECT_FALSE(evacuates(judge(history, {ring, 9000, 77, 1000}))) << "the same job";
}

TEST(FaultHistory, GspThatFailsAgainNeedsAReboot) {
  FaultHistory history;
  const std::string line =
      "NVRM: Xid (PCI:0000:3b:00): 119, Timeout after 6s of waiting for RPC response from GPU4 "
      "GSP!";
  EXPECT_EQ(judge(history, {line, 1000, {}, {}}).action, Action::kResetGpu);
  EXPECT_EQ(judge(history, {line, 1060, {}, {}}).action, Action::kResetGpu);
  EXPECT_EQ(judge(history, {line, 5000, {}, {}}).action, Action::kRebootNode);
}

TEST(FaultHistory, CarrierLostFiveTimesADayDrains) {
  FaultHistory history;
  const std::string line = "Aug 17 06:18:01 vm-0 systemd-networkd[5398]: ib6: Lost carrier";
  for (int i = 1; i <= 5; ++i)
    EXPECT_EQ(evacuates(judge(history, {line, i * 3600, {}, {}})), i == 5) << i;
}

TEST(FaultHistory, WhatTheSiteHasRuledOnItLeavesAlone) {
  FaultHistory history;
  for (const std::int64_t at : {1000, 9000}) {
    Event event;
    event.verdict = {"gsp", Severity::kFatal, Scope::kGpu, Action::kWatch};
    event.xid = 119;
    event.unix_s = at;
    event.ruled_by_site = true;
    history.judge(event);
    EXPECT_EQ(event.verdict.action, Action::kWatch);
  }
}

// A GPU at an address, in a boot, with its UUID or without.
Verdict judge_at(FaultHistory& history, const std::string& bus, const std::string& boot,
                 const std::string& uuid, const Fault& fault) {
  auto event = event_of(classify_line(page_fault(bus))).value();
  event.boot_id = boot;
  event.gpu_uuid = uuid;
  event.unix_s = fault.at;
  event.job = fault.job;
  event.user = fault.user;
  history.judge(event);
  return event.verdict;
}

TEST(FaultHistory, AGpuThatMovedInARebootKeepsItsPast) {
  FaultHistory history;
  judge_at(history, "3b", "boot-a", "GPU-1", {"", 1000, 77, 1000});
  EXPECT_TRUE(evacuates(judge_at(history, "4c", "boot-b", "GPU-1", {"", 2000, 78, 1001})));
  EXPECT_FALSE(evacuates(judge_at(history, "3b", "boot-b", "GPU-2", {"", 2000, 79, 1002})))
      << "another GPU in its place is another GPU";
}

TEST(FaultHistory, WithoutAUuidAPlaceIsKnownForOneBoot) {
  FaultHistory history;
  judge_at(history, "3b", "boot-a", "", {"", 1000, 77, 1000});
  EXPECT_FALSE(evacuates(judge_at(history, "3b", "boot-b", "", {"", 2000, 78, 1001})));
}

TEST(FaultHistory, WhatCameBeforeTheUuidWasKnownCounts) {
  FaultHistory history;
  judge_at(history, "3b", "boot", "", {"", 1000, 77, 1000});
  EXPECT_TRUE(evacuates(judge_at(history, "3b", "boot", "GPU-1", {"", 2000, 78, 1001})));
  FaultHistory bus;
  judge(bus, {"pcieport 0000:00:01.2: AER: Uncorrectable (Non-Fatal) error received from "
              "0000:3b:00.0",
              1000,
              {},
              {}});
  EXPECT_EQ(judge_at(bus, "3b", "boot", "GPU-1", {"", 1001, 77, 1000}).fault_class,
            "pcie_secondary");
}

TEST(FaultHistory, SurvivesARestart) {
  FaultHistory before;
  judge(before, {exception(3), 1000, 77, 1000});
  judge(before, {"NVRM: Xid (PCI:0000:3b:00): 122, x", 2998, {}, {}});
  FaultHistory after;
  after.take_text(before.to_text());
  EXPECT_EQ(after.to_text(), before.to_text());
  EXPECT_EQ(judge(after, {page_fault(), 3000, 90, 1000}).fault_class, "pcie_secondary");
  EXPECT_TRUE(evacuates(judge(after, {exception(3), 4000, 78, 1001})));
}

TEST(FaultHistory, TakesNothingFromDamagedLines) {
  FaultHistory history;
  history.take_text(
      "past\npast k\npast k x xid%2031 - 1 2\npast k 5 %zz - 1 2\nhardware k\nnonsense k 5\n");
  EXPECT_EQ(history.to_text(), "");
}

TEST(FaultHistory, AnyProgramFaultRightAfterTheBusFailed) {
  FaultHistory history;
  judge(history,
        {"pcieport 0000:00:01.2: AER: Uncorrectable (Non-Fatal) error received from 0000:3b:00.0",
         1000,
         {},
         {}});
  EXPECT_EQ(judge(history, {exception(3), 1001, 77, 1000}).fault_class, "pcie_secondary");
}

}  // namespace
}  // namespace acrf
