// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/classify.h"
#include "build_paths.h"
#include "core/node_verdict.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "core/text.h"

namespace acrf {
namespace {

std::string action_of(std::string_view line) {
  return std::string(name_of(classify_line(line).verdict.action));
}
std::string class_of(std::string_view line) { return classify_line(line).verdict.fault_class; }

struct Expected {
  std::string line, fault_class, action;
};

void expect_all(std::initializer_list<Expected> lines) {
  for (const auto& expected : lines) {
    EXPECT_EQ(class_of(expected.line), expected.fault_class) << expected.line;
    EXPECT_EQ(action_of(expected.line), expected.action) << expected.line;
  }
}

// The labels of a line: "class=gpu_lost;action=reboot_node;xid=79".
std::map<std::string, std::string> labels_in(std::string_view text) {
  std::map<std::string, std::string> labels;
  for (const auto label : split(text, ';')) {
    const auto equals = label.find('=');
    if (equals != std::string_view::npos)
      labels.emplace(label.substr(0, equals), label.substr(equals + 1));
  }
  return labels;
}

// What a verdict says under the name of a label.
std::string said(const LineVerdict& found, const std::string& label) {
  if (label == "class") return found.verdict.fault_class;
  if (label == "action") return std::string(name_of(found.verdict.action));
  if (label == "sev") return std::string(name_of(found.verdict.severity));
  if (label == "xid") return found.xid ? std::to_string(*found.xid) : "";
  if (label == "sxid") return found.sxid ? std::to_string(*found.sxid) : "";
  if (label == "gpu") return found.gpu ? to_string(*found.gpu) : "";
  if (label == "mig") return found.mig;
  if (label == "loc") return found.location;
  return "?";
}

TEST(Classify, LabelledLinesSeenInPublic) {
  std::ifstream file(ACRF_TEST_DATA "/../../../shared/data/faults/kmsg_samples.txt");
  if (!file) GTEST_SKIP() << "the labelled lines are not on this machine";
  std::string text;
  int lines = 0;
  while (std::getline(file, text)) {
    if (text.empty() || text[0] == '#') continue;
    ++lines;
    const auto tab = text.find('\t');
    const auto line = text.substr(0, tab);
    const auto found = classify_line(line);
    for (const auto& [label, value] : labels_in(std::string_view(text).substr(tab + 1))) {
      if (said(found, label) == "?") continue;
      EXPECT_EQ(said(found, label), value) << label << " of " << line;
    }
  }
  EXPECT_EQ(lines, 148);
}

// tests/data/log/variants.tsv: class, action, line. "-" and "stays": it must not act, whatever
// else.
TEST(Classify, LinesOfOurOwnMaking) {
  std::ifstream file(ACRF_TEST_DATA "/log/variants.tsv");
  std::string text;
  int lines = 0;
  while (std::getline(file, text)) {
    if (text.empty() || text[0] == '#') continue;
    ++lines;
    const auto action_at = text.find('\t') + 1;
    const auto line_at = text.find('\t', action_at) + 1;
    const auto fault_class = text.substr(0, action_at - 1);
    const auto action = text.substr(action_at, line_at - action_at - 1);
    const auto line = text.substr(line_at);
    if (action == "stays") {
      EXPECT_FALSE(evacuates(classify_line(line).verdict)) << line;
    } else {
      EXPECT_EQ(class_of(line), fault_class) << line;
      EXPECT_EQ(action_of(line), action) << line;
    }
  }
  EXPECT_GT(lines, 850);
}

// Wherever a line is cut off, it says no more than the whole one would have said.
TEST(Classify, ALineThatWasCutOffActsNoStronger) {
  for (const std::string line : {
           "NVRM: Xid (PCI:0000:3b:00): 13, pid=7, name=python3, Graphics Exception: ESR 0x50",
           "NVRM: Xid (PCI:0000:3b:00): 145, RLW_SRC_TRACK Nonfatal XC1 i0 Link 12 (0x040988e2 "
           "0x00000008 0x00000000 0x00000000 0x00000000 0x00000000)",
           "NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from 0x2 (Node Reboot "
           "Required) to 0x0 (None)",
           "NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from 0x2 (Node Reboot "
           "Required) to 0x12 (Node Reboot Required)",
           "NVRM: Xid (PCI:0000:3b:00): 177, GPU has fallen off the bus",
           "NVRM: Xid (PCI:0000:3b:00): 163, power smoothing",
           "nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 20009, Non-fatal, Link 04 RX Short Error",
           "amdgpu 0000:c3:00.0: amdgpu: ring gfx_0.0.0 timeout, but soft recovered",
           "amdgpu 0000:c3:00.0: amdgpu: 12 correctable hardware errors detected in umc block",
           "xe 0000:03:00.0: [drm] device wedged, but recovered through reset",
           "pcieport 0000:00:03.0: AER: Uncorrected (Non-Fat",
           "EDAC MC0: 99 CE memory read error on CPU_SrcID#0 (channel:0 slot:0 page:0x1)",
       })
    for (std::size_t length = 0; length <= line.size(); ++length)
      EXPECT_FALSE(evacuates(classify_line(line.substr(0, length)).verdict))
          << line.substr(0, length);
}

TEST(Classify, TheAddressOfAnXidHasManyForms) {
  for (const std::string_view line :
       {"NVRM: Xid (PCI:0000:3B:00): 79, pid=1, GPU has fallen off the bus.",
        "NVRM: Xid (PCI:00000000:3b:00.0): 79, GPU has fallen off the bus.",
        "NVRM: Xid (PCI:00000000:3B:00): 79, name=x, pid=3, GPU has fallen off the bus.",
        "NVRM: Xid (3b:00.0): 79, GPU has fallen off the bus.", "NVRM: Xid (0000:3b:00): 79",
        "NVRM: GPU 0000:3b:00.0: GPU has fallen off the bus.",
        "NVRM: GPU at PCI:0000:3b:00 has fallen off the bus."}) {
    const auto found = classify_line(line);
    EXPECT_EQ(found.verdict.fault_class, "gpu_lost") << line;
    EXPECT_EQ(found.verdict.action, Action::kRebootNode) << line;
    EXPECT_EQ(found.xid, 79) << line;
    EXPECT_EQ(found.gpu, (PciAddress{0, 0x3b, 0})) << line;
  }
}

TEST(Classify, OnlyTheKernelIsBelieved) {
  const std::string fault = "NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.";
  for (const std::string& line : std::vector<std::string>{
           "12,4471,3023054882,-;" + fault, "14,1,2,c,caller=T77;" + fault, "<14>" + fault,
           "user  :notice: [  12.5] " + fault, "local0:err   : " + fault,
           "Dec  2 10:43:35 worker4 root: " + fault,
           "Dec  2 10:43:35 worker4 python3[77]: " + fault,
           "Dec  2 10:43:35 worker4 systemd[1]: Started job " + fault,
           "2025-01-21T04:41:44+00:00 worker4 slurmd[881]: error: " + fault,
           "Dec  2 10:43:35 worker4 kernel[99]: " + fault,
           "Dec  2 10:43:35 worker4 NVRM: Xid (PCI:0000:3b:00): 79",
           "<14>1 2025-01-21T04:41:44Z w4 python3 77 - - " + fault,
           "1 2025-01-21T04:41:44Z w4 kernel 77 - - " + fault, "user said: " + fault,
           "systemd[1]: " + fault, "slurmstepd: Xid 79 on PCI:0000:3b:00",
           "[ 12.5] python3[12]: segfault at 0 ip 0 in NVRM: Xid (PCI:0000:3b:00): 79",
           "Out of memory: Killed process 5 (" + fault + ")"}) {
    const auto found = classify_line(line);
    EXPECT_FALSE(evacuates(found.verdict)) << line;
    EXPECT_NE(found.verdict.action, Action::kResetGpu) << line;
    EXPECT_TRUE(found.rank == 0 || !found.gpu) << line;
  }
  EXPECT_EQ(class_of("12,4471,3023054882,-;" + fault), "spoof");
}

TEST(Classify, UnknownCodesAreWatched) {
  for (int code = 177; code < 70000; code += code < 1000 ? 1 : 997) {
    const auto found =
        classify_line("NVRM: Xid (PCI:0000:3b:00): " + std::to_string(code) + ", Fatal, reset");
    EXPECT_EQ(found.verdict.action, Action::kWatch) << code;
    EXPECT_EQ(found.verdict.severity, Severity::kWarning) << code;
  }
  expect_all({
      {"nvidia-nvswitch0: SXid (PCI:0000:06:00.0): 31999, Fatal, Link 48 x", "unknown_sxid",
       "watch"},
      {"nvidia-nvswitch0: SXid (PCI:0000:06:00.0): 1, Fatal, Link 48 x", "unknown_sxid", "watch"},
  });
}

TEST(Classify, DamagedXidsAreNotActedOn) {
  expect_all({
      {"NVRM: Xid (PCI:0000:3b:00): ", "malformed", "ignore"},
      {"NVRM: Xid (PCI:0000:3b", "malformed", "ignore"},
      {"NVRM: Xid (PCI:0000:3b:00): 79GPU", "malformed", "ignore"},
      {"NVRM: Xid (PCI:0000:3b:00): -79, x", "malformed", "ignore"},
      {"NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed", "malformed", "ignore"},
      {"NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from 0x0 (None) to 0x",
       "malformed", "ignore"},
      {"NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from 0x0 (None)", "malformed",
       "ignore"},
      {"NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from 0x0 (None) to 0x2",
       "recovery_action", "watch"},
      {"nvidia-nvswitch0: SXid (PCI:0000:06:00.0): ", "malformed", "ignore"},
      {"Xid 79", "benign", "ignore"},
      {"", "benign", "ignore"},
  });
}

TEST(Classify, TheNewRecoveryActionDecides) {
  const std::string start =
      "NVRM: Xid (PCI:0000:3b:00): 154, pid=7, name=a to b, GPU recovery action changed from ";
  expect_all({
      {(start + "0x1 (GPU Reset Required) to 0x3 (Drain P2P)"), "recovery_action", "drain"},
      {(start + "0x2 (Node Reboot Required) to 0x0 (None)"), "recovered", "ignore"},
      {(start + "0x0 (None) to 0x6 (Replace Board)"), "recovery_action", "watch"},
      {(start + "0x0 (None) to 0x10 (GPU Reset Required)"), "recovery_action", "watch"},
      {(start + "0x0 (None) to 0x1 (Node Reboot Required)"), "inconsistent", "watch"},
      {(start + "0x0 (None) to 0x4 (Drain a"), "recovery_action", "drain"},
      {(start + "None to GPU Reset Required"), "recovery_action", "reset_gpu"},
  });
}

TEST(Classify, TheDriversWordOnAResetIsObeyed) {
  const std::string contained =
      "NVRM: Xid (PCI:0000:3b:00): 94, pid=7, Contained: CE User Channel (0x9). ";
  EXPECT_EQ(action_of(contained + "RST: No, D-RST: No"), "restart_app");
  EXPECT_EQ(action_of(contained + "RST: Yes, D-RST: No"), "reset_gpu");
  EXPECT_EQ(action_of(contained + "RST: No, D-RST: Yes"), "drain");
  EXPECT_EQ(action_of(contained + "D-RST: No, RST: Yes"), "reset_gpu");
  EXPECT_EQ(action_of(contained), "restart_app");
  EXPECT_EQ(
      action_of(
          "NVRM: Xid (PCI:0000:3b:00): 94, pid=7, name=RST: Yes, Contained: x. RST: No, D-RST: No"),
      "restart_app");
  EXPECT_EQ(action_of("NVRM: Xid (PCI:0000:3b:00): 95, pid=7, Uncontained: LTC TAG (0x2, 0x1). "
                      "RST: No, D-RST: Yes"),
            "drain");
}

TEST(Classify, NumberAndTextThatDisagreeAreFlagged) {
  expect_all({
      {"NVRM: Xid (PCI:0000:03:00): 79, pid=1, name=x, MMU Fault: ENGINE GRAPHICS faulted",
       "inconsistent", "drain"},
      {"NVRM: Xid (PCI:0000:03:00): 31, pid=1, name=x, GPU has fallen off the bus.", "inconsistent",
       "watch"},
      {"NVRM: Xid (PCI:0000:03:00): 43, pid=1, name=MMU Fault: ENGI, Ch 00000001", "app_fault",
       "ignore"},
  });
}

TEST(Classify, RegistersAndNotWordsDecideAboutNvlink) {
  expect_all({
      {"NVRM: Xid (PCI:0003:00:00): 74, NVLink: fatal error detected on link 2(0x1, 0x0, 0x0, 0x0, "
       "0x0, 0x0, 0x0)",
       "nvlink", "ignore"},
      {"NVRM: Xid (PCI:0003:00:00): 74, NVLink: fatal error detected on link 2(0x2, 0x0, 0x0, 0x0, "
       "0x0, 0x0, 0x0)",
       "nvlink", "watch"},
      {"NVRM: Xid (PCI:0003:00:00): 74, NVLink: fatal error detected on link 2(0x10, 0x0, 0x0, "
       "0x0, 0x0, 0x0, 0x0)",
       "nvlink", "check_fabric"},
      {"NVRM: Xid (PCI:0003:00:00): 74, NVLink: fatal error detected on link 2(0x0, 0x0, 0x0, "
       "0x40000, 0x0, 0x0, 0x0)",
       "nvlink", "reset_gpu"},
      {"NVRM: Xid (PCI:0003:00:00): 74, NVLink: fatal error detected on link 2(0x0, 0x0, 0x0",
       "nvlink", "check_fabric"},
      {"NVRM: Xid (PCI:0003:00:00): 74, NVLink: fatal error detected on link 2(0x0, 0x80000000, "
       "0x0, 0x0, 0x0, 0x0, 0x0)",
       "nvlink", "check_fabric"},
      {"NVRM: Xid (PCI:0008:01:00): 145, RLW_REMAP Nonfatal XC0 i0 Link 00 (0x00000082 0x00000040 "
       "0x0 0x0 0x0 0x0)",
       "nvlink5", "reset_gpu"},
      {"NVRM: Xid (PCI:0008:01:00): 145, RLW_REMAP Nonfatal XC0 i0 Link 00 (0x00000082 0x00000041 "
       "0x0 0x0 0x0 0x0)",
       "nvlink5", "reset_gpu"},
      {"NVRM: Xid (PCI:0008:01:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0xffffffff 0x0 0x0 "
       "0x0 0x0 0x0)",
       "nvlink5", "check_fabric"},
      {"NVRM: Xid (PCI:0008:01:00): 149, NETIR_LINK_DOWN Fatal XC0 i0 Link 08", "nvlink5",
       "check_fabric"},
      {"NVRM: Xid (PCI:0008:01:00): 146, TLW_CTRL Nonfatal XC0 i0 Link 08 (0x00000009 0x00000001 "
       "0x0 0x0 0x0 0x0)",
       "nvlink5", "ignore"},
  });
}

TEST(Classify, TheSwitchDriversWordHolds) {
  expect_all({
      {"nvidia-nvswitch0: SXid (PCI:0000:06:00.0): 11001, Non-fatal, Link 02 ingress invalid "
       "command",
       "nvswitch_nonfatal", "watch"},
      {"nvidia-nvswitch0: SXid (PCI:0000:06:00.0): 11001, Fatal, Link 02 ingress invalid command",
       "nvswitch_fatal", "check_fabric"},
      {"nvidia-nvswitch0: SXid (PCI:0000:06:00): 11004, Non-fatal, Link 02 ACL failure",
       "nvswitch_nonfatal", "check_fabric"},
      {"nvidia-nvswitch0: SXid (PCI:0000:06:00.0): 19061, Non-fatal, Link 02 x",
       "nvswitch_nonfatal", "watch"},
      {"nvidia-nvswitch0: SXid (PCI:0000:06:00.0): 19061, Fatal, Link 02 x", "nvswitch_fatal",
       "check_fabric"},
      {"nvidia-nvswitch0: SXid (PCI:0000:06:00.0): 28003, Non-fatal, Link 46 MC TS crumbstore ECC "
       "limit",
       "nvswitch_nonfatal", "watch"},
      {"nvidia-nvswitch0: SXid (PCI:0000:06:00.0): 28003, cage 3 over-temperature",
       "nvswitch_thermal", "drain"},
      {"nvidia-nvswitch0: SXid (PCI:0000:06:00.0): 28003, something else", "unknown_sxid", "watch"},
      {"nvidia-nvswitch0: SXid (PCI:0000:06:00.0): 23001, Non-fatal, x", "nvswitch_nonfatal",
       "watch"},
      {"nvidia-nvswitch11: SXid (PCI:0000:06:00.0): 24007, Fatal, Link 28 sourcetrack timeout "
       "error",
       "nvswitch_fatal", "check_fabric"},
  });
}

TEST(Classify, AmdGpus) {
  expect_all({
      {"[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring sdma0 timeout, but soft recovered",
       "benign", "ignore"},
      {"amdgpu 0000:c3:00.0: amdgpu: ring comp_1.0.0 timeout, but soft recovered", "benign",
       "ignore"},
      {"amdgpu 0000:c3:00.0: amdgpu: GPU reset(3) succeeded!", "amd_reset_ok", "watch"},
      {"amdgpu 0000:c3:00.0: amdgpu: GPU reset end with ret = -62", "amd_reset_failed",
       "reboot_node"},
      {"amdgpu 0000:c3:00.0: amdgpu: socket: 0, die: 0 0 uncorrectable hardware errors detected in "
       "gfx block",
       "benign", "ignore"},
      {"amdgpu 0000:c3:00.0: amdgpu: socket: 0, die: 0 3 uncorrectable hardware errors detected in "
       "gfx block",
       "amd_ras_ue", "reset_gpu"},
      {"amdgpu 0000:c3:00.0: amdgpu: 10 uncorrectable hardware errors detected in umc block",
       "amd_ras_ue", "reset_gpu"},
      {"amdgpu 0000:c3:00.0: amdgpu: 2097120 uncorrectable hardware errors detected in umc block",
       "amd_ras_artifact", "ignore"},
      {"amdgpu 0000:c3:00.0: {2}1 uncorrectable hardware errors detected in total in umc block",
       "amd_ras_total", "watch"},
      {"amdgpu 0000:c3:00.0: amdgpu: [mmhub0] no-retry page fault (src_id:0 ring:0 vmid:1 "
       "pasid:32769)",
       "app_fault", "restart_app"},
      {"amdgpu 0000:c3:00.0: amdgpu: device lost from bus!", "gpu_lost", "reboot_node"},
      {"amdgpu 0000:c3:00.0: amdgpu: Failed to send message 0x5, response 0xfffffffb param 0x80",
       "amd_smu", "watch"},
      {"amdgpu 0000:c3:00.0: amdgpu: SE 4, SH per SE 1", "benign", "ignore"},
  });
  EXPECT_EQ(classify_line("amdgpu 0000:C3:00.0: amdgpu: GPU reset begin!").gpu,
            (PciAddress{0, 0xc3, 0}));
}

TEST(Classify, IntelGpus) {
  expect_all({
      {"i915 0000:33:00.0: [drm] GPU HANG: ecode 12:1:85dffffb, in python3 [1234]", "intel_hang",
       "restart_app"},
      {"i915 0000:33:00.0: [drm] Resetting rcs0 for preemption time out", "intel_engine_reset",
       "restart_app"},
      {"xe 0000:03:00.0: [drm] device wedged, but recovered through reset", "recovered", "ignore"},
      {"xe 0000:03:00.0: [drm] *ERROR* Tile1: GT1: Engine reset: engine_class=bcs",
       "intel_engine_reset", "restart_app"},
      {"xe 0000:03:00.0: [drm] [Hardware Error]: HBM SS0: Channel3 SOC Correctable Error detected",
       "intel_ce", "watch"},
      {"xe 0000:03:00.0: [drm] VRAM: 0x0000000400000000", "benign", "ignore"},
  });
}

TEST(Classify, PcieErrors) {
  expect_all({
      {"pcieport 0000:00:03.0: AER: Multiple Corrected error received: 0000:00:03.0", "pcie_ce",
       "watch"},
      {"pcieport 0000:00:03.0: AER: Correctable error message received from 0000:01:00.0",
       "pcie_ce", "watch"},
      {"pcieport 0000:00:03.0: AER: Uncorrectable (Fatal) error message received from 0000:01:00.0",
       "pcie_fatal", "drain"},
      {"nvidia 0000:03:00.0: PCIe Bus Error: severity=Uncorrected (Non-Fatal), type=Transaction "
       "Layer, (Requester ID)",
       "pcie_nonfatal", "drain"},
      {"nvidia 0000:03:00.0: AER: can recover", "benign", "ignore"},
      {"pcieport 0000:00:03.0: AER: device recovery successful", "recovered", "ignore"},
      {"pcieport 0000:00:03.0:    [ 5] SDES                   (First)", "pcie_surprise_down",
       "reboot_node"},
      {"pcieport 0000:00:03.0:   device [8086:6f04] error status/mask=00000020/00000000",
       "continuation", "ignore"},
      {"pcieport 0000:00:03.0: PME: Signaling with IRQ 120", "benign", "ignore"},
  });
  EXPECT_EQ(
      classify_line(
          "pcieport 0000:00:01.2: AER: Uncorrectable (Non-Fatal) error received from 0000:63:00.0")
          .device,
      (PciAddress{0, 0x63, 0}));
}

TEST(Classify, TheRestOfTheNode) {
  expect_all({
      {"EDAC MC0: 99 CE memory read error on CPU_SrcID#0", "dimm_ce", "watch"},
      {"EDAC MC0: 100 CE memory read error on CPU_SrcID#0", "dimm_ce_storm", "drain"},
      {"EDAC MC0: Giving out device to module i10nm_edac", "benign", "ignore"},
      {"[Hardware Error]: CPU:2 (19:21:0) MC1_STATUS[-|CE|MiscV|-|-|-]: 0x9820", "cpu_ce", "watch"},
      {"{1}[Hardware Error]: event severity: corrected", "apei_ce", "ignore"},
      {"{1}[Hardware Error]:  Error 0, type: fatal", "continuation", "ignore"},
      {"mlx5_core 0000:41:00.1: Port module event: module 1, Cable plugged", "recovered", "ignore"},
      {"nvme nvme0: 64/0/0 default/read/poll queues", "benign", "ignore"},
      {"XFS (nvme0n1p1): Filesystem has been shut down due to log error (0x2).", "fs_readonly",
       "drain"},
      {"EXT4-fs (md0): mounted filesystem 0123 r/w with ordered data mode", "benign", "ignore"},
      {"nfs: server fs1 OK", "recovered", "ignore"},
      {"Aug 17 06:18:01 vm-0 systemd-networkd[5398]: eth0: Lost carrier", "link_flap", "watch"},
      {"usb 1-1: new high-speed USB device number 2 using xhci_hcd", "benign", "ignore"},
  });
}

// A program has any name that its user likes, and the kernel prints it.
TEST(Classify, NamesOfProgramsCondemnNothing) {
  for (const std::string line : {
           "NVRM: GPU x[1234]: segfault at 0 ip 0 sp 0 error 4 in has fallen off the bus[55d+1000]",
           "amdgpu[77]: segfault at 8 ip 00007f error 6 in libc.so.6",
           "EDAC MC0: 1 UE [9]: segfault at 8 ip 00007f error 6",
           "traps: NVRM: GPU[99] trap divide error ip:40 sp:7f error:0 in has fallen off the bus",
           "xe 0000:03:00.0: [drm] GT0: Timedout job: seqno=1, lrc_seqno=1, guc_id=3, flags=0x0 in "
           "reset failed (- [1234]",
           "i915 0000:33:00.0: [drm] GPU HANG: ecode 12:1:85dffffb, in reset failed (- [1234]",
           "amdgpu 0000:c3:00.0: amdgpu: Process information: process device lost fro pid 7 thread "
           "GPU reset(1) fa pid 7",
           "NVRM: Xid (PCI:0000:3b:00): 94, pid=7, name=RST: Yes, x, Contained: CE User Channel "
           "(0x9). RST: No, D-RST: No",
           "Out of memory: Killed process 7 (NVRM: Xid (PCI:) total-vm:1kB",
           "INFO: task NVRM: Xid:77 blocked for more than 120 seconds.",
           "process 'NVRM: Xid (PCI' launched '/x' with NULL argv: empty string added",
       })
    EXPECT_FALSE(evacuates(classify_line(line).verdict)) << line;
}

TEST(Classify, WhatTheBootBeforeLeftBehindIsNoFaultOfThisOne) {
  expect_all({
      {"BERT: Error records from previous boot:", "benign", "ignore"},
      {"[Hardware Error]: event severity: fatal", "apei_previous_boot", "watch"},
      {"{3}[Hardware Error]: event severity: fatal", "apei_fatal", "drain"},
      {"{3}[Hardware Error]: event severity: info", "continuation", "ignore"},
      {"{3}[Hardware Error]: Hardware error from APEI Generic Hardware Error Source: 4",
       "continuation", "ignore"},
      {"{3}[Hardware Error]:   device_id: 0000:3b:00.0", "continuation", "ignore"},
      {"pcieport 0000:3a:00.0: AER: aer_status: 0x00000001, aer_mask: 0x00002000", "continuation",
       "ignore"},
      {"pcieport 0000:3a:00.0: AER: aer_layer=Data Link Layer, aer_agent=Receiver ID",
       "continuation", "ignore"},
  });
}

TEST(Classify, ImagesAndRemoteDisksAreNotTheNodes) {
  expect_all({
      {"EXT4-fs (loop3): Remounting filesystem read-only", "fs_image", "watch"},
      {"XFS (loop12p1): Filesystem has been shut down due to log error (0x2).", "fs_image",
       "watch"},
      {"XFS (rbd0): Filesystem has been shut down due to log error (0x2).", "fs_remote", "watch"},
      {"EXT4-fs (nvme0n1p2): Remounting filesystem read-only", "fs_readonly", "drain"},
      {"EXT4-fs (nvme0n1p2): re-mounted. Opts: (null). Quota mode: none.", "benign", "ignore"},
      {"XFS (nvme1n1): User initiated shutdown (0x1) detected at fs_shutdown.  Shutting down "
       "filesystem.",
       "fs_error", "watch"},
      {"Buffer I/O error on dev sr0, logical block 0, async page read", "io_error_dev", "watch"},
      {"Buffer I/O error on dev loop5, logical block 0, async page read", "io_error_dev", "watch"},
      {"Buffer I/O error on dev nvme0n1, logical block 0, async page read", "io_error", "drain"},
  });
}

// Repairs, counts of nothing, and lines that were cut off before what they say.
TEST(Classify, WhatIsOverOrHalfSaidDrainsNothing) {
  for (const std::string line : {
           "EDAC MC0: 0 UE memory scrubbing error on CPU_SrcID#0",
           "EDAC MC0: 0 CE memory scrubbing error on CPU_SrcID#0",
           "EDAC MC0: 1 U",
           "amdgpu 0000:c3:00.0: amdgpu: GPU reset(1) f",
           "amdgpu 0000:c3:00.0: amdgpu: ring gfx_0.0.0 timeout, but soft recovered",
           "[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring comp_1.1.0 timeout, but soft recovered",
           "amdgpu 0000:c3:00.0: amdgpu: Ring gfx_0.0.0 reset succeeded",
           "amdgpu 0000:c3:00.0: amdgpu: 2 correctable hardware errors detected in umc block, no "
           "user action is needed.",
           "amdgpu 0000:c3:00.0: [drm] device wedged, but recovered through reset",
           "xe 0000:03:00.0: [drm] GT0: reset done",
           "i915 0000:03:00.0: [drm] GT0: GuC submission enabled",
           "mlx5_core 0000:17:00.0: mlx5_health_try_recover:368:(pid 1): health recovery succeeded",
           "mlx5_core 0000:17:00.0: Port module event: module 0, Cable plugged",
           "mlx5_core 0000:17:00.0: temp_warn:145:(pid 0): High temperature on sensors with bit "
           "set 0x1",
           "mce: CMCI storm subsided: switching to interrupt mode",
           "mce: [Hardware Error]: CPU 3: Machine Check: 0 Bank 5: 9c00000000010090",
           "Memory failure: 0x1f2a: recovery action for dirty LRU page: Recovered",
           "pcieport 0000:00:03.0: AER: Multiple Correctable error message received from "
           "0000:01:00.0",
           "nvme nvme0: controller is down; will reset: CSTS=0x3, PCI_STATUS=0x10",
           "nvme nvme0: I/O tag 322 (1142) opcode 0x1 (I/O Cmd) QID 9 timeout, aborting "
           "req_op:WRITE(1) size:4096",
           "md/raid1:md0: Disk failure on sda1, disabling device.",
           "NVRM: Xid (PCI:0000:3b:00): 7",
           "NVRM: Xid (PCI:0000:3b:00): 4",
           "NVRM: Xid (PCI:0000:3b:00): 14",
           "NVRM: 17 callbacks suppressed",
           "NVRM: GPU 0000:3b:00.0 is already bound to nouveau.",
           "nvidia-modeset: ERROR: GPU:0: Failed to query display engine channel state",
           "Memory cgroup out of memory: Killed process 7 (python3) total-vm:1kB",
           "kernel: message repeated 5 times: [ EDAC MC0: 1 CE memory read error on CPU_SrcID#0]",
           "Dec  2 10:43:35 n1 slurmstepd[77]: NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off "
           "the bus.",
           "12,1,2,-;NVRM: GPU 0000:3b:00.0: GPU has fallen off the bus.",
       })
    EXPECT_FALSE(evacuates(classify_line(line).verdict)) << line;
}

// The same faults in other drivers' words, with wrappers and headers.
TEST(Classify, FaultsInOtherWords) {
  expect_all({
      {"Dec  2 10:43:35 n1 kernel: message repeated 2 times: [ NVRM: Xid (PCI:0000:3b:00): 79, "
       "pid=7, name=x, GPU has fallen off the bus.]",
       "gpu_lost", "reboot_node"},
      {"NVRM: GPU 0000:3b:00.0: GPU has fallen off the bus.", "gpu_lost", "reboot_node"},
      {"NVRM: Xid (PCI:0000:3b:00 GPU-I:02 GPU-CI:00): 13, pid=7, name=x, Graphics Exception: "
       "ESR 0x50de34=0x9",
       "app_fault", "restart_app"},
      {"pcieport 0000:00:03.0: AER: Multiple Uncorrectable (Fatal) error message received from "
       "0000:01:00.0",
       "pcie_fatal", "drain"},
      {"nvidia 0000:03:00.0: PCIe Bus Error: severity=Uncorrectable (Fatal), type=Transaction "
       "Layer, (Receiver ID)",
       "pcie_fatal", "drain"},
      {"EDAC MC1: 1 UE Multi-bit ECC on P1-DIMMA1 (node:0 card:1 module:0 rank:0 page:0x1)",
       "dimm_ue", "drain"},
      {"xe 0000:03:00.0: [drm] *ERROR* CRITICAL: Xe has declared device 0000:03:00.0 as wedged.",
       "intel_wedged", "reset_gpu"},
      {"xe 0000:03:00.0: [drm] *ERROR* Tile0: GT0: reset failed (-ETIMEDOUT)", "intel_reset_failed",
       "reset_gpu"},
      {"nvme nvme1: Disabling device after reset failure: -19", "nvme_dead", "drain"},
      {"mlx5_core 0000:17:00.0: poll_health:800:(pid 0): device's health compromised - reached "
       "miss count",
       "nic_fw_dead", "drain"},
  });
}

TEST(Classify, HealthStatesOfTheMission) {
  const auto state = [](std::string_view line) {
    const auto found = classify_line(line);
    return health_state(found.verdict, found.xid);
  };
  EXPECT_EQ(state("NVRM: Xid (PCI:0000:3b:00): 79, x"), "XID_CRITICAL_79");
  EXPECT_EQ(state("NVRM: Xid (PCI:0000:3b:00): 31, x"), "XID_WARNING_31");
  EXPECT_EQ(state("NVRM: Xid (PCI:0000:3b:00): 45, x"), "HEALTHY");
  EXPECT_EQ(
      state("amdgpu 0000:c3:00.0: amdgpu: 2 uncorrectable hardware errors detected in umc block"),
      "ECC_ERROR");
  EXPECT_EQ(state("xe 0000:03:00.0: [drm] Tile0: GT0: Engine reset: engine_class=ccs"),
            "GPU_HEALTH_WARNING");
  EXPECT_EQ(state("amdgpu 0000:c3:00.0: amdgpu: device lost from bus!"), "GPU_HEALTH_ERROR");
  EXPECT_EQ(state("usb 1-1: new device"), "HEALTHY");
}

}  // namespace
}  // namespace acrf
