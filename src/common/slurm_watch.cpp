// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm_watch.h"

#include <pwd.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include <bit>
#include <cerrno>
#include <ctime>
#include <memory>

#include "common/slurm_call.h"
#include "common/slurm_records.h"
#include "core/gres_text.h"
#include "core/hostlist.h"
#include "core/text.h"

namespace acrf {
namespace {

std::string text(const char* of) { return of ? of : ""; }

bool is_unchanged(int code) { return code != SLURM_SUCCESS && errno == SLURM_NO_CHANGE_IN_DATA; }

std::string name_of_node_state(std::uint32_t state) {
  static constexpr const char* kBases[] = {"UNKNOWN", "DOWN",  "IDLE",  "ALLOCATED",
                                           "ERROR",   "MIXED", "FUTURE"};
  static constexpr std::pair<std::uint32_t, const char*> kFlags[] = {
      {NODE_STATE_DRAIN, "DRAIN"},
      {NODE_STATE_FAIL, "FAIL"},
      {NODE_STATE_COMPLETING, "COMPLETING"},
      {NODE_STATE_NO_RESPOND, "NOT_RESPONDING"},
      {NODE_STATE_MAINT, "MAINTENANCE"},
      {NODE_STATE_RES, "RESERVED"},
      {NODE_STATE_POWERED_DOWN, "POWERED_DOWN"},
      {NODE_STATE_POWERING_UP, "POWERING_UP"},
      {NODE_STATE_REBOOT_ISSUED, "REBOOT_ISSUED"},
      {NODE_STATE_INVALID_REG, "INVALID_REG"}};
  const auto base = state & NODE_STATE_BASE;
  std::string name = base < std::size(kBases) ? kBases[base] : "UNKNOWN";
  for (const auto& [flag, word] : kFlags)
    if (state & flag) name += std::string("+") + word;
  return name;
}

std::string name_of_reason(std::uint32_t reason) {
  switch (reason) {
    case WAIT_NO_REASON: return "None";
    case WAIT_PRIORITY: return "Priority";
    case WAIT_DEPENDENCY: return "Dependency";
    case WAIT_RESOURCES: return "Resources";
    case WAIT_PART_NODE_LIMIT: return "PartitionNodeLimit";
    case WAIT_PART_TIME_LIMIT: return "PartitionTimeLimit";
    case WAIT_PART_DOWN: return "PartitionDown";
    case WAIT_HELD: return "JobHeldAdmin";
    case WAIT_HELD_USER: return "JobHeldUser";
    case WAIT_TIME: return "BeginTime";
    case WAIT_NODE_NOT_AVAIL: return "ReqNodeNotAvail";
    case WAIT_RESERVATION: return "Reservation";
    case WAIT_CLEANING: return "Cleaning";
    default: return "reason " + std::to_string(reason);
  }
}

bool is_busy(std::uint32_t state) {
  const auto base = state & NODE_STATE_BASE;
  return base == NODE_STATE_ALLOCATED || base == NODE_STATE_MIXED ||
         (state & NODE_STATE_COMPLETING) != 0;
}

// What jobs hold where: details come in the order of the host list.
void add_gpus(WatchedJob& job, const slurm_job_info_t& record) {
  const auto nodes = expand_hostlist(job.nodes);
  if (nodes && record.gres_detail_cnt == nodes->size()) {
    for (std::uint32_t i = 0; i < record.gres_detail_cnt; ++i) {
      if (!record.gres_detail_str[i]) continue;
      const auto mask = gpus_used_in_gres(record.gres_detail_str[i]);
      job.gpus_on.emplace_back((*nodes)[i], mask);
      job.gpus += std::popcount(mask);
    }
  }
  if (job.gpus > 0) return;
  job.gpus = gpus_in_gres(text(record.gres_total));
  std::string_view per_node = record.tres_per_node ? record.tres_per_node : "";
  if (job.gpus == 0 && (take_prefix(per_node, "gres:") || take_prefix(per_node, "gres/")))
    job.gpus = gpus_in_gres(per_node) * static_cast<int>(record.num_nodes);
}

WatchedJob job_of(const slurm_job_info_t& record) {
  const auto base = record.job_state & JOB_STATE_BASE;
  WatchedJob job;
  job.id = record.job_id;
  job.name = text(record.name);
  job.partition = text(record.partition);
  job.state = name_of_job_state(record.job_state);
  if (base == JOB_PENDING)
    job.reason = record.state_desc ? record.state_desc : name_of_reason(record.state_reason);
  job.nodes = text(record.nodes);
  job.admin_comment = text(record.admin_comment);
  job.submit_unix_s = record.submit_time;
  if (base != JOB_PENDING && record.start_time <= std::time(nullptr))
    job.start_unix_s = record.start_time;
  if (base > JOB_SUSPENDED) job.end_unix_s = record.end_time;
  job.restarts = record.restart_cnt;
  job.priority = record.priority;
  add_gpus(job, record);
  return job;
}

}  // namespace

Result<std::optional<SlurmWatch::Nodes>> SlurmWatch::nodes() {
  partition_info_msg_t* raw_partitions = nullptr;
  const int partitions = ask_controller(
      [&] { return slurm_load_partitions(partitions_at_, &raw_partitions, SHOW_ALL); });
  if (partitions != SLURM_SUCCESS && !is_unchanged(partitions))
    return slurm_error("ask slurmctld for its partitions", errno);
  if (partitions == SLURM_SUCCESS) {
    const std::unique_ptr<partition_info_msg_t, decltype(&slurm_free_partition_info_msg)> answer(
        raw_partitions, slurm_free_partition_info_msg);
    partitions_at_ = answer->last_update;
    partitions_.clear();
    for (std::uint32_t i = 0; i < answer->record_count; ++i) {
      const partition_info_t& partition = answer->partition_array[i];
      if (!partition.name || !partition.node_inx) continue;
      for (const auto* range = partition.node_inx; range[0] >= 0; range += 2)
        partitions_[partition.name].emplace_back(range[0], range[1]);
    }
    nodes_at_ = 0;
  }
  node_info_msg_t* raw = nullptr;
  const int code = ask_controller([&] { return slurm_load_node(nodes_at_, &raw, SHOW_ALL); });
  if (is_unchanged(code)) return std::optional<Nodes>();
  if (code != SLURM_SUCCESS) return slurm_error("ask slurmctld for its nodes", errno);
  const std::unique_ptr<node_info_msg_t, decltype(&slurm_free_node_info_msg)> answer(
      raw, slurm_free_node_info_msg);
  nodes_at_ = answer->last_update;
  Nodes all;
  all.now_unix_s = answer->last_update;
  std::vector<int> number_of(answer->record_count, -1);
  for (std::uint32_t i = 0; i < answer->record_count; ++i) {
    const node_info_t& record = answer->node_array[i];
    if (!record.name || !*record.name) continue;
    number_of[i] = static_cast<int>(all.nodes.size());
    all.nodes.push_back({fleet_node_of(record), name_of_node_state(record.node_state),
                         text(record.node_addr ? record.node_addr : record.name),
                         gpus_in_gres(text(record.gres)), is_busy(record.node_state)});
  }
  for (const auto& [name, ranges] : partitions_)
    for (const auto& [first, last] : ranges)
      for (int i = first; i <= last && i < static_cast<int>(number_of.size()); ++i)
        if (const int number = number_of[static_cast<std::size_t>(i)]; number >= 0)
          all.nodes[static_cast<std::size_t>(number)].node.partitions.push_back(name);
  return std::optional<Nodes>(std::move(all));
}

Result<std::optional<std::vector<WatchedJob>>> SlurmWatch::jobs() {
  job_info_msg_t* raw = nullptr;
  const int code =
      ask_controller([&] { return slurm_load_jobs(jobs_at_, &raw, SHOW_ALL | SHOW_DETAIL); });
  if (is_unchanged(code)) return std::optional<std::vector<WatchedJob>>();
  if (code != SLURM_SUCCESS) return slurm_error("ask slurmctld for its jobs", errno);
  const std::unique_ptr<job_info_msg_t, decltype(&slurm_free_job_info_msg)> answer(
      raw, slurm_free_job_info_msg);
  jobs_at_ = answer->last_update;
  std::vector<WatchedJob> all;
  all.reserve(answer->record_count);
  for (std::uint32_t i = 0; i < answer->record_count; ++i) {
    all.push_back(job_of(answer->job_array[i]));
    all.back().user = user_name(answer->job_array[i].user_id);
  }
  return std::optional<std::vector<WatchedJob>>(std::move(all));
}

const std::string& SlurmWatch::cluster() {
  slurm_conf_t* conf = nullptr;
  if (!cluster_.empty() || slurm_load_ctl_conf(0, &conf) != SLURM_SUCCESS) return cluster_;
  cluster_ = text(conf->cluster_name);
  slurm_free_ctl_conf(conf);
  return cluster_;
}

const std::string& SlurmWatch::user_name(std::uint32_t user) {
  auto& name = users_[user];
  if (!name.empty()) return name;
  passwd entry{};
  passwd* found = nullptr;
  char buffer[4096];
  ::getpwuid_r(user, &entry, buffer, sizeof buffer, &found);
  name = found ? found->pw_name : std::to_string(user);
  return name;
}

}  // namespace acrf
