// SPDX-License-Identifier: GPL-2.0-or-later
// The fuzz target without a fuzzer: good texts, changed at random; the same ones in every run.
#include <gtest/gtest.h>

#include "fuzz/parsers.h"
#include "random.h"

namespace acrf {
namespace {

const std::string kSeeds[] = {
    "Mode=enforce\nMaxRequeues=3 # x\nPolicy=p Partition=a,b OptOut=no MaxTime=1-2:3:4 \\\n"
    " CheckpointRoots=/a,/b MaxGpus=8 ExcludeRisk=low\n"
    "Fault=xid:63 Action=watch Severity=warning Scope=gpu Mode=shadow\nFault=class:gsp Mode=off\n",
    "acrf:policy=requeue,max-requeues=8,checkpoint-dir=/c%20d,workload=training "
    "acrf-requeues:seen=3,hardware=1,failed=7@n1+1@n%202 acrf-avoid:n3",
    "acrf:gpus=0+3,suspect,risk=20",
    "SwitchName=l1 Nodes=n[1-2]\nSwitchName=top Switches=l[1-1]\nBlockName=b Nodes=n3\n",
    "gres:gpu:h100:4,gres/gpu:2",
    "/scratch/run 1/../x",
    "1-12:30:10",
    "90m",
    "Check=disk Program=\"/opt/check -w 5\" Interval=60 Timeout=5 Action=drain Mode=on\n",
    "NodeName=n[1-2] Name=gpu Type=h100 File=/dev/nvidia[0-7]\nName=gpu Count=4\n",
    "3,12,345,-;mlx5_core 0000:1a:00.0: gpu-n17 fe80::1 10.1.2.3 /home/x user=alice "
    "b8:ce:f6:11:22:33",
};

std::string changed(Random& random, std::string text) {
  for (int changes = 1 + random.below(6); changes > 0; --changes) {
    const auto at = static_cast<std::size_t>(random.below(static_cast<int>(text.size()) + 1));
    switch (random.below(4)) {
      case 0: text.insert(at, 1, static_cast<char>(random.below(256))); break;
      case 1: text.erase(at, static_cast<std::size_t>(random.below(5))); break;
      case 2: text.insert(at, text.substr(at / 2, 8)); break;
      default:
        if (at < text.size()) text[at] = "=,:%+ \n\"\\#[]-/9"[random.below(15)];
    }
  }
  return text;
}

TEST(Fuzz, ParsersSurviveDamagedText) {
  Random random(20261116);
  for (const auto& seed : kSeeds) {
    fuzz::feed_parsers(seed);
    for (int i = 0; i < 3000; ++i) fuzz::feed_parsers(changed(random, seed));
  }
}

TEST(Fuzz, FaultLinesSurviveDamagedText) {
  const std::string seeds[] = {
      "[1.5] NVRM: Xid (PCI:0000:3b:00 GPU-I:05): 94, pid=7, name=x, Contained: CE User Channel "
      "(0x9). RST: No, D-RST: No\n[2.5] NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action "
      "changed from 0x0 (None) to 0x1 (GPU Reset Required)\n",
      "Dec  2 10:43:35 w kernel: message repeated 3 times: [ [24.5] NVRM: Xid (PCI:0000:07:00): "
      "74, "
      "NVLink: fatal error detected on link 14(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)]\n"
      "nvidia-nvswitch0: SXid (PCI:0000:06:00.0): 28003, Non-fatal, Link 46 MC TS crumbstore\n",
      "NVRM: Xid (PCI:0008:01:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x004505c6 0x00000000 "
      "0x00000000)\n3,4471,3023054882,-;pcieport 0000:00:02.0: AER: Multiple Uncorrected (Fatal) "
      "error received: 0000:00:03.0\n",
      "amdgpu 0000:c3:00.0: amdgpu: {7} socket: 0, die: 0, 1 new uncorrectable hardware errors "
      "detected in gfx block\n[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring gfx timeout\n",
  };
  Random random(20261117);
  for (const auto& seed : seeds) {
    fuzz::feed_fault_lines(seed);
    for (int i = 0; i < 3000; ++i) fuzz::feed_fault_lines(changed(random, seed));
  }
}

TEST(Fuzz, FaultCatalogsSurviveDamagedText) {
  const std::string seeds[] = {
      "# acrf-catalog xid 1\n79\tgpu_lost\tfatal\tgpu\treboot_node\t100\tname\tsource\t\n",
      "# acrf-catalog message 1\nedac\tMC<n>: <n>=100> CE*$\tx\tinfo\tnode\twatch\t\ts\t\n",
      "# acrf-catalog nvlink5 1\n144\tU\t------000000----------0000100001\t"
      "------000000-------------0000001\t0x2\treset_gpu\tfatal\t-\ts\n",
  };
  Random random(20261118);
  for (const auto& seed : seeds) {
    fuzz::feed_fault_catalog(seed);
    for (int i = 0; i < 3000; ++i) fuzz::feed_fault_catalog(changed(random, seed));
  }
}

}  // namespace
}  // namespace acrf
