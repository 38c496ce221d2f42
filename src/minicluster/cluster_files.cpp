// SPDX-License-Identifier: GPL-2.0-or-later
#include "minicluster/cluster_files.h"

#include <fmt/format.h>
#include <slurm/slurm_version.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <filesystem>

#include "build_paths.h"
#include "common/file.h"
#include "core/text.h"
#include "fakegpu/state.h"
#include "minicluster/command.h"
#include "minicluster/node_network.h"

namespace acrf::minicluster {
namespace {

namespace fs = std::filesystem;

std::string plugin_dirs(const ClusterOptions& options, const std::string& stage) {
  const std::string ours = stage + ACRF_PLUGINDIR;
  std::string dirs;
  if (options.select == SelectInstall::kDropIn) dirs = ours + "/acrf/dropin:";
  if (options.select == SelectInstall::kNamed) dirs = ours + "/acrf/named:";
  dirs += ours + ":" + ACRF_SYSTEM_PLUGINDIR;
  if (options.named_stays) dirs += ":" + ours + "/acrf/named";
  return dirs;
}

std::string host_name() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  const std::string text(name);
  return text.substr(0, text.find('.'));
}

std::string controller_lines(const ClusterOptions& options) {
  if (!options.backup)
    return fmt::format("SlurmctldHost={}({})\n", host_name(), controller_address(options, false));
  std::string text = fmt::format("SlurmctldTimeout={}\n", options.controller_timeout_s);
  for (const bool backup : {false, true}) {
    const auto host = controller_host(options, backup);
    text += fmt::format("SlurmctldHost={}({})\n", host.name, host.address);
  }
  return text;
}

// How the controllers' hosts know themselves and each other.
Status make_controller_hosts(const ClusterOptions& options) {
  std::string hosts = "127.0.0.1 localhost\n";
  for (const bool backup : {false, true}) {
    const auto host = controller_host(options, backup);
    fs::create_directories(host.run_directory);
    hosts += host.address + " " + host.name + "\n";
  }
  return write_file(options.root + "/etc/hosts", hosts, 0644);
}

std::string all_nodes(const ClusterOptions& options) {
  return fmt::format("n[1-{}]", options.nodes);
}

// Nodes in the cloud are always "powered down": slurmctld gives them to jobs, which then wait for
// the power saving thread to start the nodes. That thread looks once, at the start, and not again,
// so that nodes never change their power state and are free as soon as a job is cancelled. Their
// address is one to which the kernel opens no connection: slurmctld gives up at once, where a
// refused connection would be tried again for 20 s. (24.11 takes such intervals only without
// rates.)
std::string cloud_node_lines(const ClusterOptions& options) {
  return fmt::format(
      "ResumeProgram=/bin/true\n"
      "SuspendProgram=/bin/true\n"
      "SuspendTime=60\n"
      "ResumeRate=0\nSuspendRate=0\n"
      "SlurmctldDebug=verbose\n"  // for DebugFlags=Power to say when that thread has looked
      "SlurmctldParameters=power_save_min_interval=65535,power_save_interval=65535\n"
      "PrivateData=cloud\n"
      "NodeName={} NodeAddr={} Sockets=2 CoresPerSocket=64 ThreadsPerCore=1 "
      "RealMemory=2000000 Gres=gpu:h100:{} State=CLOUD\n",
      all_nodes(options), options.cloud_address, options.gpus_per_node);
}

std::string node_lines(const ClusterOptions& options, const std::vector<int>& ports) {
  if (options.cloud_nodes) return cloud_node_lines(options);
  std::string text;
  const auto names = node_names(options);
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += fmt::format(
        "NodeName={} NodeHostname=localhost NodeAddr={} Port={} Sockets=2 CoresPerSocket=8 "
        "ThreadsPerCore=1 RealMemory={} Gres=gpu:h100:{}{}{} State=UNKNOWN\n",
        names[i], node_address(options, static_cast<int>(i) + 1), ports[i + 1], options.memory_mb,
        options.gpus_per_node, options.gres.empty() ? "" : ",", options.gres);
  }
  return text;
}

std::string slurm_conf(const ClusterOptions& options, const std::vector<int>& ports,
                       const std::string& stage) {
  const std::string& root = options.root;
  std::string text = fmt::format(
      "ClusterName=acrf\n"
      "{0}"
      "SlurmctldPort={1}\n"
      "SlurmUser=root\n"
      "AuthType=auth/munge\n"
      "AuthInfo=socket={2}/munge.socket\n"
      "StateSaveLocation={2}/state\n"
      "SlurmdSpoolDir={2}/spool/%n\n"
      "SlurmctldPidFile={2}/run/slurmctld.pid\n"
      "SlurmdPidFile={2}/run/slurmd-%n.pid\n"
      "SlurmctldLogFile={2}/log/slurmctld.log\n"
      "SlurmdLogFile={2}/log/slurmd-%n.log\n"
      "PluginDir={3}\n"
      "PlugStackConfig={2}/etc/plugstack.conf\n"
      "JobSubmitPlugins=acrf\n"
      "SelectType={4}\n"
      "SelectTypeParameters=CR_Core_Memory\n"
      "SlurmdParameters=config_overrides\n"
      "ProctrackType=proctrack/pgid\n"
      "TaskPlugin=task/none\n"
      "MailProg=/bin/true\n"
      "ReturnToService=2\n"
      "DebugFlags=NO_CONF_HASH{5}\n"
      "GresTypes=gpu\n"
      "DefMemPerCPU=10\n",
      controller_lines(options), ports[0], root, plugin_dirs(options, stage),
      options.select == SelectInstall::kNamed ? "select/acrf" : "select/cons_tres",
      options.cloud_nodes ? ",Power" : "");
  // In networks of their own the daemons may listen everywhere; only two controllers share one.
  if (!options.networks) text += "CommunicationParameters=NoInAddrAny,NoCtldInAddrAny\n";
  if (options.networks && options.backup) text += "CommunicationParameters=NoCtldInAddrAny\n";
  if (!options.topology.empty())
    text += fmt::format("TopologyPlugin=topology/{}\n",
                        starts_with(options.topology, "BlockName") ? "block" : "tree");
  text += options.slurm_conf + node_lines(options, ports);
  return text + "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n";
}

// gres.conf's Links of one GPU: a count for each GPU, -1 for itself.
std::string links(const ClusterOptions& options, int gpu) {
  if (!options.gpu_islands) return "";
  std::string text;
  for (int other = 0; other < options.gpus_per_node; ++other)
    text += (text.empty() ? " Links=" : ",") + std::string(other == gpu           ? "-1"
                                                           : other % 2 == gpu % 2 ? "18"
                                                                                  : "1");
  return text;
}

// Half of the GPUs are at the first socket's cores.
std::string gres_lines(const ClusterOptions& options, const std::string& nodes,
                       const std::string& device, int cores) {
  std::string text;
  const int half = options.gpus_per_node / 2;
  for (int gpu = 0; gpu < options.gpus_per_node;) {
    const int first = gpu < half ? 0 : cores / 2;
    const int count = options.gpu_line_per_socket ? half : 1;
    const auto number =
        count > 1 ? fmt::format("[{}-{}]", gpu, gpu + count - 1) : fmt::to_string(gpu);
    text += fmt::format("NodeName={} Name=gpu Type=h100 File={}/dev/{}{} Cores={}-{}{}\n", nodes,
                        options.root, device, number, first, first + cores / 2 - 1,
                        links(options, gpu));
    gpu += count;
  }
  return text;
}

std::string gres_conf(const ClusterOptions& options) {
  if (options.cloud_nodes) return gres_lines(options, all_nodes(options), "cloud-nvidia", 128);
  std::string text;
  for (const auto& node : node_names(options))
    text += gres_lines(options, node, node + "-nvidia", 16);
  return text + options.gres_conf;
}

std::string hub_lines(const ClusterOptions& options, const std::vector<int>& ports) {
  std::string urls;
  for (int hub = 1; hub <= options.hubs; ++hub)
    urls += (hub == 1 ? "Hub=" : ",") + hub_url(options, ports, hub);
  return urls.empty() ? "" : urls + "\n";
}

std::string acrf_conf(const ClusterOptions& options, const std::vector<int>& ports) {
  return fmt::format(
      "Mode={}\n"
      "KernelLog={}/nodes/%n/kmsg\n"
      "StateDir={}/nodes/%n/acrf\n"
      "NvmlLibrary={}/acrf/fakegpu/libnvidia-ml.so.1\n"
      "FakeGpuState={}/nodes/%n/gpus.json\n"
      "NodeRoot={}/nodes/%n/root\n"
      "SampleInterval=1\n"
      "PeerPortOffset={}\n"
      "NodeCheckInterval=0\n{}{}",
      options.enforce ? "enforce" : "observe", options.root, options.root,
      staged(options, ACRF_LIBDIR), options.root, options.root, options.nodes,
      hub_lines(options, ports), options.acrf_conf);
}

// Each hub has its own place and history.
Status write_hub_confs(const ClusterOptions& options, const std::vector<int>& ports) {
  for (int hub = 1; hub <= options.hubs; ++hub) {
    auto text = fmt::format("{}HubListen={}:{}\nHubDir={}/hub-{}\n", acrf_conf(options, ports),
                            hub_address(options), hub_port(options, ports, hub), options.root, hub);
    if (options.networks)
      text += fmt::format("HubCertificate={0}/etc/hub.pem\nHubCertificateKey={0}/etc/hub.key\n",
                          options.root);
    const auto path = fmt::format("{}/etc/acrf-hub-{}.conf", options.root, hub);
    if (const auto written = write_file(path, text, 0644); !written) return written;
  }
  return Done{};
}

// Nothing here needs control groups, and slurmd must neither want them nor make any. 22.05 can't be
// told so, but its plugin touches its mount point only when it is used.
std::string cgroup_conf(const ClusterOptions& options) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
  static_cast<void>(options);
  return "CgroupPlugin=disabled\n";
#else
  return "CgroupPlugin=cgroup/v1\nCgroupMountpoint=" + options.root + "/cgroup\n";
#endif
}

Status make_munge_key(const std::string& path) {
  std::string key(128, '\0');
  if (::getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size()))
    return system_error("get random bytes");
  return write_file(path, key);
}

// Slurm wants device files; these are /dev/null by another name.
Status make_devices(const ClusterOptions& options, const std::string& node) {
  for (int gpu = 0; gpu < options.gpus_per_node; ++gpu) {
    const auto path = fmt::format("{}/dev/{}-nvidia{}", options.root, node, gpu);
    if (::mknod(path.c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0)
      return system_error("make device " + path);
  }
  return Done{};
}

// What NVIDIA's driver says of each GPU: the address of which minor number.
Status make_driver_files(const std::string& directory, const fakegpu::State& state) {
  for (std::size_t gpu = 0; gpu < state.gpus.size(); ++gpu) {
    const auto place = directory + "/root/proc/driver/nvidia/gpus/" + state.gpus[gpu].pci;
    fs::create_directories(place);
    const auto written =
        replace_file(place + "/information", fmt::format("Device Minor: \t {}\n", gpu), 0644);
    if (!written) return written;
  }
  return Done{};
}

Status make_node(const ClusterOptions& options, const std::string& node) {
  const std::string directory = options.root + "/nodes/" + node;
  fs::create_directories(directory);
  fs::create_directories(options.root + "/spool/" + node);
  if (const auto made = make_devices(options, node); !made) return made;
  if (const auto made = write_file(directory + "/kmsg", "", 0644); !made) return made;
  const auto state = fakegpu::healthy_state(node, options.gpus_per_node);
  if (const auto made = make_driver_files(directory, state); !made) return made;
  return fakegpu::save_state(directory + "/gpus.json", state);
}

// Slurm's daemons look at their own name, and Debian's alternatives may point to an emulator.
Status link_daemons(const std::string& root) {
  for (const std::string name : {"slurmctld", "slurmd", "slurmstepd"}) {
    auto file = find_command(name + "-wlm");
    if (file.empty()) file = find_command(name);
    if (file.empty())
      return Error{ErrorCode::kNotFound, name + " is not installed; on Debian: slurmctld, slurmd"};
    fs::create_symlink(file, root + "/sbin/" + name);
  }
  return Done{};
}

}  // namespace

std::string built_stage() { return ACRF_STAGE; }

std::vector<std::string> node_names(const ClusterOptions& options) {
  std::vector<std::string> names;
  for (int i = 1; i <= options.nodes; ++i) names.push_back("n" + std::to_string(i));
  return names;
}

int port_count(const ClusterOptions& options) {
  return (options.cloud_nodes ? 1 : 1 + 2 * options.nodes) + options.hubs;
}

int hub_port(const ClusterOptions& options, const std::vector<int>& ports, int hub) {
  if (hub == 1 && options.first_hub_port > 0) return options.first_hub_port;
  return ports[ports.size() - static_cast<std::size_t>(options.hubs - hub + 1)];
}

std::string hub_address(const ClusterOptions& options) {
  return options.networks ? controller_address(options, false) : "127.0.0.1";
}

std::string hub_url(const ClusterOptions& options, const std::vector<int>& ports, int hub) {
  return fmt::format("{}://{}:{}", options.networks ? "https" : "http", hub_address(options),
                     hub_port(options, ports, hub));
}

ControllerHost controller_host(const ClusterOptions& options, bool backup) {
  const auto address = controller_address(options, backup);
  if (!backup) return {"ctl1", address, options.root + "/run/ctl1", "slurmctld.log"};
  return {"ctl2", address, options.root + "/run/ctl2", "slurmctld-backup.log"};
}

std::string staged(const ClusterOptions& options, const std::string& path) {
  return options.stage + path;
}

Status write_slurm_conf(const ClusterOptions& options, const std::vector<int>& ports) {
  const std::string etc = options.root + "/etc/";
  const auto written =
      write_file(etc + "slurm.conf", slurm_conf(options, ports, options.stage), 0644);
  if (!written || options.controller_stage.empty()) return written;
  return write_file(etc + "slurmctld.conf", slurm_conf(options, ports, options.controller_stage),
                    0644);
}

Status write_cluster_files(const ClusterOptions& options, const std::vector<int>& ports) try {
  const std::string& root = options.root;
  for (const char* directory :
       {"dev", "etc", "log", "net", "nodes", "run", "sbin", "spool", "state"})
    fs::create_directories(root + "/" + directory);
  if (const auto linked = link_daemons(root); !linked) return linked;
  if (const auto made = make_munge_key(root + "/munge.key"); !made) return made;
  const std::string etc = root + "/etc/";
  const std::string spank = staged(options, ACRF_PLUGINDIR) + "/spank_acrf.so";
  const std::pair<std::string, std::string> files[] = {
      {"gres.conf", gres_conf(options)},
      {"acrf.conf", acrf_conf(options, ports)},
      {"plugstack.conf", "required " + spank + "\n"},
      {"cgroup.conf", cgroup_conf(options)},
  };
  for (const auto& [name, text] : files)
    if (const auto written = write_file(etc + name, text, 0644); !written) return written;
  if (const auto written = write_hub_confs(options, ports); !written) return written;
  if (const auto written = write_slurm_conf(options, ports); !written) return written;
  if (!options.topology.empty())
    if (const auto written = write_file(etc + "topology.conf", options.topology, 0644); !written)
      return written;
  if (options.backup)
    if (const auto made = make_controller_hosts(options); !made) return made;
  if (options.cloud_nodes) return make_devices(options, "cloud");
  for (const auto& node : node_names(options))
    if (const auto made = make_node(options, node); !made) return made;
  return Done{};
} catch (const fs::filesystem_error& problem) {
  return Error{ErrorCode::kSystem, problem.what()};
}

}  // namespace acrf::minicluster
