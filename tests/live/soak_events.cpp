// SPDX-License-Identifier: GPL-2.0-or-later
// What befalls jobs and nodes in a soak. A command may come too late for the job it names; that is
// as much a part of it as the job's ending just before.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <ctime>
#include <thread>

#include "core/text.h"
#include "soak_driver.h"
#include "soak_jobs.h"

namespace acrf::minicluster {
namespace {

constexpr int kLongestQueue = 30;
constexpr int kMostOut = 3;  // nodes out of service
constexpr int kMostReservations = 3;

Seconds now() { return static_cast<Seconds>(std::time(nullptr)); }

template <typename Item>
Item take_any(Random& random, std::vector<Item>& items) {
  const auto at = items.begin() + random.below(static_cast<int>(items.size()));
  Item item = *at;
  items.erase(at);
  return item;
}

}  // namespace

std::string SoakDriver::random_node() {
  return "n" + std::to_string(1 + random_.below(cluster_.options().nodes));
}

std::vector<std::string> SoakDriver::queued(const std::string& states) {
  const auto shown = run_command({"squeue", "-h", "-t", states, "-o", "%A"});
  std::vector<std::string> ids;
  for (const auto id : split(trim(shown.output), '\n'))
    if (!id.empty()) ids.emplace_back(id);
  return ids;
}

std::string SoakDriver::one_queued(const std::string& states) {
  auto ids = queued(states);
  return ids.empty() ? "" : take_any(random_, ids);
}

// --- Jobs ------------------------------------------------------------------------------------

void SoakDriver::submit() {
  const auto job = random_job(random_, cluster_.options().nodes, reservations_);
  std::vector<std::string> command = {"sbatch", "--parsable"};
  command.insert(command.end(), job.options.begin(), job.options.end());
  const auto submitted = run_command(command);
  if (submitted.ok()) {
    accepted_ += job.jobs;
  } else {
    ++refused_;
  }
}

void SoakDriver::cancel_one() {
  ++counts_["cancel"];
  const auto id = one_queued("PENDING,RUNNING,SUSPENDED");
  if (!id.empty()) run_command({"scancel", id});
}

void SoakDriver::requeue_one() {
  ++counts_["requeue"];
  const auto id = one_queued("RUNNING");
  if (!id.empty()) run_command({"scontrol", random_.below(3) ? "requeue" : "requeuehold", id});
}

void SoakDriver::hold_one() {
  ++counts_["hold"];
  const auto id = one_queued("PENDING");
  if (!id.empty()) run_command({"scontrol", "hold", id});
}

void SoakDriver::release_one() {
  ++counts_["release"];
  const auto id = one_queued("PENDING");
  if (!id.empty()) run_command({"scontrol", "release", id});
}

void SoakDriver::suspend_one() {
  ++counts_["suspend"];
  const auto id = one_queued("RUNNING");
  if (!id.empty()) run_command({"scontrol", "suspend", id});
}

void SoakDriver::resume_one() {
  ++counts_["resume"];
  const auto id = one_queued("SUSPENDED");
  if (!id.empty()) run_command({"scontrol", "resume", id});
}

// scontrol leaves a script for the job in its working directory.
void SoakDriver::shrink_one() {
  ++counts_["shrink"];
  const auto shown = run_command({"squeue", "-h", "-t", "RUNNING", "-o", "%A %D"});
  std::vector<std::pair<std::string, int>> wide;
  for (const auto line : split(trim(shown.output), '\n')) {
    const auto blank = line.find(' ');
    if (blank == std::string_view::npos) continue;
    const auto nodes = parse_unsigned(line.substr(blank + 1)).value_or(0);
    if (nodes > 1) wide.emplace_back(line.substr(0, blank), static_cast<int>(nodes));
  }
  if (wide.empty()) return;
  const auto [id, nodes] = take_any(random_, wide);
  run_command({"/usr/bin/env", "-C", cluster_.path("run"), "scontrol", "update", "JobId=" + id,
               fmt::format("NumNodes={}", 1 + random_.below(nodes - 1))});
}

// Requeued jobs would otherwise wait two minutes.
void SoakDriver::hasten_one() {
  ++counts_["hasten"];
  const auto id = one_queued("PENDING");
  if (!id.empty()) run_command({"scontrol", "update", "JobId=" + id, "StartTime=now"});
}

// Jobs that can't run for long must not be all that is left.
void SoakDriver::keep_queue_short() {
  auto waiting = queued("PENDING");
  if (static_cast<int>(waiting.size()) <= kLongestQueue) return;
  if (wait_until([&] { return static_cast<int>(queued("PENDING").size()) <= kLongestQueue; },
                 std::chrono::seconds(4), std::chrono::milliseconds(200)))
    return;
  std::vector<std::string> command = {"scancel"};
  for (int i = 0; i < kLongestQueue / 2; ++i) command.push_back(take_any(random_, waiting));
  run_command(command);
  counts_["culled"] += kLongestQueue / 2;
}

// --- Nodes -----------------------------------------------------------------------------------

void SoakDriver::drain_one() {
  if (static_cast<int>(out_of_service_.size()) >= kMostOut) return bring_one_back();
  ++counts_["drain"];
  out_of_service_.push_back(random_node());
  run_command({"scontrol", "update", "NodeName=" + out_of_service_.back(), "State=DRAIN",
               random_.below(2) ? "Reason=ACRF: gpu_lost GPU0 drain [x]" : "Reason=soak"});
}

void SoakDriver::fail_one() {
  if (static_cast<int>(out_of_service_.size()) >= kMostOut) return bring_one_back();
  ++counts_["down"];
  out_of_service_.push_back(random_node());
  run_command(
      {"scontrol", "update", "NodeName=" + out_of_service_.back(), "State=DOWN", "Reason=soak"});
}

void SoakDriver::bring_one_back() {
  if (out_of_service_.empty()) {
    bring_all_back();
    return;
  }
  ++counts_["bring back"];
  const auto node = take_any(random_, out_of_service_);
  run_command({"scontrol", "update", "NodeName=" + node, "State=RESUME"});
}

// A node that was drained and then went down needs it twice; and one that has jobs which a killed
// slurmctld forgot is drained by slurmctld.
bool SoakDriver::bring_all_back() {
  out_of_service_.clear();
  bool all_idle = true;
  for (const auto& node : nodes()) {
    all_idle &= node.is_idle();
    if (node.state.find("DRAIN") != std::string::npos ||
        node.state.find("DOWN") != std::string::npos)
      run_command({"scontrol", "update", "NodeName=" + node.name, "State=RESUME"});
  }
  return all_idle;
}

void SoakDriver::change_health() {
  ++counts_["health"];
  NodeHealth health;
  const auto node = random_node();
  if (random_.below(3) == 0) return set_health(node, health);
  for (int count = random_.below(4); count > 0; --count)
    health.quarantined |= GpuMask{1} << random_.below(cluster_.options().gpus_per_node);
  health.suspect = random_.below(5) == 0;
  if (random_.below(3) == 0) health.risk = random_.below(101);
  set_health(node, health);
}

// What was in force before is no longer certain from here on, and what is set now is not before
// slurmctld has said so.
void SoakDriver::set_health(const std::string& node, const NodeHealth& health) {
  books_.end_quarantine(node, now());
  const auto set = run_command(
      {"scontrol", "update", "NodeName=" + node, "Comment=" + with_node_health("", health)});
  if (!set.ok()) complain("cannot set a node's comment: " + set.errors);
  health_[node] = health;
  if (guarded_) books_.begin_quarantine(node, health.quarantined, now());
}

void SoakDriver::heal_all() {
  for (const auto& node : cluster_.nodes()) set_health(node, {});
}

// --- Daemons ---------------------------------------------------------------------------------

// Its jobs go on without it, and some end in the meantime.
void SoakDriver::restart_slurmd() {
  ++counts_["slurmd killed"];
  const auto node = random_node();
  note("slurmd of " + node);
  if (!cluster_.kill("slurmd-" + node).ok()) complain("slurmd of " + node + " had ended");
  std::this_thread::sleep_for(std::chrono::milliseconds(100 * random_.below(10)));
  if (!cluster_.start_slurmd(node).ok()) complain("slurmd of " + node + " does not start");
}

// A killed slurmctld knows what it last saved, some seconds ago.
void SoakDriver::restart_slurmctld(int signal) {
  ++counts_[signal == SIGKILL ? "slurmctld killed" : "slurmctld restarted"];
  note(fmt::format("signal {} to slurmctld", signal));
  check_daemons();
  look();
  if (signal == SIGKILL)
    for (const auto& node : cluster_.nodes()) books_.end_quarantine(node, now());
  if (!cluster_.signal("slurmctld", signal).ok()) complain("slurmctld had ended");
  if (!cluster_.wait_for_end("slurmctld")) complain("slurmctld does not end");
  const auto ended = cluster_.ended("slurmctld");
  const int wanted = signal == SIGKILL ? 128 + SIGKILL : 0;
  if (!ended || !*ended || **ended != wanted)
    complain(fmt::format("slurmctld ended with {} on signal {}", ended && *ended ? **ended : -1,
                         signal));
  if (const auto started = cluster_.start_slurmctld(); !started) complain(started.error().sentence);
  if (signal == SIGKILL) {
    books_.forget_runs();
    for (const auto& [node, health] : std::map(health_)) set_health(node, health);
  } else {
    check_tokens();
  }
}

void SoakDriver::check_tokens() {
  for (const auto& node : nodes()) {
    const auto wanted = with_node_health("", health_[node.name]);
    if (node.comment != wanted)
      complain(fmt::format("{} had the comment '{}' before slurmctld's restart and has '{}' now",
                           node.name, wanted, node.comment));
  }
}

void SoakDriver::reserve() {
  if (static_cast<int>(reservations_.size()) >= kMostReservations) return unreserve();
  ++counts_["reserve"];
  const auto name = "r" + std::to_string(++next_reservation_);
  std::vector<std::string> command = {"scontrol",
                                      "create",
                                      "reservation",
                                      "Users=root",
                                      "StartTime=now",
                                      "Duration=1",
                                      "ReservationName=" + name};
  if (random_.below(2)) {
    command.insert(command.end(), {"Nodes=" + random_node(), "Flags=IGNORE_JOBS"});
  } else {
    command.insert(command.end(), {"NodeCnt=1", fmt::format("CoreCnt={}", 1 + random_.below(8))});
  }
  if (run_command(command).ok()) reservations_.push_back(name);
}

void SoakDriver::unreserve() {
  if (reservations_.empty()) return;
  ++counts_["unreserve"];
  const auto name = take_any(random_, reservations_);
  const auto deleted = run_command({"scontrol", "delete", "ReservationName=" + name});
  // Not while its jobs run; and a killed slurmctld may never have heard of it.
  if (!deleted.ok() && deleted.errors.find("is invalid") == std::string::npos)
    reservations_.push_back(name);
}

// All that slurmctld knows: a killed one may have forgotten that a reservation was deleted.
void SoakDriver::delete_reservations() {
  reservations_.clear();
  const auto shown = run_command({"scontrol", "-o", "show", "reservation"});
  for (std::string_view line : split(shown.output, '\n')) {
    if (!take_prefix(line, "ReservationName=")) continue;
    run_command(
        {"scontrol", "delete", "ReservationName=" + std::string(line.substr(0, line.find(' ')))});
  }
}

}  // namespace acrf::minicluster
