// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm_client.h"

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "core/gres_text.h"
#include "core/hostlist.h"

namespace acrf {
namespace {

// slurmctld's own refusals have numbers of their own; all else (the network, authentication, a
// controller that stands by) is no answer and worth another try.
ErrorCode code_of(int slurm_errno) {
  constexpr int kFirstRefusal = 2000;
  constexpr int kLastRefusal = 2999;
  switch (slurm_errno) {
    case ESLURM_INVALID_NODE_NAME:
    case ESLURM_INVALID_JOB_ID: return ErrorCode::kNotFound;
    case ESLURM_USER_ID_MISSING:
    case ESLURM_ACCESS_DENIED: return ErrorCode::kDenied;
    case ESLURM_IN_STANDBY_MODE:
    case ESLURM_TRANSITION_STATE_NO_UPDATE: return ErrorCode::kUnavailable;
    default:
      return slurm_errno >= kFirstRefusal && slurm_errno <= kLastRefusal ? ErrorCode::kInvalid
                                                                         : ErrorCode::kUnavailable;
  }
}

Error slurm_error(const std::string& doing, int code) {
  return {code_of(code), doing + ": " + slurm_strerror(code)};
}

JobState state_of(const slurm_job_info_t& job) {
  switch (job.job_state & JOB_STATE_BASE) {
    case JOB_PENDING: return JobState::kPending;
    case JOB_RUNNING: return JobState::kRunning;
    case JOB_SUSPENDED: return JobState::kSuspended;
    case JOB_FAILED: return JobState::kFailed;
    case JOB_NODE_FAIL: return JobState::kNodeFailed;
    default: return JobState::kOther;
  }
}

bool hostlist_names(const char* hosts, const std::string& node) {
  if (!hosts || !*hosts) return false;
  auto* list = slurm_hostlist_create(hosts);
  if (!list) return false;
  const bool found = slurm_hostlist_find(list, node.c_str()) >= 0;
  slurm_hostlist_destroy(list);
  return found;
}

JobView view_of(const slurm_job_info_t& job) {
  JobView view;
  view.id = JobId{job.job_id};
  view.state = state_of(job);
  view.on_node = true;
  view.end_unix_s = job.end_time;
  view.restarts = job.restart_cnt;
  const int status = static_cast<int>(job.exit_code);
  view.exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  view.admin_comment = job.admin_comment ? job.admin_comment : "";
  return view;
}

Result<std::int64_t> controller_start() {
  slurm_conf_t* conf = nullptr;
  if (slurm_load_ctl_conf(0, &conf) != SLURM_SUCCESS)
    return slurm_error("ask slurmctld for its start time", errno);
  const std::int64_t started = conf->boot_time;
  slurm_free_ctl_conf(conf);
  return started;
}

// Tables of groups are dear to make: nodes with as many GPUs share one.
int kind_with(int gpus, std::vector<GpuGroups>& kinds) {
  const auto found = std::find_if(kinds.begin(), kinds.end(),
                                  [&](const GpuGroups& kind) { return kind.gpus() == gpus; });
  const auto kind = found - kinds.begin();
  if (found == kinds.end()) kinds.emplace_back(gpus);
  return static_cast<int>(kind);
}

NodeState state_of(const node_info_t& record, std::vector<GpuGroups>& kinds) {
  const int gpus = gpus_in_gres(record.gres ? record.gres : "");
  const auto base = record.node_state & NODE_STATE_BASE;
  const bool takes_jobs =
      (base == NODE_STATE_IDLE || base == NODE_STATE_MIXED || base == NODE_STATE_ALLOCATED) &&
      !(record.node_state & (NODE_STATE_DRAIN | NODE_STATE_FAIL | NODE_STATE_NO_RESPOND));
  NodeState node;
  node.gpus = gpus >= 64 ? ~GpuMask{0} : (GpuMask{1} << gpus) - 1;
  if (takes_jobs)
    node.free = node.gpus & ~gpus_used_in_gres(record.gres_used ? record.gres_used : "");
  node.kind = kind_with(gpus, kinds);
  node.health = find_node_health(record.comment ? record.comment : "").value_or(NodeHealth{});
  return node;
}

}  // namespace

SlurmClient::SlurmClient() { slurm_init(nullptr); }
SlurmClient::~SlurmClient() { slurm_fini(); }

Result<NodeView> SlurmClient::node(const std::string& name) {
  const auto started = controller_start();
  if (!started) return started.error();
  node_info_msg_t* raw = nullptr;
  std::string writable = name;
  if (slurm_load_node_single(&raw, writable.data(), SHOW_ALL) != SLURM_SUCCESS)
    return slurm_error("ask slurmctld about node " + name, errno);
  const std::unique_ptr<node_info_msg_t, decltype(&slurm_free_node_info_msg)> answer(
      raw, slurm_free_node_info_msg);
  if (answer->record_count != 1)
    return Error{ErrorCode::kNotFound, "slurmctld knows no node " + name};
  const node_info_t& record = answer->node_array[0];
  NodeView view;
  view.draining = (record.node_state & (NODE_STATE_DRAIN | NODE_STATE_FAIL)) != 0;
  view.reason = record.reason ? record.reason : "";
  view.controller_started_unix_s = *started;
  return view;
}

Result<std::vector<JobView>> SlurmClient::jobs_of_node(const std::string& name) {
  job_info_msg_t* raw = nullptr;
  if (slurm_load_jobs(0, &raw, SHOW_ALL) != SLURM_SUCCESS)
    return slurm_error("ask slurmctld for its jobs", errno);
  const std::unique_ptr<job_info_msg_t, decltype(&slurm_free_job_info_msg)> answer(
      raw, slurm_free_job_info_msg);
  std::vector<JobView> jobs;
  for (std::uint32_t i = 0; i < answer->record_count; ++i) {
    const slurm_job_info_t& job = answer->job_array[i];
    if (hostlist_names(job.nodes, name)) jobs.push_back(view_of(job));
  }
  return jobs;
}

Result<ClusterState> SlurmClient::cluster_state() {
  node_info_msg_t* raw = nullptr;
  if (slurm_load_node(0, &raw, SHOW_ALL | SHOW_DETAIL) != SLURM_SUCCESS)
    return slurm_error("ask slurmctld for its nodes", errno);
  const std::unique_ptr<node_info_msg_t, decltype(&slurm_free_node_info_msg)> answer(
      raw, slurm_free_node_info_msg);
  ClusterState state;
  for (std::uint32_t i = 0; i < answer->record_count; ++i) {
    const node_info_t& record = answer->node_array[i];
    if (!record.name) continue;
    state.names.emplace_back(record.name);
    state.nodes.push_back(state_of(record, state.kinds));
  }
  return state;
}

Result<std::vector<std::string>> SlurmClient::nodes_of_job(JobId job) {
  const auto about = "ask slurmctld about job " + std::to_string(job.value);
  job_info_msg_t* raw = nullptr;
  if (slurm_load_job(&raw, job.value, SHOW_ALL) != SLURM_SUCCESS) return slurm_error(about, errno);
  const std::unique_ptr<job_info_msg_t, decltype(&slurm_free_job_info_msg)> answer(
      raw, slurm_free_job_info_msg);
  const char* nodes = answer->record_count > 0 ? answer->job_array[0].nodes : nullptr;
  return nodes && *nodes ? expand_hostlist(nodes) : std::vector<std::string>();
}

Status SlurmClient::drain(const std::string& node, const std::optional<std::string>& reason) {
  update_node_msg_t update;
  slurm_init_update_node_msg(&update);
  std::string names = node;
  std::string text = reason.value_or("");
  update.node_names = names.data();
  if (reason) {
    update.reason = text.data();
    update.reason_uid = ::getuid();
  }
  update.node_state = NODE_STATE_DRAIN;
  if (slurm_update_node(&update) != SLURM_SUCCESS) return slurm_error("drain node " + node, errno);
  return Done{};
}

Status SlurmClient::requeue(JobId job, bool hold) {
  const int code = slurm_requeue(job.value, hold ? JOB_REQUEUE_HOLD : 0);
  if (code != SLURM_SUCCESS)
    return slurm_error("requeue job " + std::to_string(job.value),
                       code == SLURM_ERROR ? errno : code);
  return Done{};
}

Result<std::string> SlurmClient::state_directory() {
  slurm_conf_t* conf = nullptr;
  if (slurm_load_ctl_conf(0, &conf) != SLURM_SUCCESS)
    return slurm_error("read slurmctld's configuration", errno);
  const std::string directory = conf->state_save_location ? conf->state_save_location : "";
  slurm_free_ctl_conf(conf);
  return directory;
}

}  // namespace acrf
