// SPDX-License-Identifier: GPL-2.0-or-later
// The course of a chaos run, its looks and its judgement.
#include "chaos_driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "chaos_hub.h"
#include "chaos_processes.h"
#include "common/file.h"
#include "core/text.h"
#include "fakegpu/state.h"

namespace acrf::minicluster {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLook{400};
constexpr std::chrono::seconds kAnswer{20};     // of a slurmctld that may be frozen
constexpr std::chrono::seconds kPatience{300};  // until all has come to rest
constexpr char kStateDirMount[] = "size=4m,mode=700";

// Programs of the site: they leave traces that the driver reads. A GPU is what its state says, and
// the test reads just that.
constexpr char kReset[] =
    "#!/bin/sh\nexec sed -i 's/\"reset_required\": *true/\"reset_required\": false/' "
    "\"{root}/nodes/$1/gpus.json\"\n";
constexpr char kReboot[] = "#!/bin/sh\ntouch \"{root}/chaos/reboot-$1\"\n";
constexpr char kReplace[] = "#!/bin/sh\ntouch \"{root}/chaos/replace-$1\"\n";
constexpr char kTest[] =
    "#!/bin/sh\n"
    "grep -Eq '\"(lost|reset_required)\": *true' \"{root}/nodes/$1/gpus.json\" && exit 1\n"
    "echo passed >>\"{root}/chaos/proof-$1\"\n";

std::string filled(std::string text, const std::string& root) {
  constexpr std::string_view kWord = "{root}";
  for (auto at = text.find(kWord); at != std::string::npos; at = text.find(kWord))
    text.replace(at, kWord.size(), root);
  return text;
}

}  // namespace

void ChaosDriver::prepare(ClusterOptions& options) {
  options.nodes = 8;
  options.networks = true;
  options.backup = true;
  options.hubs = 1;
  options.controller_timeout_s = 10;  // longer than slurmctld is ever frozen
  options.slurm_conf +=
      "SchedulerParameters=batch_sched_delay=0,bf_interval=2\n"
      "SlurmdTimeout=15\nMinJobAge=7200\nKillWait=5\nUnkillableStepTimeout=120\n";
  const auto chaos = options.root + "/chaos/";
  options.acrf_conf += fmt::format(
      "MaxDrainsPerHour=100%\nMaxDrained=100%\nMinHealthy=0%\nCommonCauseNodes=0\n"
      "RebootTimeLimit=20\nMaxFaults=1000\nMaxRemedies=1000\nProbationTime=30\nRequeueBackoff=1\n"
      "MaxApplicationRequeues=20\nResetProgram={0}reset\nRebootProgram={0}reboot\n"
      "ReplaceProgram={0}replace\nTestProgram={0}test\n",
      chaos);
}

ChaosDriver::ChaosDriver(Cluster& cluster, std::uint64_t seed, int seconds)
    : cluster_(cluster),
      plan_(chaos_plan(seed, seconds, int(cluster.nodes().size()))),
      jobs_(cluster) {}

Status ChaosDriver::run() {
  if (const auto ready = set_up(); !ready) return ready;
  begun_ = Clock::now();
  if (const auto gone = go_through_plan(); !gone) return gone;
  return settle();
}

// StateDir becomes a file system of its own, so that it can be full without harm to others.
Status ChaosDriver::set_up() {
  if (const auto ready = jobs_.prepare(); !ready) return ready;
  for (const auto& [name, text] :
       {std::pair{"reset", kReset}, {"reboot", kReboot}, {"replace", kReplace}, {"test", kTest}})
    if (const auto written = write_file(cluster_.path(std::string("chaos/") + name),
                                        filled(text, cluster_.options().root), 0755);
        !written)
      return written;
  for (const auto& node : cluster_.nodes()) {
    if (const auto killed = kill_node(node); !killed) return killed;
    const auto state = cluster_.path("nodes/" + node + "/acrf");
    const auto mounted = run_inside({"mount", "-t", "tmpfs", "-o", kStateDirMount, "none", state});
    if (!mounted.ok()) return Error{ErrorCode::kSystem, "mount: " + mounted.errors};
    if (const auto booted = boot_node(node); !booted) return booted;
  }
  const bool ready = wait_until([&] {
    const auto seen = nodes();
    return seen && std::all_of(seen->begin(), seen->end(),
                               [](const NodeRecord& node) { return node.is_idle(); });
  });
  if (ready) return Done{};
  return Error{ErrorCode::kUnavailable, "the nodes did not come up"};
}

CommandResult ChaosDriver::run_inside(const std::vector<std::string>& command) const {
  auto words = cluster_.inside({"--mount", "--net"});
  words.insert(words.end(), command.begin(), command.end());
  return run_command(words, cluster_.environment());
}

Status ChaosDriver::go_through_plan() {
  auto job = plan_.jobs.begin();
  auto next = plan_.disturbances.begin();
  while (job != plan_.jobs.end() || next != plan_.disturbances.end()) {
    const bool job_first =
        next == plan_.disturbances.end() || (job != plan_.jobs.end() && job->at_ms <= next->at_ms);
    const auto at_ms = job_first ? job->at_ms : next->at_ms;
    if (const auto waited = wait_until_ms(at_ms); !waited) return waited;
    const auto done = job_first ? submit(*job++) : begin(*next++);
    if (!done) return done;
  }
  while (!endings_.empty()) {
    const auto last =
        std::min_element(endings_.begin(), endings_.end(),
                         [](const Ending& a, const Ending& b) { return a.at_ms < b.at_ms; });
    if (const auto waited = wait_until_ms(last->at_ms); !waited) return waited;
  }
  return Done{};
}

// Only while slurmctld can answer: the driver would wait for it, and it for the driver.
Status ChaosDriver::submit(const PlannedJob& job) {
  while (!controller_answers())
    if (const auto waited = wait_until_ms(now_ms() + kLook.count()); !waited) return waited;
  if (const auto submitted = jobs_.submit(job); !submitted) return submitted;
  note(fmt::format("job {} wants {} nodes{}", jobs_.all().back().id, job.nodes,
                   job.failover ? ", one of them spare" : ""));
  return Done{};
}

bool ChaosDriver::is_disturbed(std::initializer_list<Disturbance> kinds) const {
  return std::any_of(endings_.begin(), endings_.end(), [&](const Ending& ending) {
    return std::find(kinds.begin(), kinds.end(), ending.what.kind) != kinds.end();
  });
}

bool ChaosDriver::controller_answers() const {
  if (is_disturbed({Disturbance::kControllerKilled, Disturbance::kControllerFrozen})) return false;
  if (!is_disturbed({Disturbance::kControllerLost})) return true;
  return takeovers() > takeovers_before_ && !is_disturbed({Disturbance::kBackupKilled});
}

int ChaosDriver::takeovers() const {
  constexpr std::string_view kSays = "Running as primary controller";
  const auto log = read_file(cluster_.path("log/slurmctld-backup.log"));
  int count = 0;
  for (auto at = log ? log->find(kSays) : std::string::npos; at != std::string::npos;
       at = log->find(kSays, at + 1))
    ++count;
  return count;
}

// Looks, and ends what is due, until the plan's time has come; a driver that is late does all of it
// once.
Status ChaosDriver::wait_until_ms(std::int64_t at_ms) {
  Status problem = Done{};
  const auto when = begun_ + milliseconds(at_ms);
  do {
    if (problem = end_due(std::min(now_ms(), at_ms)); !problem) return problem;
    if (problem = serve_people(); !problem) return problem;
    if (problem = look(); !problem) return problem;
    wait_until([&] { return Clock::now() >= when; }, kLook);
  } while (Clock::now() < when);
  return end_due(at_ms);
}

Status ChaosDriver::end_due(std::int64_t at_ms) {
  for (auto ending = endings_.begin(); ending != endings_.end();) {
    if (ending->at_ms > at_ms) {
      ++ending;
      continue;
    }
    const Ending due = *ending;
    ending = endings_.erase(ending);
    if (const auto ended = end(due); !ended) return ended;
  }
  return Done{};
}

// --- Looks -----------------------------------------------------------------------------------

std::optional<std::vector<NodeRecord>> ChaosDriver::nodes() const {
  const auto shown = cluster_.run({"scontrol", "-d", "-o", "show", "node"}, kAnswer);
  if (!shown.ok()) return std::nullopt;
  return read_nodes(shown.output);
}

std::optional<std::vector<JobRecord>> ChaosDriver::jobs() const {
  const auto shown =
      cluster_.run({"env", "SLURM_TIME_FORMAT=%s", "scontrol", "-d", "-o", "show", "job"}, kAnswer);
  if (!shown.ok()) return std::nullopt;
  return read_jobs(shown.output);
}

// slurmctld is asked only while it can answer.
Status ChaosDriver::look() {
  for (const auto& wrong : jobs_.look_at_checkpoints()) complain(wrong);
  look_at_proofs();
  for (const auto& [daemon, killed] :
       {std::pair{"slurmctld",
                  is_disturbed({Disturbance::kControllerKilled, Disturbance::kControllerLost})},
        {"slurmctld-backup", is_disturbed({Disturbance::kBackupKilled})}}) {
    const auto ended = cluster_.ended(daemon);
    if (!killed && (!ended || ended->has_value()))
      return Error{ErrorCode::kUnavailable, std::string(daemon) + " has ended by itself"};
  }
  if (!controller_answers()) return Done{};
  if (const auto seen = nodes())
    for (const auto& news : books_.see(*seen, seconds())) note(news);
  return Done{};
}

void ChaosDriver::look_at_proofs() {
  for (const auto& node : cluster_.nodes()) {
    const auto text = read_file(cluster_.path("chaos/proof-" + node));
    const int passed = text ? int(std::count(text->begin(), text->end(), '\n')) : 0;
    if (passed == proofs_read_[node]) continue;
    proofs_read_[node] = passed;
    note(node + " has passed its test");
    books_.note_proof(node, seconds());
  }
}

std::vector<std::string> ChaosDriver::sick_nodes() const {
  std::vector<std::string> sick;
  for (const auto& node : cluster_.nodes()) {
    const auto state = fakegpu::load_state(cluster_.path("nodes/" + node + "/gpus.json"));
    if (!state) continue;
    if (std::any_of(state->gpus.begin(), state->gpus.end(),
                    [](const fakegpu::Gpu& gpu) { return gpu.lost || gpu.reset_required; }))
      sick.push_back(node);
  }
  return sick;
}

// --- The end ---------------------------------------------------------------------------------

bool ChaosDriver::is_at_rest(const std::vector<JobRecord>& jobs,
                             const std::vector<NodeRecord>& nodes) const {
  for (const auto& mine : jobs_.all()) {
    const auto record = std::find_if(jobs.begin(), jobs.end(),
                                     [&](const JobRecord& job) { return job.id == mine.id; });
    if (record != jobs.end() && !has_come_to_an_end(*record)) return false;
  }
  return std::all_of(nodes.begin(), nodes.end(),
                     [](const NodeRecord& node) { return node.is_idle() && node.is_empty(); });
}

Status ChaosDriver::settle() {
  note("the plan is done; the cluster is left alone");
  std::optional<std::vector<JobRecord>> last_jobs;
  std::optional<std::vector<NodeRecord>> last_nodes;
  Status problem = Done{};
  wait_until(
      [&] {
        problem = serve_people();
        if (problem) problem = look();
        last_jobs = jobs();
        last_nodes = nodes();
        return !problem || (last_jobs && last_nodes && is_at_rest(*last_jobs, *last_nodes));
      },
      kPatience, kLook);
  if (!problem) return problem;
  if (!last_jobs || !last_nodes)
    return Error{ErrorCode::kUnavailable, "slurmctld does not answer at the end"};
  note("at the end");
  judge(*last_jobs, *last_nodes);
  return Done{};
}

void ChaosDriver::judge(const std::vector<JobRecord>& jobs, const std::vector<NodeRecord>& nodes) {
  for (const auto& mine : jobs_.all()) {
    const auto record = std::find_if(jobs.begin(), jobs.end(),
                                     [&](const JobRecord& job) { return job.id == mine.id; });
    const bool known = record != jobs.end();
    for (const auto& wrong : jobs_.judge_end(mine, known ? &*record : nullptr)) complain(wrong);
    ++states_[!known ? "lost" : record->state == "COMPLETED" ? "completed" : "held"];
    restarts_ += known ? int(record->restarts) : 0;
  }
  for (const auto& node : nodes)
    if (!node.is_idle() || !node.is_empty())
      complain(fmt::format("{} is {} at the end ({}): {} CPUs and GPUs {:#x} are in use", node.name,
                           node.state, node.reason, node.cpus_allocated, node.gpus));
  for (const auto& process : job_processes(cluster_))
    complain(fmt::format("{} of job {} still runs on {}", process.what, process.job, process.node));
  for (const auto& wrong : books_.judge_end(sick_nodes())) complain(wrong);
  for (const auto& node : cluster_.nodes())
    if (!wait_until([&] { return has_whole_audit(cluster_, node); }, kAnswer))
      complain(node + ": the hub does not have all of its audit log, each entry once");
}

std::vector<std::pair<std::string, int>> ChaosDriver::counts() const {
  std::vector<std::pair<std::string, int>> rows;
  for (const auto kind : all_disturbances()) {
    const auto found = done_.find(kind);
    rows.emplace_back(name_of(kind), found == done_.end() ? 0 : found->second);
  }
  int failovers = 0;
  for (const auto& job : jobs_.all()) failovers += job.failovers;
  const auto state = [&](const char* name) {
    const auto found = states_.find(name);
    return found == states_.end() ? 0 : found->second;
  };
  rows.insert(rows.end(), {{"jobs", int(jobs_.all().size())},
                           {"jobs completed", state("completed")},
                           {"jobs held with a reason", state("held")},
                           {"restarts of jobs", restarts_},
                           {"failovers inside allocations", failovers},
                           {"nodes drained", books_.drains()},
                           {"nodes returned after a test", books_.returns()},
                           {"violations", int(wrongs_.size())}});
  return rows;
}

double ChaosDriver::seconds() const {
  return std::chrono::duration<double>(Clock::now() - begun_).count();
}

std::int64_t ChaosDriver::now_ms() const {
  return std::chrono::duration_cast<milliseconds>(Clock::now() - begun_).count();
}

// With the time of day, as the daemons' logs have it.
void ChaosDriver::note(const std::string& what) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  char day[16];
  std::strftime(day, sizeof day, "%T", ::localtime_r(&now, &local));
  timeline_.push_back(fmt::format("{:8.2f} {}  {}", seconds(), day, what));
  std::ofstream(cluster_.path("log/chaos.log"), std::ios::app) << timeline_.back() << "\n";
}

void ChaosDriver::complain(const std::string& what) {
  note("VIOLATION: " + what);
  wrongs_.push_back(what);
}

}  // namespace acrf::minicluster
