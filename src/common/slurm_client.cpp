// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm_client.h"

#include <slurm/slurm.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <memory>

#include "common/host_name.h"
#include "common/slurm_call.h"
#include "core/brake_marks.h"
#include "core/gres_text.h"
#include "core/hostlist.h"
#include "core/text.h"

namespace acrf {
namespace {

constexpr std::uint32_t kAway = NODE_STATE_POWERED_DOWN | NODE_STATE_POWERING_DOWN |
                                NODE_STATE_POWER_DOWN | NODE_STATE_POWERING_UP |
                                NODE_STATE_POWER_UP | NODE_STATE_REBOOT_ISSUED | NODE_STATE_MAINT;

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
  view.completing = (job.job_state & JOB_COMPLETING) != 0;
  view.end_unix_s = job.end_time;
  view.restarts = job.restart_cnt;
  const int status = static_cast<int>(job.exit_code);
  view.exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  view.admin_comment = job.admin_comment ? job.admin_comment : "";
  view.comment = job.comment ? job.comment : "";
  view.seen_unix_s = std::time(nullptr);
  return view;
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

// Details come in the order of slurmctld's table of nodes, which counts as people do; a host list
// in another order does not tell whose they are, unless all are the same.
Result<std::string> gres_on_node(const slurm_job_info_t& job, const std::string& node) {
  const auto nodes = expand_hostlist(job.nodes ? job.nodes : "");
  if (!nodes) return nodes.error();
  const auto found = std::find(nodes->begin(), nodes->end(), node);
  const auto at = static_cast<std::size_t>(found - nodes->begin());
  if (at >= job.gres_detail_cnt || !job.gres_detail_str[at]) return std::string();
  const bool all_alike = std::all_of(
      job.gres_detail_str, job.gres_detail_str + job.gres_detail_cnt, [&](const char* other) {
        return other && std::string_view(other) == job.gres_detail_str[at];
      });
  if (all_alike || std::is_sorted(nodes->begin(), nodes->end(), natural_less))
    return std::string(job.gres_detail_str[at]);
  return Error{ErrorCode::kInvalid, "the nodes of job " + std::to_string(job.job_id) +
                                        " are in an order that does not tell its GPUs apart"};
}

// It has begun and not given its nodes back.
bool has_nodes(const slurm_job_info_t& job) {
  const auto state = state_of(job);
  return state == JobState::kRunning || state == JobState::kSuspended ||
         (job.job_state & (JOB_COMPLETING | JOB_CONFIGURING)) != 0;
}

using NodeAnswer = std::unique_ptr<node_info_msg_t, decltype(&slurm_free_node_info_msg)>;
using JobAnswer = std::unique_ptr<job_info_msg_t, decltype(&slurm_free_job_info_msg)>;

// With one record. Never with SHOW_DETAIL: 22.05 then makes the text of the GPUs in use anew under
// a read lock, and two who ask at once make slurmctld free it twice.
Result<NodeAnswer> load_node(const std::string& name) {
  node_info_msg_t* raw = nullptr;
  std::string writable = name;
  if (ask_controller([&] { return slurm_load_node_single(&raw, writable.data(), SHOW_ALL); }) !=
      SLURM_SUCCESS)
    return slurm_error("ask slurmctld about node " + name, errno);
  NodeAnswer answer(raw, slurm_free_node_info_msg);
  if (answer->record_count != 1)
    return Error{ErrorCode::kNotFound, "slurmctld knows no node " + name};
  return answer;
}

// With one record at least: an array has one for each of its tasks.
Result<JobAnswer> load_job(JobId job) {
  const auto about = "ask slurmctld about job " + std::to_string(job.value);
  job_info_msg_t* raw = nullptr;
  if (ask_controller([&] { return slurm_load_job(&raw, job.value, SHOW_ALL); }) != SLURM_SUCCESS)
    return slurm_error(about, errno);
  JobAnswer answer(raw, slurm_free_job_info_msg);
  if (answer->record_count == 0) return Error{ErrorCode::kNotFound, about + ": it knows none"};
  return answer;
}

}  // namespace

SlurmClient::SlurmClient() { slurm_init(nullptr); }
SlurmClient::~SlurmClient() { slurm_fini(); }

Result<NodeView> SlurmClient::node(const std::string& name) {
  (void)settle_doubts(name);
  const auto asked = std::chrono::steady_clock::now();
  const auto started = controller_start();
  if (!started) return started.error();
  const auto answer = load_node(name);
  if (!answer) return answer.error();
  const node_info_t& record = (*answer)->node_array[0];
  NodeView view;
  view.answer_was_slow =
      std::chrono::steady_clock::now() - asked > kSuspiciouslySlow || controller_may_be_another();
  view.draining = (record.node_state & (NODE_STATE_DRAIN | NODE_STATE_FAIL)) != 0;
  view.reason = record.reason ? record.reason : "";
  view.controller_started_unix_s = *started;
  const auto base = record.node_state & NODE_STATE_BASE;
  view.down = base == NODE_STATE_DOWN;
  view.unheard = base == NODE_STATE_UNKNOWN;
  view.away = (record.node_state & kAway) != 0;
  view.busy = base == NODE_STATE_ALLOCATED || base == NODE_STATE_MIXED ||
              (record.node_state & NODE_STATE_COMPLETING) != 0;
  view.token = node_token_in(record.comment ? record.comment : "");
  if (is_doubted(name)) doubt_act(view.token);
  return view;
}

Result<std::vector<JobView>> SlurmClient::jobs_of_node(const std::string& name) {
  job_info_msg_t* raw = nullptr;
  if (ask_controller([&] { return slurm_load_jobs(0, &raw, SHOW_ALL); }) != SLURM_SUCCESS)
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
  if (ask_controller([&] { return slurm_load_node(0, &raw, SHOW_ALL | SHOW_DETAIL); }) !=
      SLURM_SUCCESS)
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

Result<JobView> SlurmClient::job(JobId job) {
  const auto answer = load_job(job);
  if (!answer) return answer.error();
  const slurm_job_info_t* first = (*answer)->job_array;
  const auto* end = first + (*answer)->record_count;
  const auto* found =
      std::find_if(first, end, [&](const auto& record) { return record.job_id == job.value; });
  return view_of(found == end ? *first : *found);
}

Status SlurmClient::set_comment(JobId job, const std::string& comment) {
  job_desc_msg_t update;
  slurm_init_job_desc_msg(&update);
  std::string text = comment;
  update.job_id = job.value;
  update.comment = text.data();
  if (ask_controller([&] { return slurm_update_job(&update); }) != SLURM_SUCCESS)
    return slurm_error("comment job " + std::to_string(job.value), errno);
  return Done{};
}

Result<std::string> SlurmClient::address_of(const std::string& node) {
  const auto answer = load_node(node);
  if (!answer) return answer.error();
  const node_info_t& record = (*answer)->node_array[0];
  return std::string(record.node_addr ? record.node_addr : node.c_str());
}

Result<std::vector<std::string>> SlurmClient::nodes_of_job(JobId job) {
  const auto answer = load_job(job);
  if (!answer) return answer.error();
  const char* nodes = (*answer)->job_array[0].nodes;
  return nodes && *nodes ? expand_hostlist(nodes) : std::vector<std::string>();
}

Result<JobOnNode> SlurmClient::job_on_node(JobId job, const std::string& node) {
  const auto about = "ask slurmctld about job " + std::to_string(job.value);
  job_info_msg_t* raw = nullptr;
  if (ask_controller([&] { return slurm_load_job(&raw, job.value, SHOW_ALL | SHOW_DETAIL); }) !=
      SLURM_SUCCESS)
    return slurm_error(about, errno);
  const std::unique_ptr<job_info_msg_t, decltype(&slurm_free_job_info_msg)> answer(
      raw, slurm_free_job_info_msg);
  for (std::uint32_t i = 0; i < answer->record_count; ++i) {
    const slurm_job_info_t& record = answer->job_array[i];
    if (record.job_id != job.value) continue;  // another task of its array
    const auto gres = gres_on_node(record, node);
    if (!gres) return gres.error();
    return JobOnNode{record.user_id, has_nodes(record), gpus_used_in_gres(*gres)};
  }
  return Error{ErrorCode::kNotFound, about + ": it knows no such job"};
}

Result<GpuMask> SlurmClient::gpus_in_use(const std::string& node) {
  job_info_msg_t* raw = nullptr;
  if (ask_controller([&] { return slurm_load_jobs(0, &raw, SHOW_ALL | SHOW_DETAIL); }) !=
      SLURM_SUCCESS)
    return slurm_error("ask slurmctld for its jobs", errno);
  const JobAnswer answer(raw, slurm_free_job_info_msg);
  GpuMask used = 0;
  for (std::uint32_t i = 0; i < answer->record_count; ++i) {
    const slurm_job_info_t& job = answer->job_array[i];
    if (!has_nodes(job) || !hostlist_names(job.nodes, node)) continue;
    const auto gres = gres_on_node(job, node);
    if (!gres) return gres.error();
    used |= gpus_used_in_gres(*gres);
  }
  return used;
}

Result<int> SlurmClient::gpus_of_node(const std::string& name) {
  const auto answer = load_node(name);
  if (!answer) return answer.error();
  const char* gres = (*answer)->node_array[0].gres;
  return gres ? gpus_in_gres(gres) : 0;
}

Status SlurmClient::requeue(JobId job, bool hold) {
  const int code =
      ask_controller([&] { return slurm_requeue(job.value, hold ? JOB_REQUEUE_HOLD : 0); });
  if (code != SLURM_SUCCESS)
    return slurm_error("requeue job " + std::to_string(job.value),
                       code == SLURM_ERROR ? errno : code);
  return Done{};
}

Status SlurmClient::signal_steps(JobId job, int signal) {
  const int code = ask_controller(
      [&] { return slurm_signal_job(job.value, static_cast<std::uint16_t>(signal)); });
  if (code == SLURM_SUCCESS) return Done{};
  const int why = code == SLURM_ERROR ? errno : code;
  auto error = slurm_error("signal job " + std::to_string(job.value), why);
  // The nodes are asked after that, with numbers of their own.
  const bool by_controller = (why >= SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR &&
                              why <= SLURMCTLD_COMMUNICATIONS_SHUTDOWN_ERROR) ||
                             why == ESLURM_IN_STANDBY_MODE;
  if (!by_controller && error.code == ErrorCode::kUnavailable) error.code = ErrorCode::kSystem;
  return error;
}

Result<bool> SlurmClient::is_held(JobId job) {
  const auto answer = load_job(job);
  if (!answer) return answer.error();
  const auto& record = (*answer)->job_array[0];
  return state_of(record) == JobState::kPending && record.priority == 0;
}

Status SlurmClient::release(JobId job) {
  job_desc_msg_t update;
  slurm_init_job_desc_msg(&update);
  update.job_id = job.value;
  update.priority = INFINITE;
  if (slurm_update_job(&update) != SLURM_SUCCESS)
    return slurm_error("release job " + std::to_string(job.value), errno);
  return Done{};
}

// The drop-in stands in PluginDir before Slurm's own plugins; the other has a name of its own.
Result<bool> SlurmClient::hides_gpus() {
  slurm_conf_t* conf = nullptr;
  if (ask_controller([&] { return slurm_load_ctl_conf(0, &conf); }) != SLURM_SUCCESS)
    return slurm_error("read slurmctld's configuration", errno);
  const std::string type = conf->select_type ? conf->select_type : "";
  const std::string directories = conf->plugindir ? conf->plugindir : "";
  slurm_free_ctl_conf(conf);
  return type == "select/acrf" || directories.find("/acrf/dropin") != std::string::npos;
}

Result<std::string> SlurmClient::state_directory() {
  slurm_conf_t* conf = nullptr;
  if (ask_controller([&] { return slurm_load_ctl_conf(0, &conf); }) != SLURM_SUCCESS)
    return slurm_error("read slurmctld's configuration", errno);
  const std::string directory = conf->state_save_location ? conf->state_save_location : "";
  slurm_free_ctl_conf(conf);
  return directory;
}

Result<std::string> SlurmClient::slurmd_spool_directory(const std::string& node) {
  slurm_conf_t* conf = nullptr;
  if (ask_controller([&] { return slurm_load_ctl_conf(0, &conf); }) != SLURM_SUCCESS)
    return slurm_error("read slurmctld's configuration", errno);
  std::string path = conf->slurmd_spooldir ? conf->slurmd_spooldir : "";
  slurm_free_ctl_conf(conf);
  const std::string short_name = short_host_name();
  for (const auto& [mark, name] : {std::pair{"%h", &short_name}, std::pair{"%n", &node}})
    for (auto at = path.find(mark); at != std::string::npos;
         at = path.find(mark, at + name->size()))
      path.replace(at, 2, *name);
  return path;
}

}  // namespace acrf
