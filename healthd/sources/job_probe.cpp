// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/job_probe.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <random>

#include "common/file.h"
#include "common/slurm_client.h"
#include "common/unique_fd.h"
#include "core/text.h"
#include "sources/gpu_addresses.h"
#include "sources/gpu_use_json.h"

namespace acrf {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kAnswerEvery{60};
constexpr std::chrono::seconds kRetry{5};
// The nodes of a large job do not ask slurmctld all at the same moment.
constexpr int kSpreadMs = 1000;

// As slurm.h has them: steps that are no numbered ones.
std::string step_name(std::uint64_t step) {
  constexpr std::uint64_t kInteractive = 0xfffffffa, kBatch = 0xfffffffb, kExtern = 0xfffffffc;
  if (step == kInteractive) return "interactive";
  if (step == kBatch) return "batch";
  return step == kExtern ? "extern" : std::to_string(step);
}

// A job that is here, and what slurmctld said about it.
struct KnownJob {
  LocalJob local;
  Clock::time_point ask;            // no earlier than this
  std::optional<JobOnNode> answer;  // none yet
};

class JobTable {
 public:
  explicit JobTable(const NodePaths& paths) : paths_(paths), random_(std::random_device{}()) {}

  int poll_fd() const { return changes_.get(); }

  // Looks at the directory and asks about jobs that are due.
  void look(Clock::time_point now) {
    problem_.clear();
    if (spool_.empty() && now >= next_setup_ && !set_up()) {
      next_setup_ = now + setup_pause_;
      setup_pause_ = std::min(2 * setup_pause_, kAnswerEvery);
    }
    if (spool_.empty()) {
      problem_ = setup_problem_;
      return;
    }
    drop_notices();
    follow(jobs_in_spool(spool_, paths_.node), now);
    for (auto& [id, job] : jobs_)
      if (!job.answer && now >= job.ask) ask(id, job, now);
  }

  Clock::time_point next_look() const {
    if (spool_.empty()) return next_setup_;
    auto next = Clock::now() + kAnswerEvery;
    for (const auto& [id, job] : jobs_)
      if (!job.answer) next = std::min(next, job.ask);
    return next;
  }

  // Nothing is said while a job waits to be asked about: who else has its GPUs is not known yet.
  bool has_news() const {
    return !problem_.empty() ||
           (!spool_.empty() && std::all_of(jobs_.begin(), jobs_.end(), [](const auto& job) {
             return job.second.answer.has_value();
           }));
  }

  JobAnswer answer() const {
    JobAnswer answer{{}, addresses_, problem_};
    for (const auto& [id, job] : jobs_)
      if (job.answer && job.answer->active && job.answer->gpus != 0)
        answer.uses.push_back(use_of(id, job));
    return answer;
  }

 private:
  bool set_up() {
    const auto spool = slurm_.slurmd_spool_directory(paths_.node);
    const auto gpus = spool ? slurm_.gpus_of_node(paths_.node) : Result<int>(spool.error());
    if (!gpus) {
      setup_problem_ = gpus.error().sentence;
      return false;
    }
    changes_.reset(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    if (::inotify_add_watch(changes_.get(), spool->c_str(), IN_CREATE | IN_DELETE) < 0) {
      setup_problem_ = system_error("watch " + *spool).sentence;
      return false;
    }
    spool_ = *spool;
    gpus_ = *gpus;
    addresses_ = gpu_addresses(paths_, gpus_);
    return true;
  }

  void drop_notices() {
    char buffer[4096];
    while (::read(changes_.get(), buffer, sizeof buffer) > 0) continue;
  }

  // A job that was away and is back has been requeued: it may have other GPUs now.
  void follow(const std::map<JobId, LocalJob>& present, Clock::time_point now) {
    std::erase_if(jobs_, [&](const auto& known) { return !present.contains(known.first); });
    for (const auto& [id, local] : present) {
      const auto known = jobs_.find(id);
      if (known != jobs_.end()) {
        known->second.local.steps = local.steps;
        continue;
      }
      const std::chrono::milliseconds spread(random_() % kSpreadMs);
      jobs_.emplace(id, KnownJob{local, now + spread, std::nullopt});
    }
  }

  void ask(JobId id, KnownJob& job, Clock::time_point now) {
    auto answer = slurm_.job_on_node(id, paths_.node);
    if (answer) {
      addresses_ = gpu_addresses(paths_, gpus_);
      job.answer = *answer;
    } else if (answer.error().code == ErrorCode::kUnavailable) {
      job.ask = now + kRetry;
      problem_ = answer.error().sentence;
    } else {
      job.answer = JobOnNode{};  // slurmctld does not know: nor does anybody
    }
  }

  GpuUse use_of(JobId id, const KnownJob& job) const {
    const auto mask = job.answer->gpus;
    GpuUse use{id.value, job.answer->user, job.local.since_s, 0, false, {}, job.local.steps};
    use.has_all = std::popcount(mask) == gpus_;
    for (std::size_t gpu = 0; gpu < addresses_.size() && gpu < 64; ++gpu)
      if ((mask >> gpu & 1) != 0 && addresses_[gpu]) use.gpus.push_back(*addresses_[gpu]);
    return use;
  }

  NodePaths paths_;
  SlurmClient slurm_;
  std::minstd_rand random_;
  std::string spool_;  // empty: not known yet
  std::string problem_, setup_problem_;
  Clock::time_point next_setup_;
  std::chrono::seconds setup_pause_ = kRetry;  // longer each time
  int gpus_ = 0;
  UniqueFd changes_;
  std::vector<std::optional<PciAddress>> addresses_;
  std::map<JobId, KnownJob> jobs_;
};

bool send_line(const std::string& line) {
  const std::string text = line + "\n";
  return ::write(STDOUT_FILENO, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// False when the daemon is gone. Requests are lines; only that there is one matters.
bool take_request(bool& is_asked) {
  char buffer[4096];
  const auto n = ::read(STDIN_FILENO, buffer, sizeof buffer);
  is_asked |= n > 0;
  return n > 0;
}

}  // namespace

std::optional<std::pair<JobId, std::string>> parse_step_socket(std::string_view name,
                                                               std::string_view node) {
  if (!take_prefix(name, node) || !take_prefix(name, "_")) return std::nullopt;
  const auto job = take_unsigned(name);
  if (!job || *job == 0 || *job > UINT32_MAX || !take_prefix(name, ".")) return std::nullopt;
  const auto step = take_unsigned(name);
  // A component of a heterogeneous step follows after another dot.
  if (!step || (take_prefix(name, ".") && !take_unsigned(name)) || !name.empty())
    return std::nullopt;
  return std::pair{JobId{static_cast<std::uint32_t>(*job)}, step_name(*step)};
}

std::map<JobId, LocalJob> jobs_in_spool(const std::string& directory, const std::string& node) {
  std::map<JobId, LocalJob> jobs;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    const auto step = parse_step_socket(entry->path().filename().string(), node);
    struct stat status {};
    if (!step || ::lstat(entry->path().c_str(), &status) != 0 || !S_ISSOCK(status.st_mode))
      continue;
    auto& job = jobs[step->first];
    const bool is_first = job.steps.empty();
    job.since_s = is_first ? status.st_mtime : std::min<std::int64_t>(job.since_s, status.st_mtime);
    job.steps.push_back(step->second);
  }
  for (auto& [id, job] : jobs) std::sort(job.steps.begin(), job.steps.end());
  return jobs;
}

int run_job_probe(const NodePaths& paths) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // libslurm complains there on its own; what matters is in the answers.
  const UniqueFd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  ::dup2(nowhere.get(), STDERR_FILENO);
  JobTable table(paths);
  std::optional<JobAnswer> told;
  bool is_asked = false;
  auto answer_by = Clock::now();
  while (true) {
    table.look(Clock::now());
    auto answer = table.answer();
    if (is_asked && table.has_news() && (answer != told || Clock::now() >= answer_by)) {
      if (!send_line(job_answer_to_json(answer))) return 1;
      told = std::move(answer);
      is_asked = false;
      answer_by = Clock::now() + kAnswerEvery;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                          std::min(table.next_look(), answer_by) - Clock::now())
                          .count();
    pollfd fds[] = {{STDIN_FILENO, POLLIN, 0}, {table.poll_fd(), POLLIN, 0}};
    ::poll(fds, 2, static_cast<int>(std::clamp<std::int64_t>(left + 1, 10, 60'000)));
    if (fds[0].revents && !take_request(is_asked)) return 0;
  }
}

}  // namespace acrf
