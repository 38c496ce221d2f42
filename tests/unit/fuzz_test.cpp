// SPDX-License-Identifier: GPL-2.0-or-later
// The fuzz target without a fuzzer: good texts, changed at random; the same ones in every run.
#include <gtest/gtest.h>

#include "fuzz/parsers.h"
#include "random.h"

namespace acrf {
namespace {

const std::string kSeeds[] = {
    "Mode=enforce\nMaxRequeues=3 # x\nPolicy=p Partition=a,b OptOut=no MaxTime=1-2:3:4 \\\n"
    " CheckpointRoots=/a,/b MaxGpus=8 ExcludeRisk=low\n",
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

}  // namespace
}  // namespace acrf
