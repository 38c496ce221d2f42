// SPDX-License-Identifier: GPL-2.0-or-later
// What the checks of a made-up node lead to on a real cluster: its own hardware takes it out of
// service when its jobs have ended, what may be others' fault is only reported.
#include <gmock/gmock.h>

#include <filesystem>

#include "common/file.h"
#include "core/text.h"
#include "live_cluster.h"

namespace acrf::minicluster {
namespace {

using testing::HasSubstr;

class NodeChecksLive : public LiveCluster {
 protected:
  // The cluster's nodes share this machine, so that their checks are off: n1 gets a made-up /sys.
  void start_cluster(const std::string& acrf_conf) {
    auto options = small();
    options.nodes = 2;
    options.acrf_conf = acrf_conf;
    start(options);
    ASSERT_TRUE(cluster().kill("healthd-n1").ok());
    auto text = text_of(cluster().path("etc/acrf.conf"));
    const std::string off = "NodeCheckInterval=0";
    const auto at = text.find(off);
    ASSERT_NE(at, std::string::npos) << text;
    text.replace(at, off.size(), "NodeCheckInterval=1");
    ASSERT_TRUE(write_file(cluster().path("etc/acrf.conf"), text, 0644).ok());
  }

  std::string made_up(const std::string& path) const { return root_ + "/nodes/n1/root/" + path; }

  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(made_up(path)).parent_path());
    ASSERT_TRUE(write_file(made_up(path), text, 0644).ok());
  }

  static std::string pci(int gpu) {
    return "sys/bus/pci/devices/0000:" + std::to_string(gpu + 1) + "0:00.0";
  }

  // What the checks remember of the node once they have seen it.
  bool checks_have_seen(const std::string& text) {
    return wait_until([&] {
      return text_of(root_ + "/nodes/n1/acrf/node-rules.state").find(text) != std::string::npos;
    });
  }

  std::string run_job() {
    const auto submitted =
        cluster().run({"sbatch", "--parsable", "-w", "n1", "--gpus-per-node=8",
                       "--output=/dev/null", "--acrf-policy=requeue", "--wrap=sleep 1000"});
    EXPECT_TRUE(submitted.ok()) << submitted.errors;
    const std::string id(trim(submitted.output));
    EXPECT_TRUE(wait_until([&] { return job(id).state == "RUNNING"; }));
    return id;
  }
};

TEST_F(NodeChecksLive, AGpuThatIsGoneFromTheBusDrainsItsNodeAndTheJobThereGoesOn) {
  start_cluster("");
  for (int gpu = 0; gpu < 8; ++gpu) {
    write(pci(gpu) + "/vendor", "0x10de\n");
    write(pci(gpu) + "/class", "0x030200\n");
  }
  ASSERT_TRUE(cluster().start_healthd("n1").ok());
  ASSERT_TRUE(checks_have_seen("gpus - 8\n"));
  const auto id = run_job();
  std::filesystem::remove_all(made_up(pci(3)));
  ASSERT_TRUE(wait_until([&] { return node("n1").drained; }, std::chrono::seconds(120)));
  EXPECT_THAT(node("n1").reason, HasSubstr("ACRF: gpu_missing node reboot_node"));
  ASSERT_TRUE(healthd_says("n1", "closed: node drained"));  // its jobs have been looked at
  EXPECT_EQ(job(id).state, "RUNNING");
  EXPECT_EQ(job(id).restarts, 0);
}

TEST_F(NodeChecksLive, WhatAServerMayBeToBlameForOrTheSiteHasSwitchedOffDrainsNothing) {
  const auto scratch = programs() + "/scratch", full = programs() + "/full";
  for (const auto& path : {scratch, full}) std::filesystem::create_directories(path);
  start_cluster("FileSystems=" + scratch + "," + full +
                "\nFault=class:edac_uncorrected Mode=shadow\n");
  const auto inside = [&](std::vector<std::string> command) {
    auto words = cluster().inside({"--mount"});
    words.insert(words.end(), command.begin(), command.end());
    return cluster().run(words).ok();
  };
  if (!inside({"mount", "-t", "tmpfs", "none", scratch}) ||
      !inside({"mount", "-t", "tmpfs", "-o", "size=64k", "none", full}))
    GTEST_SKIP() << "no file system can be mounted here";
  ASSERT_FALSE(inside({"dd", "if=/dev/zero", "of=" + full + "/filler", "bs=1k", "count=65"}));
  const std::string memory = "sys/devices/system/edac/mc/mc0";
  write(memory + "/ce_count", "0\n");
  write(memory + "/ue_count", "0\n");
  ASSERT_TRUE(cluster().start_healthd("n1").ok());
  ASSERT_TRUE(checks_have_seen("memory mc0 "));
  write(memory + "/ue_count", "1\n");
  ASSERT_TRUE(healthd_says("n1", "edac_uncorrected mc0: 1 uncorrected memory errors (in shadow"));
  ASSERT_TRUE(healthd_says("n1", "fs_full on the " + full));  // after two looks at all
  ASSERT_TRUE(inside({"umount", scratch}));
  ASSERT_TRUE(healthd_says("n1", "watching (Mode=shadow: would drain)"));
  const auto is_decided = [&] {
    return cluster()
               .run({"acrf", "audit", "--json", "--state-dir", root_ + "/nodes/n1/acrf"})
               .output.find("fs_not_mounted") != std::string::npos;
  };
  EXPECT_TRUE(wait_until(is_decided));
  EXPECT_FALSE(node("n1").drained);
}

}  // namespace
}  // namespace acrf::minicluster
