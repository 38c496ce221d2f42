// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/job_watch.h"

#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "common/file.h"
#include "core/text.h"
#include "sources/gpu_use_json.h"

namespace acrf {
namespace {

// The worker answers every minute, and a call of libslurm may take as long as a failover.
constexpr std::chrono::seconds kLatest{180};
constexpr std::chrono::seconds kRetry{30};

// The kernel prints process ids of its first namespace; elsewhere they are others' numbers.
bool is_first_pid_namespace() {
  char name[64] = "";
  return ::readlink("/proc/self/ns/pid", name, sizeof name - 1) > 0 &&
         std::string_view(name) == "pid:[4026531836]";
}

struct LiveProcess {
  std::optional<GpuOwner> job;
  std::uint64_t user = 0;
};

// Seconds after boot at which the process began: the 22nd word of its stat, after a name that may
// hold anything.
std::optional<std::uint64_t> start_of(std::string_view stat) {
  const auto close = stat.rfind(')');
  if (close == std::string_view::npos) return std::nullopt;
  const auto words = split(stat.substr(close + 1), ' ');
  constexpr std::size_t kStart = 20;
  const auto ticks = words.size() > kStart ? parse_unsigned(words[kStart]) : std::nullopt;
  if (!ticks) return std::nullopt;
  return *ticks / static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
}

// The process if it is still there and is the one that was meant: one that began later has only
// got its number. Of its files only those are read that the kernel answers by itself; its memory,
// arguments and environment among it, may be locked by the very driver that is in trouble.
std::optional<LiveProcess> find_process(const std::string& proc, std::uint64_t pid,
                                        std::uint64_t uptime_us) {
  const std::string directory = proc + "/" + std::to_string(pid);
  const auto stat = read_file(directory + "/stat");
  const auto start_s = stat ? start_of(*stat) : std::nullopt;
  if (!start_s || *start_s > uptime_us / 1'000'000 + 1) return std::nullopt;
  const auto cgroup = read_file(directory + "/cgroup");
  struct stat owner {};
  if (!cgroup || ::stat(directory.c_str(), &owner) != 0) return std::nullopt;
  return LiveProcess{job_of_cgroup(*cgroup), owner.st_uid};
}

void set_owner(Event& event, const GpuOwner& owner) {
  event.job = owner.job;
  event.user = owner.user;
  event.step = owner.step;
}

}  // namespace

JobWatch::JobWatch(const Config& config, const std::string& program, const std::string& node,
                   const std::string& gres_conf, std::string boot_id)
    : next_ask_(Clock::now()),
      boot_id_(std::move(boot_id)),
      memory_path_(config.state_dir + "/gpu-owners.state") {
  if (!config.job_attribution) return;
  std::vector<std::string> command = {program, "--job-probe", "--node",
                                      node,    "--gres-conf", gres_conf};
  if (!config.node_root.empty()) command.insert(command.end(), {"--node-root", config.node_root});
  probe_ = std::make_unique<Probe>(std::move(command), std::vector<std::string>());
  if (!config.node_root.empty() || is_first_pid_namespace()) proc_ = config.node_root + "/proc";
  if (const auto text = read_file(memory_path_)) {
    owners_.take_text(*text, boot_id_);
    remembered_ = *text;
  }
}

void JobWatch::add_poll_fds(std::vector<pollfd>& fds) const {
  if (probe_ && probe_->waiting()) fds.push_back({probe_->poll_fd(), POLLIN, 0});
}

JobWatch::Clock::time_point JobWatch::next_wake() const {
  return probe_ ? probe_->deadline().value_or(next_ask_) : Clock::time_point::max();
}

void JobWatch::step(Clock::time_point now, std::int64_t unix_s) {
  if (!probe_) return;
  if (probe_->waiting()) {
    const auto answer = probe_->take_answer();
    if (answer && *answer) {
      take(**answer, unix_s);
      next_ask_ = now;
    } else if (!answer || now >= *probe_->deadline()) {
      tell_problem(answer ? "no answer in time; the worker was killed" : answer.error().sentence);
      probe_->stop();
      next_ask_ = now + kRetry;
    }
  }
  if (probe_->waiting() || now < next_ask_) return;
  if (const auto asked = probe_->request(now + kLatest); !asked) {
    tell_problem(asked.error().sentence);
    next_ask_ = now + kRetry;
  }
}

void JobWatch::take(const std::string& line, std::int64_t unix_s) {
  const auto answer = job_answer_from_json(line);
  if (!answer) return tell_problem(answer.error().sentence);
  if (gpus_.empty() && !answer->gpus.empty())
    spdlog::info("knows the numbers of {} GPUs in Slurm", answer->gpus.size());
  if (!answer->gpus.empty()) gpus_ = answer->gpus;
  knows_all_gpus_ =
      !answer->gpus.empty() &&
      std::all_of(gpus_.begin(), gpus_.end(), [](const auto& gpu) { return gpu.has_value(); });
  if (!answer->problem.empty()) return tell_problem(answer->problem);
  last_problem_.clear();
  has_answered_ = true;
  owners_.update(answer->uses, unix_s);
  remember();
}

// Unknown is said once. Nothing is known to have ended, and nothing new is known.
void JobWatch::tell_problem(const std::string& problem) {
  if (problem == last_problem_) return;
  last_problem_ = problem;
  spdlog::warn("jobs of this node: {}; which job has a GPU is unknown", problem);
}

std::optional<int> JobWatch::gpu_index(const PciAddress& gpu) const {
  const auto found = std::find(gpus_.begin(), gpus_.end(), gpu);
  if (found == gpus_.end()) return std::nullopt;
  return static_cast<int>(found - gpus_.begin());
}

bool JobWatch::is_no_gpu_of_slurm(const PciAddress& gpu) const {
  return knows_all_gpus_ && gpu != PciAddress{} && !gpu_index(gpu);
}

void JobWatch::remember() {
  auto text = owners_.to_text(boot_id_);
  if (text == remembered_) return;
  remembered_ = std::move(text);
  if (const auto saved = replace_file(memory_path_, remembered_); !saved)
    spdlog::error("memory of the GPUs' jobs: {}", saved.error().sentence);
}

void JobWatch::attribute(Event& event, std::uint64_t uptime_us) const {
  if (!probe_ || !event.part.empty() || event.job) return;
  const auto holder = owners_.owner_at(event.gpu, event.unix_s);
  const auto process = event.pid && !proc_.empty() ? find_process(proc_, *event.pid, uptime_us)
                                                   : std::optional<LiveProcess>();
  if (process && process->job) {
    set_owner(event, *process->job);
    const auto user = owners_.user_of(*event.job);
    event.user = user ? user : process->user;
  } else if (holder && (!process || process->user == holder->user)) {
    // A process of somebody else, in no job's group, is not the job's.
    set_owner(event, *holder);
  }
}

}  // namespace acrf
