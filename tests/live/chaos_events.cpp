// SPDX-License-Identifier: GPL-2.0-or-later
// The disturbances of a chaos run, one by one.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "chaos_driver.h"
#include "chaos_processes.h"
#include "common/file.h"
#include "core/text.h"
#include "fakegpu/state.h"

namespace acrf::minicluster {
namespace {

namespace fs = std::filesystem;
// What a reboot of the node puts an end to.
bool ends_with_reboot(Disturbance kind) {
  switch (kind) {
    case Disturbance::kSlurmdKilled:
    case Disturbance::kSlurmdFrozen:
    case Disturbance::kHealthdKilled:
    case Disturbance::kHealthdFrozen:
    case Disturbance::kNodeKilled: return true;
    default: return false;
  }
}

bool hits_node(Disturbance kind) {
  switch (kind) {
    case Disturbance::kControllerKilled:
    case Disturbance::kControllerFrozen:
    case Disturbance::kControllerLost:
    case Disturbance::kBackupKilled:
    case Disturbance::kBackupFrozen:
    case Disturbance::kHubKilled:
    case Disturbance::kHubFrozen:
    case Disturbance::kProcessKilled:
    case Disturbance::kProcessFrozen: return false;
    default: return true;
  }
}

// Gone by now, perhaps, and its number somebody else's.
void wake(const std::string& process) {
  const auto pid =
      static_cast<pid_t>(parse_unsigned(process.substr(0, process.find(' '))).value_or(0));
  if (pid > 0 && process_identity(pid) == process) ::kill(pid, SIGCONT);
}

}  // namespace

// A job that slurmctld has not saved is lost with it, with or without ACRF.
Status ChaosDriver::kill_controller_in_charge(const std::string& daemon) {
  takeovers_before_ = takeovers();
  wait_until([&] { return jobs_.are_saved(); }, std::chrono::seconds(15));
  books_.note_controller_killed(seconds());
  return cluster_.kill(daemon);
}

// A backup that only stands by has nothing to lose.
Status ChaosDriver::kill_backup() {
  const bool in_charge =
      is_disturbed({Disturbance::kControllerLost}) && takeovers() > takeovers_before_;
  return in_charge ? kill_controller_in_charge("slurmctld-backup")
                   : cluster_.kill("slurmctld-backup");
}

// Wakes it in time, whatever the driver waits for meanwhile: see hits_controllers() for why.
Status ChaosDriver::freeze_controller(const std::string& daemon, std::int64_t for_ms) {
  if (waker_.valid()) waker_.wait();
  if (const auto stopped = cluster_.signal(daemon, SIGSTOP); !stopped) return stopped;
  waker_ = std::async(std::launch::async, [this, daemon, for_ms] {
    std::this_thread::sleep_for(std::chrono::milliseconds(for_ms));
    (void)cluster_.signal(daemon, SIGCONT);  // one that was killed since then needs no waking
  });
  return Done{};
}

void ChaosDriver::signal_process(const PlannedDisturbance& what) {
  const auto all = job_processes(cluster_);
  if (all.empty()) return note("there is no job process");
  const auto& process = all[what.pick % all.size()];
  note(fmt::format("{} of job {} on {}", process.what, process.job, process.node));
  const bool killed = what.kind == Disturbance::kProcessKilled;
  if (::kill(process.pid, killed ? SIGKILL : SIGSTOP) == 0 && !killed)
    endings_.push_back({what.at_ms + what.lasts_ms, what, process_identity(process.pid)});
}

void ChaosDriver::inject(const std::string& node, const PlannedDisturbance& what) {
  std::vector<std::string> command = {"acrf", "inject", "--node",
                                      node,   "--gpu",  std::to_string(what.pick % 8)};
  if (what.kind == Disturbance::kGpuLost) command.insert(command.end(), {"--xid", "79"});
  if (what.kind == Disturbance::kProgramFault) command.insert(command.end(), {"--xid", "31"});
  if (what.kind == Disturbance::kGpuToReset)
    command.insert(command.end(), {"--fault", "reset-required"});
  if (what.kind != Disturbance::kProgramFault) books_.note_fault(node, seconds(), true);
  const auto injected = cluster_.run(command);
  if (!injected.ok()) note("acrf inject: " + injected.errors);
}

void ChaosDriver::fill_disk(const std::string& node) {
  const auto filler = cluster_.path("nodes/" + node + "/acrf/filler");
  run_inside({"dd", "if=/dev/zero", "of=" + filler, "bs=1k", "count=65536"});
}

Status ChaosDriver::kill_node(const std::string& node) {
  // Whoever is forked while the others are killed goes in the next round.
  wait_until([&] { return signal_node(cluster_, node, SIGKILL) == 0; }, std::chrono::seconds(10));
  cluster_.wait_for_end("slurmd-" + node);
  cluster_.wait_for_end("healthd-" + node);
  return Done{};
}

// A boot cures what a reboot can cure, and has an id of its own.
Status ChaosDriver::boot_node(const std::string& node) {
  const auto directory = cluster_.path("nodes/" + node + "/root/proc/sys/kernel/random");
  fs::create_directories(directory);
  if (const auto written =
          write_file(directory + "/boot_id", fmt::format("{}-boot-{}\n", node, ++boots_[node]));
      !written)
    return written;
  mend_gpus(node, false);
  if (const auto started = cluster_.start_slurmd(node); !started) return started;
  return cluster_.start_healthd(node);
}

// Who replaces GPUs replaces them all.
void ChaosDriver::mend_gpus(const std::string& node, bool new_ones) {
  const auto path = cluster_.path("nodes/" + node + "/gpus.json");
  auto state = fakegpu::load_state(path);
  if (!state) return note(state.error().sentence);
  for (auto& gpu : state->gpus) {
    if (new_ones) gpu.uuid += "-new";
    gpu.lost = gpu.reset_required = false;
  }
  if (const auto saved = fakegpu::save_state(path, *state); !saved) note(saved.error().sentence);
}

// By the last word of acrf-healthd's log on each case.
bool ChaosDriver::is_left_to_people(const std::string& node) const {
  constexpr std::string_view kCase = " case ", kChange = " -> ";
  const auto log = read_file(cluster_.path("log/healthd-" + node + ".log"));
  std::map<std::string_view, bool> attended;
  if (!log) return false;
  for (const auto line : split(*log, '\n')) {
    const auto about = line.find(kCase), change = line.rfind(kChange);
    if (about == std::string_view::npos || change == std::string_view::npos) continue;
    const auto key =
        line.substr(about + kCase.size(), line.find(':', about) - about - kCase.size());
    attended[key] = starts_with(line.substr(change + kChange.size()), "attended");
  }
  return std::any_of(attended.begin(), attended.end(), [](const auto& one) { return one.second; });
}

Status ChaosDriver::reboot_node(const std::string& node, bool new_gpus) {
  std::erase_if(endings_, [&](const Ending& ending) {
    return ends_with_reboot(ending.what.kind) && name_of_node(ending.what.node) == node;
  });
  if (const auto killed = kill_node(node); !killed) return killed;
  mend_gpus(node, new_gpus);
  return boot_node(node);
}

void ChaosDriver::put_back(const std::string& node) {
  books_.note_proof(node, seconds());
  const auto resumed = cluster_.run({"scontrol", "update", "NodeName=" + node, "State=RESUME"});
  note(fmt::format("{}: people mend it and resume the node {}", node, resumed.errors));
}

// The site's programs leave files; machines and people obey. A node whose power is gone boots when
// that comes back. Who replaces GPUs switches the node off for it; who puts a node back into
// service by hand does so until it stays there.
Status ChaosDriver::serve_people() {
  for (const auto& node : cluster_.nodes()) {
    const auto replaced = cluster_.path("chaos/replace-" + node);
    if (fs::exists(replaced) && controller_answers()) {
      fs::remove(replaced);
      if (const auto booted = reboot_node(node, true); !booted) return booted;
      put_back(node);
    } else if (is_left_to_people(node) && controller_answers()) {
      mend_gpus(node, false);
      put_back(node);
    }
    const auto asked = cluster_.path("chaos/reboot-" + node);
    if (!fs::exists(asked)) continue;
    fs::remove(asked);
    note(node + " reboots");
    if (const auto booted = reboot_node(node, false); !booted) return booted;
  }
  return Done{};
}

Status ChaosDriver::begin(const PlannedDisturbance& what) {
  const auto node = name_of_node(what.node);
  const bool on_node = hits_node(what.kind);
  note(
      fmt::format("{}{}{}", name_of(what.kind), on_node ? " on " + node : "",
                  what.lasts_ms ? fmt::format(" for {:.1f} s", double(what.lasts_ms) / 1000) : ""));
  ++done_[what.kind];
  if (what.lasts_ms && what.kind != Disturbance::kProcessFrozen)
    endings_.push_back({what.at_ms + what.lasts_ms, what, ""});
  switch (what.kind) {
    case Disturbance::kControllerKilled:
    case Disturbance::kControllerLost: return kill_controller_in_charge("slurmctld");
    case Disturbance::kControllerFrozen: return freeze_controller("slurmctld", what.lasts_ms);
    case Disturbance::kBackupKilled: return kill_backup();
    case Disturbance::kBackupFrozen: return freeze_controller("slurmctld-backup", what.lasts_ms);
    case Disturbance::kSlurmdKilled: return cluster_.kill("slurmd-" + node);
    case Disturbance::kSlurmdFrozen:
      books_.note_fault(node, seconds(), false);
      return cluster_.signal("slurmd-" + node, SIGSTOP);
    case Disturbance::kHealthdKilled: return cluster_.kill("healthd-" + node);
    case Disturbance::kHealthdFrozen: return cluster_.signal("healthd-" + node, SIGSTOP);
    case Disturbance::kHubKilled: return cluster_.kill("hub-1");
    case Disturbance::kHubFrozen: return cluster_.signal("hub-1", SIGSTOP);
    case Disturbance::kProcessKilled:
    case Disturbance::kProcessFrozen: signal_process(what); break;
    case Disturbance::kNodeCutOff:
      books_.note_fault(node, seconds(), false);
      return cluster_.cut_off(node);
    case Disturbance::kNodeKilled:
      books_.note_fault(node, seconds(), false);
      return kill_node(node);
    case Disturbance::kDiskFull: fill_disk(node); break;
    case Disturbance::kGpuLost:
    case Disturbance::kGpuToReset:
    case Disturbance::kProgramFault: inject(node, what); break;
  }
  return Done{};
}

Status ChaosDriver::end(const Ending& ending) {
  const auto node = name_of_node(ending.what.node);
  note(fmt::format("end of: {}{}", name_of(ending.what.kind),
                   hits_node(ending.what.kind) ? " on " + node : ""));
  switch (ending.what.kind) {
    case Disturbance::kControllerKilled:
    case Disturbance::kControllerLost: return cluster_.start_slurmctld();
    case Disturbance::kBackupKilled: return cluster_.start_backup();
    case Disturbance::kControllerFrozen:
    case Disturbance::kBackupFrozen: waker_.wait(); return Done{};
    case Disturbance::kSlurmdKilled: return cluster_.start_slurmd(node);
    case Disturbance::kSlurmdFrozen: return cluster_.signal("slurmd-" + node, SIGCONT);
    case Disturbance::kHealthdKilled: return cluster_.start_healthd(node);
    case Disturbance::kHealthdFrozen: return cluster_.signal("healthd-" + node, SIGCONT);
    case Disturbance::kHubKilled: return cluster_.start_hub();
    case Disturbance::kHubFrozen: return cluster_.signal("hub-1", SIGCONT);
    case Disturbance::kProcessFrozen: wake(ending.process); return Done{};
    case Disturbance::kNodeCutOff: return cluster_.join(node);
    case Disturbance::kNodeKilled: return boot_node(node);
    case Disturbance::kDiskFull:
      run_inside({"rm", "-f", cluster_.path("nodes/" + node + "/acrf/filler")});
      return Done{};
    default: return Done{};
  }
}

}  // namespace acrf::minicluster
