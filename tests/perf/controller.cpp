// SPDX-License-Identifier: GPL-2.0-or-later
#include "controller.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "common/file.h"
#include "common/unique_fd.h"
#include "core/text.h"
#include "minicluster/cluster.h"
#include "scheduler_passes.h"

namespace acrf::perf {
namespace {

constexpr int kCpusPerGpu = 8;
constexpr auto kPassLimit = std::chrono::seconds(100);
constexpr auto kAskAgain = std::chrono::seconds(10);
constexpr auto kPoll = std::chrono::milliseconds(2);

Error slurm_error(const std::string& doing) {
  return {ErrorCode::kUnavailable, fmt::format("{}: {}", doing, slurm_strerror(errno))};
}

using Counter = std::uint32_t scheduler_passes_t::*;

// Asks for a pass and waits for slurmctld's count of passes to change. Asks again only when no pass
// is under way: a second one that nobody waits for would start jobs at a time of its own, and more
// often where passes are slow.
Status run_pass(Counter counter, const std::function<void()>& ask) {
  scheduler_passes_t before{}, now{};
  if (count_passes(&before) != 0) return slurm_error("ask slurmctld for its statistics");
  const auto passed = [&] { return count_passes(&now) == 0 && now.*counter != before.*counter; };
  for (auto waited = kAskAgain; waited <= kPassLimit; waited += kAskAgain) {
    if (!now.in_backfill) ask();
    if (minicluster::wait_until(passed, kAskAgain, kPoll)) return Done{};
  }
  return Error{ErrorCode::kUnavailable, "slurmctld made no scheduling pass in 100 s"};
}

// "gpu:h100:3(IDX:0-1,4)"
GpuMask parse_gpus(std::string_view detail) {
  GpuMask mask = 0;
  const auto at = detail.find("IDX:");
  if (at == std::string_view::npos) return 0;
  detail.remove_prefix(at + 4);
  for (auto range : split(detail.substr(0, detail.find(')')), ',')) {
    const auto first = take_unsigned(range);
    const auto last = take_prefix(range, "-") ? take_unsigned(range) : first;
    for (auto gpu = first.value_or(1); gpu <= last.value_or(0); ++gpu) mask |= GpuMask{1} << gpu;
  }
  return mask;
}

std::vector<int> parse_nodes(const char* names) {
  std::vector<int> nodes;
  hostlist_t list = slurm_hostlist_create(names);
  while (char* name = slurm_hostlist_shift(list)) {
    nodes.push_back(static_cast<int>(parse_unsigned(name + 1).value_or(0)) - 1);
    std::free(name);
  }
  slurm_hostlist_destroy(list);
  return nodes;
}

HeldJob held_job(const job_info_t& info) {
  HeldJob job{info.job_id, {}};
  const auto nodes = parse_nodes(info.nodes);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const bool known = i < info.gres_detail_cnt;
    job.nodes.push_back({nodes[i], known ? parse_gpus(info.gres_detail_str[i]) : 0});
  }
  return job;
}

// Users ask for somewhat more time than they need.
std::uint32_t time_limit_min(const Job& job) {
  return static_cast<std::uint32_t>(job.duration_s * 6 / 5 / 60 + 5);
}

}  // namespace

// bf_interval: turns that come sooner than a second after another would be missed.
const char kReplayScheduling[] =
    "MessageTimeout=100\n"
    "MinJobAge=10\n"
    "MaxJobCount=100000\n"
    "PriorityType=priority/basic\n"
    "SchedulerType=sched/backfill\n"
    "SchedulerParameters=batch_sched_delay=100000000,sched_interval=100000000,sched_min_interval=0,"
    "default_queue_depth=100000,max_sched_time=45,bf_interval=1,bf_max_time=60,"
    "bf_yield_interval=10000000,bf_window=1440,bf_max_job_test=20,bf_continue\n";

Result<ReplayPage> ReplayPage::create(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd || ::ftruncate(fd.get(), sizeof(replay_file_t)) != 0) return system_error("make " + path);
  void* mapped =
      ::mmap(nullptr, sizeof(replay_file_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (mapped == MAP_FAILED) return system_error("map " + path);
  ::setenv("ACRF_REPLAY_PAGE", path.c_str(), 1);
  return ReplayPage(static_cast<replay_file_t*>(mapped));
}

bool ReplayPage::was_offered(std::uint32_t job, int node) const {
  if (job >= REPLAY_JOBS || node >= REPLAY_NODES) return true;
  return file_->offers[job][node / 64] >> (node % 64) & 1;
}

void ReplayPage::set_clock(std::int64_t seconds) {
  if (epoch_s_ == 0) epoch_s_ = static_cast<std::int64_t>(::time(nullptr)) + 1;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  page().set_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  page().now_s = epoch_s_ + seconds;
}

Controller::Controller(const std::string& slurm_conf, ReplayPage& page) : page_(page) {
  ::setenv("SLURM_CONF", slurm_conf.c_str(), 1);
  slurm_init(nullptr);
}

Controller::~Controller() { slurm_fini(); }

Result<std::uint32_t> Controller::submit(const Job& job) {
  char script[] = "#!/bin/sh\n", name[] = "replay", directory[] = "/", output[] = "/dev/null";
  char path[] = "PATH=/usr/bin:/bin";
  char* environment[] = {path, nullptr};
  auto gpus = fmt::format("gres:gpu:{}", job.gpus_per_node);
  job_desc_msg_t request;
  slurm_init_job_desc_msg(&request);
  request.name = name;
  request.script = script;
  request.work_dir = directory;
  request.std_out = output;
  request.environment = environment;
  request.env_size = 1;
  request.user_id = request.group_id = 0;
  const auto nodes = static_cast<std::uint32_t>(job.nodes);
  request.min_nodes = request.max_nodes = request.num_tasks = nodes;
  request.ntasks_per_node = 1;
  request.cpus_per_task = static_cast<std::uint16_t>(job.gpus_per_node * kCpusPerGpu);
  request.min_cpus = nodes * request.cpus_per_task;
  request.tres_per_node = gpus.data();
  request.time_limit = time_limit_min(job);
  submit_response_msg_t* answer = nullptr;
  if (slurm_submit_batch_job(&request, &answer) != SLURM_SUCCESS)
    return slurm_error("submit a job");
  const auto id = answer->job_id;
  slurm_free_submit_response_response_msg(answer);
  return id;
}

Status Controller::cancel(std::uint32_t id) {
  if (slurm_kill_job(id, SIGKILL, 0) == SLURM_SUCCESS) return Done{};
  return slurm_error(fmt::format("cancel job {}", id));
}

Status Controller::run_main_scheduler() {
  return run_pass(&scheduler_passes_t::main, kick_scheduler);
}

Status Controller::run_backfill() {
  return run_pass(&scheduler_passes_t::backfill, [&] { page_.give_backfill_turn(); });
}

Result<std::vector<HeldJob>> Controller::held_jobs() {
  job_info_msg_t* answer = nullptr;
  if (slurm_load_jobs(0, &answer, SHOW_ALL | SHOW_DETAIL) != SLURM_SUCCESS)
    return slurm_error("ask slurmctld for its jobs");
  std::vector<HeldJob> jobs;
  for (std::uint32_t i = 0; i < answer->record_count; ++i) {
    const auto& info = answer->job_array[i];
    const bool running = (info.job_state & JOB_STATE_BASE) == JOB_RUNNING;
    if (running && info.nodes && *info.nodes) jobs.push_back(held_job(info));
  }
  slurm_free_job_info_msg(answer);
  std::sort(jobs.begin(), jobs.end(),
            [](const HeldJob& a, const HeldJob& b) { return a.id < b.id; });
  return jobs;
}

}  // namespace acrf::perf
