// SPDX-License-Identifier: GPL-2.0-or-later
#include "launcher.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "common/checkpoint_publish.h"
#include "common/config_file.h"
#include "common/file.h"
#include "core/hostlist.h"
#include "core/text.h"

namespace acrf {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

constexpr seconds kLook(2);             // at the job's record, when nobody wakes the launcher
constexpr milliseconds kTick(100);      // while something is expected
constexpr milliseconds kPatience(500);  // with a lock on the checkpoint directory
// Tasks on nodes that answer are gone long before; one that does not must not hold up the others.
constexpr milliseconds kStopPatience(1000);
constexpr int kFirstPort = 20'000;  // below those that the kernel gives away
constexpr int kPorts = 10'000;
constexpr int kForwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// Of this launcher alone: a name made of the job and the process would be another's, too, where
// containers share /tmp, and anybody's to guess.
Result<std::string> make_directory() {
  std::string path =
      (variable("TMPDIR").empty() ? "/tmp" : variable("TMPDIR")) + "/acrf-run-XXXXXX";
  if (!::mkdtemp(path.data())) return system_error("mkdtemp " + path);
  return path;
}

Error outside(const char* name) {
  return {ErrorCode::kInvalid,
          fmt::format("{} is not set: acrf run belongs into a batch script", name)};
}

void say(const std::string& text) { fmt::print(stderr, "acrf run: {}\n", text); }

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kForwarded) sigaddset(&set, signal);
  sigaddset(&set, SIGCHLD);
  sigaddset(&set, SIGURG);
  return set;
}

}  // namespace

Status Launcher::find_job() {
  const auto id = parse_unsigned(variable("SLURM_JOB_ID"));
  if (!id || *id == 0) return outside("SLURM_JOB_ID");
  job_.value = static_cast<std::uint32_t>(*id);
  restart_ = static_cast<unsigned>(parse_unsigned(variable("SLURM_RESTART_COUNT")).value_or(0));
  const auto nodes = expand_hostlist(variable("SLURM_JOB_NODELIST"));
  if (!nodes || nodes->empty() || nodes->front().empty()) return outside("SLURM_JOB_NODELIST");
  auto network = topology_of_job(slurm_directory(), *nodes);
  if (!network) return network.error();
  network_ = std::move(*network);
  const auto job = slurm_.job(job_);
  if (!job) return job.error();
  policy_ = find_policy(job->admin_comment).value_or(JobPolicy{});
  // The script's next `acrf run` counts on from the last one: what its ranks publish is no older.
  if (!policy_.checkpoint_dir.empty())
    for (const auto& fence : read_fences(policy_.checkpoint_dir))
      if (fence.job_id == job_.value && fence.restart == restart_)
        failover_ = std::max(failover_, fence.failover);
  const int all = static_cast<int>(nodes->size());
  state_.wanted = std::max(1, all - policy_.spares);
  state_.least = policy_.min_nodes > 0 ? policy_.min_nodes : state_.wanted;
  // To the plan, nodes of others are like lost ones.
  for (int position = 0; position < network_.topology.node_count(); ++position)
    if (std::find(network_.positions.begin(), network_.positions.end(), position) ==
        network_.positions.end())
      state_.lost.push_back(position);
  take_lost(*job);
  return Done{};
}

std::vector<std::string> Launcher::names(const std::vector<int>& positions) const {
  std::vector<std::string> list;
  for (const int position : positions) list.push_back(network_.name_at(position));
  return list;
}

void Launcher::take_lost(const JobView& job) {
  const auto lost = find_lost_nodes(job.admin_comment);
  for (const int position : network_.positions) {
    const auto& name = network_.name_at(position);
    if (std::find(lost.begin(), lost.end(), name) == lost.end() ||
        std::find(lost_names_.begin(), lost_names_.end(), name) != lost_names_.end())
      continue;
    lost_names_.push_back(name);
    state_.lost.push_back(position);
  }
}

bool Launcher::running_on_lost() const {
  return std::any_of(state_.running.begin(), state_.running.end(), [&](int position) {
    return std::find(state_.lost.begin(), state_.lost.end(), position) != state_.lost.end();
  });
}

// The word in the job's comment. A job without the policy has no use for it.
void Launcher::tell(bool present) {
  if (policy_.recovery != RecoveryPolicy::kFailover) return;
  const auto job = slurm_.job(job_);
  if (!job) return say(job.error().sentence);
  std::optional<LauncherWord> word;
  if (present)
    word = LauncherWord{losses_left(network_.topology.node_count(), state_), lost_names_};
  if (find_launcher(job->comment) == word) return;
  if (const auto set = slurm_.set_comment(job_, with_launcher(job->comment, word)); !set)
    say(set.error().sentence);
}

// What torchrun and its like want to know; NODE_RANK comes from spank_acrf, which knows the task.
std::vector<std::string> Launcher::variables() {
  const auto first = network_.name_at(state_.running.front());
  auto address = slurm_.address_of(first);
  std::vector<std::string> list = {
      "SLURM_HOSTFILE=" + hostfile_,
      "MASTER_ADDR=" + (address ? *address : first),
      fmt::format("NNODES={}", state_.running.size()),
      fmt::format("ACRF_RUN_TASKS_PER_NODE={}", options_.tasks_per_node),
      fmt::format("ACRF_FAILOVER_COUNT={}", failover_),
      "ACRF_FENCE=" + to_text(Fence{job_.value, restart_, failover_}),
  };
  const auto port = kFirstPort + (job_.value * 31ULL + restart_ * 7ULL + failover_) % kPorts;
  list.push_back(fmt::format("MASTER_PORT={}", port));
  return list;
}

// Steps may share their nodes: the one before may still be ending on a node that is lost.
std::vector<std::string> Launcher::srun(const std::vector<std::string>& nodes) const {
  std::vector<std::string> command = {"srun", "--overlap",
                                      "--nodes=" + std::to_string(nodes.size())};
  command.insert(command.end(), options_.srun.begin(), options_.srun.end());
  return command;
}

Status Launcher::start_step() {
  const auto nodes = names(state_.running);
  std::string hosts;
  for (const auto& node : nodes)
    for (int task = 0; task < options_.tasks_per_node; ++task) hosts += node + "\n";
  if (const auto written = write_file(hostfile_, hosts); !written) return written;
  auto command = srun(nodes);
  const auto tasks = nodes.size() * static_cast<std::size_t>(options_.tasks_per_node);
  command.insert(command.begin() + 1, {"--distribution=arbitrary", "--kill-on-bad-exit=1",
                                       "--ntasks=" + std::to_string(tasks)});
  command.insert(command.end(), options_.command.begin(), options_.command.end());
  return step_.start(command, variables());
}

// So that the site's prolog, and whatever the job wants to have there, are done before they count.
void Launcher::warm_spares() {
  auto spares = network_.positions;
  std::erase_if(spares, [&](int position) {
    const auto in = [&](const auto& list) {
      return std::find(list.begin(), list.end(), position) != list.end();
    };
    return in(state_.running) || in(state_.lost);
  });
  if (spares.empty() || options_.warm.empty()) return;
  const auto nodes = names(spares);
  auto command = srun(nodes);
  command.insert(command.end(),
                 {"--nodelist=" + compress_hostlist(nodes), "--input=none", "--ntasks-per-node=1",
                  "--ntasks=" + std::to_string(nodes.size()), "sh", "-c", options_.warm});
  if (const auto started = warming_.start(command, {}); !started) say(started.error().sentence);
}

bool Launcher::take_signals(milliseconds patience) {
  const auto set = watched_signals();
  const auto whole = std::chrono::duration_cast<seconds>(patience);
  const timespec limit = {whole.count(), std::chrono::nanoseconds(patience - whole).count()};
  siginfo_t info{};
  const int signal = ::sigtimedwait(&set, &info, &limit);
  if (signal <= 0 || signal == SIGCHLD) return false;
  if (signal == SIGURG) return true;
  ending_ |= signal == SIGTERM || signal == SIGINT || signal == SIGQUIT || signal == SIGHUP;
  step_.signal(signal);
  return false;
}

bool Launcher::look_for_loss() {
  const auto job = slurm_.job(job_);
  if (!job) return running_on_lost();
  const auto known = lost_names_.size();
  take_lost(*job);
  if (running_on_lost()) return true;
  // A spare: nothing runs there, and acrf-healthd is to know it.
  if (lost_names_.size() > known) tell(true);
  return false;
}

Result<bool> Launcher::fail_over() {
  auto nodes = plan_step(network_.topology, state_);
  if (!nodes) return false;
  step_.ask_to_end();  // the tasks go while the rest is done
  say(fmt::format("lost {}; starting again on {}", compress_hostlist(lost_names_),
                  compress_hostlist(names(*nodes))));
  state_.running = std::move(*nodes);
  ++failover_;
  // Before the new step chooses its checkpoint: what the old one publishes later would be lost
  // work.
  if (!policy_.checkpoint_dir.empty())
    (void)raise_fence(policy_.checkpoint_dir, Fence{job_.value, restart_, failover_}, kPatience);
  step_.stop(kStopPatience);
  if (const auto started = start_step(); !started) return started.error();
  tell(true);
  return true;
}

// A program that notices a fault before anybody else ends with an error; the verdict follows.
bool Launcher::verdict_comes() {
  const auto until = Clock::now() + seconds(options_.verdict_wait_s);
  while (!ending_ && Clock::now() < until) {
    if (look_for_loss()) return true;
    take_signals(kTick * 5);
  }
  return false;
}

int Launcher::wait_for_end() {
  while (true) {
    if (const auto status = step_.ended()) return *status;
    if (!step_.runs()) return EXIT_FAILURE;
    take_signals(kTick);
  }
}

// The job goes elsewhere as a whole; slurmctld ends it, this process too.
int Launcher::give_up() {
  say(fmt::format("lost {}; too few nodes are left, the job is requeued",
                  compress_hostlist(lost_names_)));
  tell(false);
  if (const auto requeued = slurm_.requeue(job_, false); !requeued) say(requeued.error().sentence);
  return wait_for_end();
}

Result<int> Launcher::watch() {
  auto looked = Clock::now();
  while (true) {
    const bool woken = take_signals(kTick);
    auto status = step_.ended();
    bool lost = false;
    if (status) {
      const bool program_failed = *status != 0 && !ending_;
      lost = program_failed && state_.running.size() > 0 && verdict_comes();
      if (!lost) return *status;
    } else if (!ending_ && (woken || Clock::now() - looked >= kLook)) {
      looked = Clock::now();
      lost = look_for_loss();
    }
    if (!lost) continue;
    const auto started = fail_over();
    if (!started) return started.error();
    if (!*started) return status ? (give_up(), *status) : give_up();
  }
}

Result<int> Launcher::run() {
  const auto set = watched_signals();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  if (const auto found = find_job(); !found) return found.error();
  auto nodes = plan_step(network_.topology, state_);
  if (!nodes) return give_up();
  const auto directory = make_directory();
  if (!directory) return directory.error();
  hostfile_ = *directory + "/hosts";
  state_.running = std::move(*nodes);
  tell(true);
  Result<int> status = EXIT_FAILURE;
  if (const auto started = start_step(); started) {
    warm_spares();
    status = watch();
  } else {
    status = started.error();
  }
  ::unlink(hostfile_.c_str());
  ::rmdir(directory->c_str());
  tell(false);
  return status;
}

}  // namespace acrf
