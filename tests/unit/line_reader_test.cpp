// SPDX-License-Identifier: GPL-2.0-or-later
// Logs as nodes write them, from lines to incidents.
#include "core/line_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/fault_history.h"
#include "core/incident.h"
#include "core/text.h"

namespace acrf {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

struct Who {
  std::optional<std::uint64_t> job, user;
};

class Node {
 public:
  std::vector<Change> read(const std::string& text, Who who = {}) {
    std::vector<Change> changes;
    for (const auto line : split(text, '\n')) {
      auto event = reader_.read(parse_log_line(line)).event;
      if (!event) continue;
      event->boot_id = "boot";
      event->source = "kernel log";
      event->discriminator = std::to_string(++lines_);
      event->job = who.job;
      event->user = who.user;
      history_.judge(*event);
      if (auto change = tracker_.observe(*event)) changes.push_back(*change);
    }
    return changes;
  }
  std::vector<Incident> incidents() const { return tracker_.incidents(); }

 private:
  LineReader reader_{Catalog::builtin()};
  FaultHistory history_;
  IncidentTracker tracker_{"n1"};
  int lines_ = 0;
};

std::string xid(int at, const std::string& bus, int code, const std::string& detail = "x") {
  return "[" + std::to_string(at) + ".000000] NVRM: Xid (PCI:0000:" + bus +
         ":00): " + std::to_string(code) + ", pid=7, name=python3, " + detail + "\n";
}

std::string sxid(int at, int device, const std::string& rest) {
  return "[" + std::to_string(at) + ".5] nvidia-nvswitch" + std::to_string(device) +
         ": SXid (PCI:0000:0" + std::to_string(device) + ":00.0): " + rest + "\n";
}

TEST(Chain, ALostGpuIsTheRootOfTheSwitchStormAfterIt) {
  Node node;
  std::string log = xid(100, "91", 79, "GPU has fallen off the bus.") +
                    "[100.1] NVRM: GPU 0000:91:00.0: GPU has fallen off the bus.\n";
  for (int link = 0; link < 48; ++link)
    log += sxid(112, link % 4, "20034, Fatal, Link " + std::to_string(link) + " LTSSM Fault Up") +
           sxid(112, link % 4, "20034, Severity 1 Engine instance 60 Sub-engine instance 00");
  for (const auto* bus : {"91", "19", "3b", "4c"})
    log += xid(115, bus, 45, "Ch 00000001 caused by previous Xid 79");
  const auto changes = node.read(log);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].kind, Change::Kind::kOpened);
  ASSERT_EQ(node.incidents().size(), 1u);
  const auto incident = node.incidents()[0];
  EXPECT_EQ(incident.root.verdict.fault_class, "gpu_lost");
  EXPECT_EQ(incident.root.verdict.action, Action::kRebootNode);
  EXPECT_EQ(place_of(incident.root), "0000:91:00");
  EXPECT_EQ(incident.count, 1);
  EXPECT_EQ(incident.lines, 54);
  EXPECT_THAT(incident.companions, ElementsAre("sxid 20034", "xid 45"));
}

TEST(Chain, ALostGpuTakesOverAnIncidentThatTheSwitchOpened) {
  Node node;
  const auto before = node.read(sxid(100, 0, "20034, Fatal, Link 3 LTSSM Fault Up"));
  const auto after = node.read(xid(101, "91", 79));
  ASSERT_EQ(before.size(), 1u);
  EXPECT_FALSE(before[0].newly_evacuates);
  ASSERT_EQ(after.size(), 1u);
  EXPECT_EQ(after[0].kind, Change::Kind::kStronger);
  EXPECT_TRUE(after[0].newly_evacuates);
  EXPECT_EQ(after[0].incident.id, before[0].incident.id);
  EXPECT_EQ(after[0].incident.root.xid, 79);
}

TEST(Chain, AnUncorrectableErrorIsTheRootOfAllThatFollowsIt) {
  Node node;
  node.read(xid(10, "8a", 48, "An uncorrectable double bit error (DBE) has been detected") +
            xid(10, "8a", 171) + xid(11, "8a", 63, "Row Remapper: New row marked for remapping") +
            xid(11, "8a", 94, "Contained: CE User Channel (0x9). RST: No, D-RST: No") +
            xid(12, "8a", 154,
                "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)"));
  ASSERT_EQ(node.incidents().size(), 1u);
  const auto incident = node.incidents()[0];
  EXPECT_EQ(incident.root.xid, 48);
  EXPECT_EQ(incident.root.verdict.action, Action::kResetGpu);
  EXPECT_EQ(incident.count, 1);
  EXPECT_THAT(incident.companions, ElementsAre("xid 171", "xid 63", "xid 94", "xid 154"));
}

TEST(Chain, APageFaultAfterASpiFaultIsHardware) {
  Node node;
  node.read(xid(10, "07", 122) + xid(10, "07", 31, "Ch 7, intr 0. MMU Fault: ENGINE GRAPHICS"));
  ASSERT_EQ(node.incidents().size(), 1u);
  EXPECT_EQ(node.incidents()[0].root.xid, 122);
  EXPECT_EQ(node.incidents()[0].root.verdict.action, Action::kDrain);
  EXPECT_THAT(node.incidents()[0].companions, ElementsAre("xid 31"));
}

TEST(Chain, APageFaultAfterAPcieErrorOfTheGpuIsHardware) {
  Node node;
  node.read(
      "[10.0] pcieport 0000:00:01.2: AER: Uncorrectable (Non-Fatal) error received from "
      "0000:63:00.0\n" +
      xid(40, "63", 31, "MMU Fault: ENGINE GRAPHICS"));
  ASSERT_EQ(node.incidents().size(), 1u);
  EXPECT_EQ(node.incidents()[0].root.verdict.fault_class, "pcie_nonfatal");
  EXPECT_EQ(node.incidents()[0].root.verdict.action, Action::kDrain);
}

TEST(Chain, APortThatFailsAndTheGpuBehindItAreOneIncident) {
  Node node;
  node.read(
      "[74889.542] pcieport 0000:00:02.0: PCIe Bus Error: severity=Uncorrected (Fatal), "
      "type=Transaction Layer\n"
      "[74889.542] pcieport 0000:00:02.0:    [ 5] Surprise Down Error    (First)\n" +
      xid(74889, "02", 79));
  ASSERT_EQ(node.incidents().size(), 1u);
  EXPECT_EQ(node.incidents()[0].root.xid, 79);
}

std::string link_error(int at, const std::string& bus, int link) {
  return xid(at, bus, 74,
             "NVLink: fatal error detected on link " + std::to_string(link) +
                 "(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)");
}

TEST(Chain, APeersLinkFaultIsBlamedOnTheEndThatAllPairsShare) {
  IncidentTracker tracker("n1");
  const auto link_event = [](std::uint8_t bus, std::uint8_t peer, int at) {
    auto event =
        *event_of(classify_line("NVRM: Xid (PCI:0000:01:00): 74, NVLink: fatal error detected on "
                                "link 3(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)"));
    event.gpu = {0, bus, 0};
    event.peer = PciAddress{0, peer, 0};
    event.unix_s = at;
    event.discriminator = std::to_string(at);
    return event;
  };
  tracker.observe(link_event(0x19, 0x9b, 10));
  tracker.observe(link_event(0x3b, 0x9b, 11));
  tracker.observe(link_event(0x9b, 0x19, 12));
  tracker.observe(link_event(0x4c, 0x9b, 13));
  const auto incidents = tracker.incidents();
  ASSERT_EQ(incidents.size(), 1u);
  EXPECT_EQ(place_of(incidents[0].root), "0000:9b:00");
  EXPECT_FALSE(evacuates(incidents[0].root.verdict));
}

TEST(Chain, LinkErrorsOfSeveralGpusAreOneIncident) {
  Node node;
  node.read(link_error(10, "19", 3) + link_error(10, "3b", 5) + link_error(11, "19", 4) +
            sxid(12, 2, "20034, Fatal, Link 3 LTSSM Fault Up") + xid(13, "19", 45));
  ASSERT_EQ(node.incidents().size(), 1u);
  EXPECT_EQ(place_of(node.incidents()[0].root), "0000:19:00");
  EXPECT_THAT(node.incidents()[0].places, ElementsAre("0000:19:00", "0000:3b:00", "fabric"));
}

TEST(Chain, AProgramThatFailsOnManyGpusIsOneIncidentAndNeverHardware) {
  Node node;
  for (int round = 0; round < 3; ++round)
    for (const auto* bus : {"19", "3b", "4c", "5d", "9b", "ab", "bb", "cb"})
      EXPECT_TRUE(node.read(xid(10 + round * 20, bus, 31, "MMU Fault: ENGINE GRAPHICS") +
                                xid(10 + round * 20, bus, 43, "Ch 00000010"),
                            {77, 1000})
                      .size() <= 1);
  ASSERT_EQ(node.incidents().size(), 1u);
  EXPECT_EQ(node.incidents()[0].root.verdict.action, Action::kRestartApp);
  EXPECT_EQ(node.incidents()[0].places.size(), 8u);
}

// The lines name one process; nobody knows its job.
TEST(Chain, AProgramThatDiesInManyWaysIsOneIncident) {
  Node node;
  const char* const kBuses[] = {"19", "3b", "4c", "5d", "9b", "ab", "bb", "cb"};
  for (int i = 0; i < 64; ++i)
    node.read(xid(10 + i / 8, kBuses[i % 8], i % 4 == 0 ? 31 : i % 4 == 1 ? 13 : 43));
  ASSERT_EQ(node.incidents().size(), 1u);
  EXPECT_EQ(node.incidents()[0].root.verdict.action, Action::kRestartApp);
  EXPECT_EQ(node.incidents()[0].root.xid, 31);
}

// One end says that the other is to blame, which itself asks for no more than a restart.
TEST(Chain, AnIncidentOfALinkAsksForWhatEitherEndAskedFor) {
  Node node;
  node.read(
      "[10.0] NVRM: Xid (PCI:0000:dc:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 01 (0x021425c6 "
      "0x00000000 0x00000000 0x00000000 0x00000000 0x00000000)\n"
      "[10.1] NVRM: Xid (PCI:0000:ba:00): 145, RLW_SRC_TRACK Nonfatal XC1 i0 Link 12 (0x040988e2 "
      "0x00000008 0x00000000 0x00000000 0x00000000 0x00000000)\n");
  ASSERT_EQ(node.incidents().size(), 1u);
  EXPECT_EQ(place_of(node.incidents()[0].root), "0000:ba:00");
  EXPECT_EQ(node.incidents()[0].root.verdict.action, Action::kCheckFabric);
  EXPECT_EQ(node.incidents()[0].root.verdict.severity, Severity::kCritical);
}

std::vector<std::string> roots(const Node& node) {
  std::vector<std::string> all;
  for (const auto& incident : node.incidents())
    all.push_back(incident.root.verdict.fault_class + " " + place_of(incident.root));
  return all;
}

// A program ran on all GPUs, channels were torn down on all: that makes them no one GPU's fault.
TEST(Chain, AFaultIsNotHiddenInTheIncidentOfAnotherGpu) {
  Node node;
  std::string log;
  for (const auto* bus : {"1b", "43", "52"}) log += xid(10, bus, 31, "MMU Fault: ENGINE GRAPHICS");
  node.read(log + xid(15, "1b", 48) + xid(16, "43", 48) + xid(16, "43", 171) +
            xid(17, "52", 95, "Uncontained: FBHUB. RST: Yes, D-RST: No"));
  EXPECT_THAT(roots(node),
              ElementsAre("hbm_ue 0000:1b:00", "hbm_ue 0000:43:00", "mem_uncontained 0000:52:00"));
  Node other;
  other.read(xid(10, "41", 79) + xid(11, "c1", 45) + xid(12, "5d", 45) + xid(30, "5d", 48) +
             xid(31, "5d", 45));
  EXPECT_THAT(roots(other), ElementsAre("gpu_lost 0000:41:00", "hbm_ue 0000:5d:00"));
}

TEST(Chain, TheResetOfAnotherGpuIsItsOwn) {
  Node node;
  node.read(xid(10, "41", 48) + xid(11, "c1", 45) +
            xid(12, "c1", 154,
                "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)"));
  EXPECT_THAT(roots(node), ElementsAre("hbm_ue 0000:41:00", "recovery_action 0000:c1:00"));
}

TEST(Chain, ARebootThatEveryGpuAsksForIsOneIncident) {
  Node node;
  std::string log = xid(10, "41", 31, "MMU Fault: ENGINE GRAPHICS");
  for (const auto* bus : {"41", "c1", "5d", "61"})
    log += xid(11, bus, 154, "GPU recovery action changed from 0x0 (None) to 0x2 (OS Reboot)");
  node.read(log);
  ASSERT_EQ(node.incidents().size(), 1u);
  EXPECT_EQ(node.incidents()[0].root.verdict.action, Action::kRebootNode);
  EXPECT_EQ(node.incidents()[0].places.size(), 4u);
}

std::string failed_recovery(const std::string& port, const std::string& gpu) {
  return "[10.0] pcieport " + port + ": AER: Uncorrected (Fatal) error received: " + port +
         "\n[10.1] nvidia " + gpu + ": AER: can't recover (no error_detected callback)\n[10.2] " +
         "pcieport " + port + ": AER: device recovery failed\n";
}

TEST(Chain, APortAndADriverThatCannotRecoverAreOneIncident) {
  Node node;
  node.read(failed_recovery("0000:00:03.0", "0000:03:00.0"));
  EXPECT_THAT(roots(node), ElementsAre("pcie_fatal 0000:03:00"));
  node.read(xid(11, "03", 79));
  EXPECT_THAT(roots(node), ElementsAre("gpu_lost 0000:03:00"));
}

TEST(Chain, TwoPortsThatCannotRecoverAreTwo) {
  Node node;
  node.read(failed_recovery("0000:00:03.0", "0000:03:00.0") +
            failed_recovery("0000:80:03.0", "0000:83:00.0"));
  EXPECT_THAT(roots(node), ElementsAre("pcie_fatal 0000:03:00", "pcie_fatal 0000:83:00"));
}

// Only some of the lines name the GPU.
TEST(Chain, ARingThatHangsAndTheResetAfterItAreOneIncident) {
  const std::string hang =
      "[10.0] amdgpu 0000:08:00.0: amdgpu: ring gfx_0.0.0 timeout, signaled seq=1, emitted seq=2\n"
      "[10.2] amdgpu 0000:08:00.0: amdgpu: GPU reset begin!\n";
  Node node;
  node.read(hang +
            "[13.0] amdgpu 0000:08:00.0: amdgpu: GPU reset succeeded, trying to resume\n"
            "[13.1] [drm] VRAM is lost due to GPU reset!\n");
  EXPECT_THAT(roots(node), ElementsAre("amd_ring_hang 0000:08:00"));
  EXPECT_EQ(node.incidents()[0].lines, 4);
  Node older;
  older.read(
      "[10.0] [drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring gfx timeout, signaled seq=1, emitted "
      "seq=2\n[13.0] amdgpu 0000:08:00.0: amdgpu: GPU reset end with ret = -5\n"
      "[14.0] amdgpu 0000:09:00.0: amdgpu: GPU reset end with ret = -5\n");
  EXPECT_THAT(roots(older),
              ElementsAre("amd_reset_failed 0000:08:00", "amd_reset_failed 0000:09:00"));
  Node intel;
  intel.read(
      "[10.0] [drm] GPU HANG: ecode 9:0:0xfffffffe, reason: Hang on render ring, action: reset\n"
      "[12.0] [drm:i915_reset [i915]] *ERROR* GPU recovery failed\n");
  EXPECT_THAT(roots(intel), ElementsAre("intel_reset_failed node"));
}

TEST(Chain, TheDriverClosesItsIncident) {
  Node node;
  const auto to = [](const std::string& change) {
    return "GPU recovery action changed from " + change;
  };
  node.read(xid(10, "3b", 154, to("0x0 (None) to 0x1 (GPU Reset Required)")));
  const auto closed = node.read(xid(500, "3b", 154, to("0x1 (GPU Reset Required) to 0x0 (None)")));
  ASSERT_EQ(closed.size(), 1u);
  EXPECT_EQ(closed[0].kind, Change::Kind::kClosed);
  const auto again = node.read(xid(510, "3b", 154, to("0x0 (None) to 0x1 (GPU Reset Required)")));
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].kind, Change::Kind::kOpened);
}

TEST(Chain, TheDriversWordMakesAnActionStronger) {
  Node node;
  node.read(xid(10, "3b", 109, "errorString CTX SWITCH TIMEOUT"));
  const auto changes = node.read(xid(
      11, "3b", 154, "GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)"));
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_TRUE(changes[0].newly_evacuates);
  EXPECT_EQ(changes[0].incident.root.xid, 109);
  EXPECT_EQ(changes[0].incident.root.verdict.action, Action::kRebootNode);
}

TEST(Chain, TheThreeLinesOfALostGpuActOnTheLast) {
  Node node;
  EXPECT_THAT(node.read("[1.0] NVRM: The NVIDIA GPU 0000:18:00.0\n"
                        "[1.0] NVRM: (PCI ID: 10de:2901) installed in this system has\n"),
              IsEmpty());
  const auto changes =
      node.read("[1.0] NVRM: fallen off the bus and is not responding to commands.\n");
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(place_of(changes[0].incident.root), "0000:18:00");
}

// journalctl and dmesg indent the later lines of one record.
TEST(Chain, TheLaterLinesOfARecordAreItsWriters) {
  const std::string fault =
      "                 NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n";
  Node node;
  EXPECT_THAT(node.read("Nov 17 07:33:08 n1 slurmstepd[7]: error: the user says\n" + fault +
                        "12,1,2,-;in the kernel's log too:\n" + fault),
              IsEmpty());
  EXPECT_EQ(node.read("[1.0] NVRM: GPU at PCI:0000:3b:00: GPU-1\n" + fault).size(), 1u);
}

TEST(Chain, ATeardownAloneIsNoIncident) {
  Node node;
  EXPECT_THAT(node.read(xid(10, "3b", 45) + xid(11, "3b", 43)), IsEmpty());
  EXPECT_THAT(node.incidents(), IsEmpty());
}

TEST(Chain, RepeatedLinesCountAsOneEventAndLaterOnesAsMore) {
  Node node;
  node.read(xid(10, "3b", 95) + xid(12, "3b", 95) + xid(14, "3b", 95) + xid(40, "3b", 95) +
            "[40.1] last message repeated 3 times\n");
  ASSERT_EQ(node.incidents().size(), 1u);
  EXPECT_EQ(node.incidents()[0].count, 2);
  EXPECT_EQ(node.incidents()[0].lines, 5);
}

TEST(Chain, AFloodOfStrangeDevicesDoesNotGrowMemory) {
  Node node;
  for (int i = 0; i < 5'000; ++i)
    node.read("[" + std::to_string(i * 200) + ".0] NVRM: Xid (PCI:" + std::to_string(1000 + i) +
              ":01:00): 48, x\n");
  EXPECT_LE(node.incidents().size(), 256u);
}

}  // namespace
}  // namespace acrf
