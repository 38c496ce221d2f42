// SPDX-License-Identifier: GPL-2.0-or-later
// Readings out of made-up trees of /sys and /proc.
#include "sources/node_readings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/gres_devices.h"
#include "sources/finding_json.h"
#include "temporary_directory.h"

namespace acrf {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class NodeTree : public testing::Test {
 protected:
  void add_pci(const std::string& address, const std::string& kind, const std::string& vendor) {
    const std::string path = "sys/bus/pci/devices/" + address;
    tree_.write(path + "/class", kind + "\n");
    tree_.write(path + "/vendor", vendor + "\n");
  }
  NodePaths paths() const { return {tree_.path(), "n1", tree_.path("gres.conf")}; }

  TemporaryDirectory tree_;
};

TEST_F(NodeTree, AnEmptyTreeIsUnknownNotHealthyOrFailed) {
  const auto readings = NodeReader(paths()).read(0);
  EXPECT_THAT(readings.ports, IsEmpty());
  EXPECT_FALSE(readings.gpus.expected);
  EXPECT_FALSE(readings.memory.total_kb);
  EXPECT_FALSE(readings.has_nvswitches);
  EXPECT_FALSE(readings.slurmd_runs);
  NodeRules rules;
  for (int i = 0; i < 10; ++i) EXPECT_THAT(rules.observe(readings, i * 30), IsEmpty());
}

TEST_F(NodeTree, ReadsFabricPorts) {
  const std::string port = "sys/class/infiniband/mlx5_0/ports/1";
  tree_.write(port + "/state", "4: ACTIVE\n");
  tree_.write(port + "/counters/symbol_error", "17\n");
  tree_.write(port + "/counters/link_downed", "2\n");
  tree_.write("sys/class/infiniband/mlx5_1/ports/1/state", "1: DOWN\n");
  const auto ports = NodeReader(paths()).read_ports();
  ASSERT_EQ(ports.size(), 2u);
  EXPECT_EQ(ports[0].name, "mlx5_0/1");
  EXPECT_EQ(ports[0].active, true);
  EXPECT_EQ(ports[0].symbol_errors, 17u);
  EXPECT_EQ(ports[0].link_downs, 2u);
  EXPECT_FALSE(ports[0].link_recoveries);
  EXPECT_EQ(ports[1].active, false);
  EXPECT_FALSE(ports[1].rate_mbps);
}

// An Ethernet port without a cable calls itself disabled too: its interface tells who did it.
TEST_F(NodeTree, APortThatSomebodySwitchedOffIsNotDown) {
  const auto port = [&](const std::string& name, const std::string& fabric, const char* physical) {
    const auto path = "sys/class/infiniband/" + name + "/ports/1";
    tree_.write(path + "/state", "1: DOWN\n");
    tree_.write(path + "/link_layer", fabric + "\n");
    tree_.write(path + "/phys_state", physical);
  };
  port("a", "InfiniBand", "3: Disabled\n");
  port("b", "InfiniBand", "2: Polling\n");
  port("c", "Ethernet", "3: Disabled\n");
  tree_.write("sys/class/infiniband/c/device/net/eth0/flags", "0x1002\n");
  port("d", "Ethernet", "3: Disabled\n");
  tree_.write("sys/class/infiniband/d/device/net/eth1/flags", "0x1003\n");
  const auto ports = NodeReader(paths()).read_ports();
  ASSERT_EQ(ports.size(), 4u);
  EXPECT_FALSE(ports[0].active.has_value());
  EXPECT_EQ(ports[1].active, false);
  EXPECT_FALSE(ports[2].active.has_value());
  EXPECT_EQ(ports[3].active, false);
}

TEST_F(NodeTree, ReadsWhatItsOwnFabricCounts) {
  for (const std::string name : {"mlx5_0", "mlx5_1", "rxe0"}) {
    const auto port = "sys/class/infiniband/" + name + "/ports/1";
    tree_.write(port + "/state", "4: ACTIVE\n");
    tree_.write(port + "/counters/symbol_error", "1\n");
    tree_.write(port + "/counters/link_error_recovery", "2\n");
    tree_.write(port + "/counters/local_link_integrity_errors", "3\n");
    tree_.write(port + "/counters/port_rcv_errors", "4\n");
    tree_.write(port + "/hw_counters/local_ack_timeout_err", "5\n");
    tree_.write(port + "/hw_counters/rx_icrc_encapsulated", "6\n");
    tree_.write(port + "/hw_counters/roce_adp_retrans", "7\n");
    tree_.write(port + "/hw_counters/roce_slow_restart", "8\n");
  }
  tree_.write("sys/class/infiniband/mlx5_0/ports/1/link_layer", "InfiniBand\n");
  tree_.write("sys/class/infiniband/mlx5_0/ports/1/rate", "400 Gb/sec (4X NDR)\n");
  tree_.write("sys/class/infiniband/mlx5_1/ports/1/link_layer", "Ethernet\n");
  tree_.write("sys/class/infiniband/mlx5_1/ports/1/rate", "2.5 Gb/sec (1X SDR)\n");
  const auto ports = NodeReader(paths()).read_ports();
  ASSERT_EQ(ports.size(), 3u);
  EXPECT_EQ(ports[0].rate_mbps, 400'000u);
  EXPECT_EQ(ports[0].symbol_errors, 1u);
  EXPECT_EQ(ports[0].link_recoveries, 2u);
  EXPECT_EQ(ports[0].integrity_errors, 3u);
  EXPECT_EQ(ports[0].receive_errors, 4u);
  EXPECT_EQ(ports[0].ack_timeouts, 5u);
  EXPECT_FALSE(ports[0].icrc_errors || ports[0].retransmits || ports[0].slow_restarts);
  EXPECT_EQ(ports[1].rate_mbps, 2'500u);
  EXPECT_EQ(ports[1].receive_errors, 4u);
  EXPECT_EQ(ports[1].icrc_errors, 6u);
  EXPECT_EQ(ports[1].retransmits, 7u);
  EXPECT_EQ(ports[1].slow_restarts, 8u);
  EXPECT_FALSE(ports[1].symbol_errors || ports[1].link_recoveries || ports[1].integrity_errors);
  EXPECT_EQ(ports[2].symbol_errors, 1u);  // it does not say what it is
  EXPECT_EQ(ports[2].icrc_errors, 6u);
}

TEST_F(NodeTree, ReadsMemoryControllersAndPcieTotals) {
  tree_.write("sys/devices/system/edac/mc/mc0/ce_count", "5\n");
  tree_.write("sys/devices/system/edac/mc/mc0/ue_count", "garbage\n");
  tree_.write("sys/devices/system/edac/mc/power/control", "auto\n");
  const auto controllers = NodeReader(paths()).read_memory_controllers();
  ASSERT_EQ(controllers.size(), 1u);
  EXPECT_EQ(controllers[0].corrected, 5u);
  EXPECT_FALSE(controllers[0].uncorrected);

  add_pci("0000:1a:00.0", "0x030200", "0x10de");
  const std::string gpu = "sys/bus/pci/devices/0000:1a:00.0";
  tree_.write(gpu + "/aer_dev_correctable", "RxErr 3\nBadTLP 4\nTOTAL_ERR_COR 7\n");
  tree_.write(gpu + "/aer_dev_nonfatal", "Undefined 0\nTOTAL_ERR_NONFATAL 1\n");
  tree_.write(gpu + "/aer_dev_fatal", "Undefined 0\nTOTAL_ERR_FATAL 2\n");
  add_pci("0000:00:00.0", "0x060000", "0x8086");  // no AER
  const auto devices = NodeReader(paths()).read_pcie(0);
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_TRUE(devices[0].is_gpu);
  EXPECT_EQ(devices[0].correctable, 7u);
  EXPECT_EQ(devices[0].nonfatal, 1u);
  EXPECT_EQ(devices[0].fatal, 2u);
}

TEST_F(NodeTree, ComparesTheBusWithGresConf) {
  tree_.write("gres.conf",
              "AutoDetect=off\nNodeName=n[1-2] Name=gpu Type=h100 File=/dev/nvidia[0-2]\n"
              "NodeName=n3 Name=gpu File=/dev/nvidia[0-7]\nNodeName=n1 Name=shard Count=24\n");
  add_pci("0000:1a:00.0", "0x030200", "0x10de");
  add_pci("0000:1b:00.0", "0x030200", "0x10de");
  add_pci("0000:01:00.0", "0x030000", "0x1a03");  // the board's own screen
  tree_.write("dev/nvidia0", "");
  tree_.write("dev/nvidia1", "");
  const auto reading = NodeReader(paths()).read_gpu_count(0);
  EXPECT_EQ(reading.expected, 3);
  EXPECT_EQ(reading.on_bus, 2);
  EXPECT_THAT(reading.missing_files, ElementsAre("/dev/nvidia2"));
}

TEST_F(NodeTree, AGpuThatLeavesTheBusIsMissedAtOnceAndAReturnIsSeenLater) {
  tree_.write("gres.conf", "Name=gpu File=/dev/nvidia[0-1]\n");
  add_pci("0000:1a:00.0", "0x030200", "0x10de");
  add_pci("0000:1b:00.0", "0x030200", "0x10de");
  NodeReader node(paths());
  EXPECT_EQ(node.read_gpu_count(0).on_bus, 2);
  std::filesystem::remove_all(tree_.path("sys/bus/pci/devices/0000:1b:00.0"));
  EXPECT_EQ(node.read_gpu_count(1).on_bus, 1);
  add_pci("0000:1b:00.0", "0x030200", "0x10de");
  EXPECT_EQ(node.read_gpu_count(40).on_bus, 2);
  tree_.write("gres.conf", "Name=gpu File=/dev/nvidia[0-3]\n");
  EXPECT_EQ(node.read_gpu_count(41).expected, 4);
}

TEST_F(NodeTree, CountersOfGpusAreReadAtEachLookAndOthersInTheirTurn) {
  const auto set = [&](const std::string& address, int errors) {
    for (const std::string name : {"correctable", "nonfatal", "fatal"})
      tree_.write("sys/bus/pci/devices/" + address + "/aer_dev_" + name,
                  "TOTAL_ERR_X " + std::to_string(errors) + "\n");
  };
  add_pci("0000:1a:00.0", "0x030200", "0x10de");
  add_pci("0000:1c:00.0", "0x020700", "0x15b3");
  set("0000:1a:00.0", 0);
  set("0000:1c:00.0", 0);
  NodeReader node(paths());
  node.read_pcie(0);
  set("0000:1a:00.0", 1);
  set("0000:1c:00.0", 1);
  EXPECT_EQ(node.read_pcie(1)[0].fatal, 1u);
  EXPECT_EQ(node.read_pcie(10)[1].fatal, 1u);
}

TEST(KeptFiles, FilesOfSysfsAreReadAnewEachTime) {
  const TemporaryDirectory directory;
  KeptFiles files;
  directory.write("a", " 17\n");
  EXPECT_EQ(files.number(directory.path("a")), 17u);
  std::filesystem::remove(directory.path("a"));
  EXPECT_EQ(files.text(directory.path("a")), "");
  directory.write("a", "18\n");
  EXPECT_EQ(files.number(directory.path("a")), 18u);
  const std::string count = "/sys/kernel/uevent_seqnum";  // a number that grows by itself
  const auto first = files.number(count);
  const auto second = files.number(count);
  if (!first) GTEST_SKIP() << "no sysfs here";
  EXPECT_LE(*first, second.value_or(0));
}

TEST(GresConf, WhatIsDetectedOrNotOursIsUnknown) {
  for (const auto* text : {"AutoDetect=nvml\n", "NodeName=n7 Name=gpu File=/dev/nvidia0\n",
                           "Name=gpu AutoDetect=nvml\n", ""}) {
    const auto devices = gpus_of_node(text, "gres.conf", "n1");
    ASSERT_TRUE(devices.ok());
    EXPECT_FALSE(devices->is_known) << text;
  }
  EXPECT_FALSE(gpus_of_node("NodeName=n[1 Name=gpu Count=1\n", "gres.conf", "n1").ok());
  EXPECT_EQ(gpus_of_node("Name=gpu Count=4\n", "gres.conf", "n1")->gpus, 4);
}

class ProcTree : public NodeTree {
 protected:
  void add_process(int pid, const std::string& name, char state, const std::string& cmdline,
                   const std::string& cgroup) {
    const std::string path = "proc/" + std::to_string(pid);
    tree_.write(path + "/stat",
                std::to_string(pid) + " (" + name + ") " + std::string(1, state) + " 1 1 1\n");
    tree_.write(path + "/cmdline", cmdline);
    tree_.write(path + "/cgroup", "0::" + cgroup + "\n");
    std::filesystem::create_directories(tree_.path(path + "/fd"));
  }
  void open_gpu(int pid) {
    std::filesystem::create_symlink("/dev/nvidia0",
                                    tree_.path("proc/" + std::to_string(pid) + "/fd/7"));
  }
  NodeReadings read(std::int64_t now_s = 0) {
    NodeReadings readings;
    processes_.read(now_s, readings);
    return readings;
  }
  void end_process(int pid) {
    std::filesystem::remove_all(tree_.path("proc/" + std::to_string(pid)));
  }

  ProcessTable processes_{tree_.path()};
};

// Most processes are read once a minute; what is held against one is read anew.
TEST_F(ProcTree, KnowsProcessesWithoutReadingThemAgain) {
  const std::string job = "/system.slice/slurmstepd.scope/job_7/step_0/user/task_0";
  add_process(60, "slurmd", 'S', "slurmd", "/");
  add_process(120, "slurmstepd", 'S', "/usr/sbin/slurmstepd", "/");  // not yet its own name
  EXPECT_EQ(read(0).slurmd_runs, true);
  add_process(60, "slurmd", 'D', "slurmd", "/");
  EXPECT_EQ(read(1).slurmd_blocked, true);
  add_process(120, "slurmstepd", 'S', std::string("slurmstepd: [7.0]\0\0", 19), job);
  add_process(180, "train", 'D', "train", job);
  EXPECT_TRUE(read(2).stuck.empty());
  end_process(120);
  EXPECT_EQ(read(3).stuck.size(), 1u);
  add_process(180, "train", 'S', "train", job);
  EXPECT_TRUE(read(4).stuck.empty());
  end_process(60);
  EXPECT_EQ(read(5).slurmd_runs, false);
  add_process(180, "nv-fabricmanage", 'S', "x", "/");  // another program, seen within a minute
  EXPECT_EQ(read(65).fabric_manager_runs, true);
}

TEST_F(ProcTree, TheListIsReadAgainWhenTheKernelCountsOthers) {
  tree_.write("proc/loadavg", "0.20 0.18 0.12 1/80 11206\n");
  add_process(60, "slurmd", 'S', "slurmd", "/");
  EXPECT_EQ(read(0).fabric_manager_runs, false);
  add_process(61, "nv-fabricmanage", 'S', "x", "/");
  EXPECT_EQ(read(1).fabric_manager_runs, false);
  tree_.write("proc/loadavg", "0.25 0.18 0.12 3/80 11207\n");
  EXPECT_EQ(read(2).fabric_manager_runs, false) << "not again so soon";
  EXPECT_EQ(read(30).fabric_manager_runs, true);
  end_process(61);
  EXPECT_EQ(read(80).fabric_manager_runs, true);
  EXPECT_EQ(read(91).fabric_manager_runs, false) << "a minute later in any case";
}

TEST_F(ProcTree, ASlurmdThatWasStartedAgainIsMissedOnce) {
  tree_.write("proc/loadavg", "0.20 0.18 0.12 1/80 11206\n");
  add_process(60, "slurmd", 'S', "slurmd", "/");
  EXPECT_EQ(read(0).slurmd_runs, true);
  end_process(60);
  add_process(61, "slurmd", 'S', "slurmd", "/");
  tree_.write("proc/loadavg", "0.20 0.18 0.12 1/80 11207\n");
  EXPECT_EQ(read(1).slurmd_runs, false);
  EXPECT_EQ(read(2).slurmd_runs, true);
}

TEST_F(ProcTree, FindsServices) {
  add_process(10, "slurmd", 'D', "slurmd", "/");
  add_process(11, "nv-fabricmanage", 'S', "nv-fabricmanager", "/");
  const auto readings = read();
  EXPECT_EQ(readings.slurmd_runs, true);
  EXPECT_EQ(readings.slurmd_blocked, true);
  EXPECT_EQ(readings.fabric_manager_runs, true);
}

TEST_F(ProcTree, ReportsOnlyProcessesWhoseJobHasEnded) {
  const std::string job7 = "/system.slice/slurmstepd.scope/job_7/step_0/user/task_0";
  const std::string job8 = "/system.slice/slurmstepd.scope/job_8/step_0/user/task_0";
  add_process(100, "slurmstepd", 'S', std::string("slurmstepd: [7.0]\0\0", 19), job7);
  add_process(101, "train)", 'S', "train", job7);
  open_gpu(101);
  add_process(102, "left (over", 'S', "left", job8);
  open_gpu(102);
  add_process(103, "idle", 'S', "idle", job8);
  add_process(104, "blocked", 'D', "blocked", job8);
  add_process(106, "undead", 'Z', "", job8);
  add_process(105, "dcgm", 'S', "nv-hostengine", "/system.slice/dcgm.service");
  open_gpu(105);
  std::vector<int> pids;
  for (const auto& process : read().stuck) pids.push_back(process.pid);
  EXPECT_THAT(pids, testing::UnorderedElementsAre(102, 104, 106));
}

TEST_F(NodeTree, ReadsMemory) {
  tree_.write("proc/meminfo",
              "MemTotal:       1000 kB\nMemAvailable:    400 kB\nHardwareCorrupted:     4 kB\n");
  const auto memory = read_memory(tree_.path());
  EXPECT_EQ(memory.total_kb, 1000u);
  EXPECT_EQ(memory.available_kb, 400u);
  EXPECT_EQ(memory.corrupted_kb, 4u);
}

TEST(FileSystemReading, TellsMountTypeAndUse) {
  const TemporaryDirectory directory;
  std::filesystem::create_directories(directory.path("a b"));
  const std::string mounts =
      "none / overlay rw 0 0\nsrv:/x " + directory.path() + "/a\\040b nfs4 rw 0 0\n";
  const auto reading = read_file_system(directory.path("a b"), mounts);
  EXPECT_EQ(reading.mounted, true);
  EXPECT_EQ(reading.type, "nfs4");
  EXPECT_EQ(reading.writable, true);
  EXPECT_TRUE(reading.used_percent);
  EXPECT_EQ(read_file_system("/nowhere", mounts).mounted, false);
  EXPECT_FALSE(read_file_system("/nowhere", mounts).writable);
}

TEST(WorkerAnswers, SurviveTheWayThroughThePipe) {
  const std::vector<Finding> findings = {
      {{"ib_down", Severity::kCritical, Scope::kFabric, Action::kDrain, true},
       "mlx5_0/1",
       "x\n\xff"}};
  const auto back = findings_from_json(findings_to_json(findings));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->at(0).verdict.fault_class, "ib_down");
  EXPECT_EQ(back->at(0).verdict.scope, Scope::kFabric);
  EXPECT_TRUE(back->at(0).verdict.at_job_end);
  for (const auto* bad : {"", "{", "[1]", "[{}]", "7",
                          R"([{"class":"a","severity":"worse","scope":"gpu","action":"watch",)"
                          R"("at_job_end":false,"where":"","evidence":""}])"}) {
    EXPECT_FALSE(findings_from_json(bad).ok()) << bad;
    EXPECT_FALSE(file_system_from_json(bad).ok()) << bad;
    EXPECT_FALSE(check_result_from_json(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace acrf
