// SPDX-License-Identifier: GPL-2.0-or-later
#include "hub/poller.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <ctime>

#include "common/slurm_client.h"
#include "common/topology_file.h"
#include "core/hostlist.h"
#include "core/job_life.h"
#include "hub/layout.h"

namespace acrf::hub {

Poller::Poller(Model& model, const Config& config, Options options)
    : model_(model), config_(config), options_(std::move(options)) {
  thread_ = std::thread([this] { run(); });
}

Poller::~Poller() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Poller::look_now() {
  {
    const std::lock_guard lock(mutex_);
    wanted_ = true;
  }
  wake_.notify_all();
}

void Poller::run() {
  while (true) {
    look_at_nodes();
    if (model_.knows_cluster()) look_at_jobs();
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, options_.pause, [&] { return stopping_ || wanted_; });
    wanted_ = false;
    if (stopping_) return;
  }
}

void Poller::complain(const Error& error) {
  if (error.sentence == last_problem_) return;
  last_problem_ = error.sentence;
  spdlog::warn("{}; the hub goes on with what it knows", error.sentence);
}

void Poller::look_at_nodes() {
  const auto news = watch_.nodes();
  if (!news) return complain(news.error());
  if (!last_problem_.empty()) spdlog::info("slurmctld answers again");
  last_problem_.clear();
  if (!*news) return;
  std::vector<std::string> names;
  std::vector<int> gpus;
  ClusterLook look;
  look.cluster = watch_.cluster();
  look.fleet.now_unix_s = (*news)->now_unix_s;
  for (const auto& node : (*news)->nodes) {
    names.push_back(node.node.name);
    gpus.push_back(node.gpus);
    look.fleet.nodes.push_back(node.node);
    look.slurm_states.push_back(node.state);
    look.addresses.push_back(node.address);
    look.busy.push_back(node.busy);
  }
  auto topology = load_topology(options_.slurm_directory, names);
  if (!topology) {
    complain(topology.error());
    topology = Topology::flat(static_cast<int>(names.size()));
  }
  look.layout = layout_of(*topology, names, gpus);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto& leaf =
        topology->leaf(topology->leaf_of(topology->position_of(static_cast<int>(i))));
    if (leaf.real) look.fleet.nodes[i].leaf = leaf.name;
  }
  look.brakes = brake_states(config_, look.fleet);
  model_.take_cluster(std::move(look));
}

void Poller::look_at_jobs() {
  const auto news = watch_.jobs();
  if (!news) return complain(news.error());
  if (!*news) return;
  const auto layout = model_.layout();
  std::vector<JobLook> jobs;
  jobs.reserve((*news)->size());
  for (const auto& job : **news) jobs.push_back(look_of(job, *layout, std::time(nullptr)));
  model_.take_jobs(std::move(jobs));
}

JobLook Poller::look_of(const WatchedJob& job, const Layout& layout,
                        std::int64_t now_unix_s) const {
  JobLook look;
  look.id = job.id;
  look.name = job.name;
  look.user = job.user;
  look.partition = job.partition;
  look.state = job.state;
  look.reason = job.reason;
  look.nodes = job.nodes;
  look.gpus = job.gpus;
  look.submit_ms = job.submit_unix_s * 1000;
  look.start_ms = job.start_unix_s * 1000;
  look.end_ms = job.end_unix_s * 1000;
  look.restarts = job.restarts;
  look.priority = job.priority;
  look.admin_comment = job.admin_comment;
  if (const auto policy = find_policy(job.admin_comment)) {
    look.policy = name_of(policy->recovery);
    look.workload = name_of(policy->workload);
  }
  if (job.restarts > 0) {
    LifeSources life;
    life.job = {job.id,           job.state,        job.reason,   job.submit_unix_s,
                job.start_unix_s, job.end_unix_s,   job.restarts, job.nodes,
                job.admin_comment};
    life.now_unix_s = now_unix_s;
    look.ettr = tell_life(life).ettr;
  }
  std::vector<int> numbers;
  if (const auto nodes = expand_hostlist(job.nodes))
    for (const auto& node : *nodes)
      if (const int number = layout.find(node); number >= 0) numbers.push_back(number);
  std::sort(numbers.begin(), numbers.end());
  for (const int number : numbers) {
    auto& ranges = look.node_ranges;
    if (!ranges.empty() && ranges.back().first + ranges.back().second == number)
      ++ranges.back().second;
    else
      ranges.emplace_back(number, 1);
  }
  for (const auto& [node, mask] : job.gpus_on)
    if (const int number = layout.find(node); number >= 0) look.gpus_on.emplace_back(number, mask);
  return look;
}

}  // namespace acrf::hub
