// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/bridge/place_bridge.h"

#include <bit>
#include <cctype>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "common/config_file.h"
#include "common/topology_file.h"
#include "core/placement.h"
#include "core/policy.h"
#include "core/replicas.h"
#include "core/requeue_budget.h"
#include "core/run_history.h"

struct acrf_placer {
  acrf_placer(acrf::Topology tree, int node_cnt)
      : topology(std::move(tree)), inventory(node_cnt), placement(topology, inventory) {}
  acrf_placer(const acrf_placer&) = delete;

  acrf::Topology topology;
  acrf::Inventory inventory;
  acrf::Placement placement;
  acrf::Plan plan;
  acrf::NodeSet candidates, required, avoid;
  std::vector<int> nodes;
  std::vector<std::uint64_t> gpus;
  std::string summary;
};

namespace {

constexpr std::size_t kLongestSummary = 160;

// The one guard: what a library throws (no memory) ends here.
template <typename Body, typename Value>
Value guarded(Value failure, char* problem, std::size_t size, Body body) noexcept {
  try {
    return body();
  } catch (const std::exception& thrown) {
    if (problem && size) std::snprintf(problem, size, "%s", thrown.what());
  } catch (...) {
    if (problem && size) std::snprintf(problem, size, "unknown error");
  }
  return failure;
}

std::string directory_of(const char* slurm_conf_path) {
  const std::string path = slurm_conf_path ? slurm_conf_path : "";
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

// Slurm's node numbers to the topology's positions.
acrf::NodeSet& to_positions(const acrf::Topology& topology, const std::uint64_t* words,
                            acrf::NodeSet& set) {
  if (set.size() != topology.node_count()) set = acrf::NodeSet(topology.node_count());
  auto& to = set.words();
  if (topology.is_identity()) {
    std::copy(words, words + to.size(), to.begin());
    return set;
  }
  set.reset();
  for (std::size_t w = 0; w < to.size(); ++w)
    for (std::uint64_t rest = words[w]; rest; rest &= rest - 1)
      set.set(topology.position_of(static_cast<int>(w * 64) + std::countr_zero(rest)));
  return set;
}

static_assert(static_cast<int>(acrf::Shape::kSpread) == ACRF_SHAPE_SPREAD);

acrf::PlaceRequest to_request(const acrf_request_t& from) {
  acrf::PlaceRequest to;
  to.min_nodes = from.min_nodes;
  to.max_nodes = from.max_nodes;
  to.gpus_per_node = from.gpus_per_node;
  to.total_gpus = from.total_gpus;
  to.gpu_step = from.gpu_step;
  to.type = from.type;
  to.total_cpus = from.total_cpus;
  to.cpus_per_node = from.cpus_per_node;
  to.memory_per_node_mb = from.memory_per_node_mb;
  to.all_memory = from.all_memory != 0;
  to.whole_nodes = from.whole_nodes != 0;
  to.ever = from.ever != 0;
  to.shape = static_cast<acrf::Shape>(from.shape);
  to.risk_limit = from.risk_limit;
  return to;
}

// For a log of JSON lines: a leaf's name is what the site wrote into topology.conf.
std::string plain(const std::string& name) {
  std::string text = name.empty() ? "-" : name;
  for (char& c : text)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_' && c != '.') c = '?';
  return text;
}

void summarize(acrf_placer& placer) {
  placer.summary.clear();
  for (const auto& share : placer.plan.shares) {
    const auto leaf = plain(placer.topology.leaf(share.leaf).name);
    if (placer.summary.size() + leaf.size() + 12 > kLongestSummary) {
      placer.summary += " ...";
      return;
    }
    placer.summary +=
        (placer.summary.empty() ? "" : " ") + leaf + ":" + std::to_string(share.count);
  }
}

void hand_over(acrf_placer& placer, acrf_plan_t* plan) {
  const auto& planned = placer.plan.nodes;
  placer.nodes.resize(planned.size());
  placer.gpus.resize(planned.size());
  for (std::size_t i = 0; i < planned.size(); ++i) {
    placer.nodes[i] = placer.topology.node_at(planned[i].position);
    placer.gpus[i] = planned[i].gpus;
  }
  summarize(placer);
  *plan = {static_cast<int>(placer.nodes.size()),
           placer.nodes.data(),
           placer.gpus.data(),
           placer.plan.cost,
           placer.plan.runner_up,
           placer.plan.certified,
           placer.plan.leaves,
           placer.plan.pods,
           placer.plan.avoidable,
           placer.plan.joined,
           placer.summary.c_str()};
}

}  // namespace

int acrf_place_site_load(const char* slurm_conf_path, const char* kept_path,
                         acrf_place_site_t* site, char* problem, std::size_t size) {
  *site = {};
  return guarded(-1, problem, size, [&] {
    const auto read = acrf::load_config_or_kept(directory_of(slurm_conf_path) + "/acrf.conf",
                                                kept_path ? kept_path : "", false);
    std::snprintf(problem, size, "%s", (read ? read->problem : read.error().sentence).c_str());
    if (!read) return -1;
    const auto& config = read->config;
    *site = {config.mode == acrf::Mode::kEnforce, config.placement, config.placement_budget_us,
             config.risk_job_gpus, config.risk_job_hours};
    return 0;
  });
}

int acrf_node_health(const char* comment, acrf_node_t* node) {
  node->quarantined = 0;
  node->suspect = node->risk = node->probation = 0;
  if (!comment) return 0;
  return guarded(0, nullptr, 0, [&] {
    const auto health = acrf::find_node_health(comment);
    if (!health) return 0;
    node->quarantined = health->quarantined;
    node->suspect = health->suspect;
    node->risk = static_cast<std::uint8_t>(health->risk);
    node->probation = health->probation;
    return 1;
  });
}

int acrf_failed_nodes(const char* comment, char* names, std::size_t size) {
  return guarded(-1, nullptr, 0, [&] {
    const std::string_view text = comment ? comment : "";
    std::string list;
    const auto add = [&list](const std::string& node) {
      if (!node.empty()) list += (list.empty() ? "" : ",") + node;
    };
    for (const auto& failure : acrf::find_requeue_count(text).failures) add(failure.node);
    for (const auto& run : acrf::find_run_history(text).runs)
      if (run.cause == acrf::RequeueCause::kNode) add(run.node);
    if (list.empty() || list.size() >= size) return -1;
    std::snprintf(names, size, "%s", list.c_str());
    return 0;
  });
}

acrf_placer_t* acrf_placer_create(const char* const* names, int node_cnt,
                                  const char* slurm_conf_path, char* problem, std::size_t size) {
  return guarded<>(static_cast<acrf_placer_t*>(nullptr), problem, size, [&]() -> acrf_placer_t* {
    const std::vector<std::string> nodes(names, names + node_cnt);
    auto topology = acrf::load_topology(directory_of(slurm_conf_path), nodes);
    if (!topology) {
      std::snprintf(problem, size, "%s", topology.error().sentence.c_str());
      return new acrf_placer(acrf::Topology::flat(node_cnt), node_cnt);
    }
    return new acrf_placer(std::move(*topology), node_cnt);
  });
}

void acrf_placer_destroy(acrf_placer_t* placer) { delete placer; }

int acrf_placer_add_kind(acrf_placer_t* placer, int gpus, const int* weights) {
  return guarded(-1, nullptr, 0, [&] {
    std::vector<std::vector<int>> rows;
    for (int i = 0; i < gpus; ++i) rows.emplace_back(weights + i * gpus, weights + (i + 1) * gpus);
    return placer->inventory.add_kind(acrf::GpuGroups(gpus, std::move(rows)));
  });
}

void acrf_placer_set_node(acrf_placer_t* placer, int node, const acrf_node_t* from) {
  guarded(0, nullptr, 0, [&] {
    acrf::NodeState to;
    to.gpus = from->gpus;
    to.free = from->free;
    to.health = {from->quarantined, from->suspect != 0, from->risk, from->probation != 0};
    to.type = from->type;
    to.kind = from->kind;
    to.plannable = from->plannable != 0;
    to.cpus = from->cpus;
    to.free_cpus = from->free_cpus;
    to.memory_mb = from->memory_mb;
    to.free_memory_mb = from->free_memory_mb;
    to.weight = from->weight;
    placer->inventory.set(placer->topology.position_of(node), to);
    return 0;
  });
}

void acrf_job_wishes(const char* token, acrf_wishes_t* wishes) {
  *wishes = {static_cast<int>(acrf::Shape::kPack), 0};
  if (!token) return;
  guarded(0, nullptr, 0, [&] {
    if (const auto policy = acrf::find_policy(token))
      *wishes = {static_cast<int>(policy->shape), policy->excluded_risk};
    return 0;
  });
}

int acrf_placer_plan(acrf_placer_t* placer, const acrf_request_t* request,
                     const std::uint64_t* candidates, const std::uint64_t* required,
                     const std::uint64_t* avoid, acrf_plan_t* plan) {
  return guarded(-1, nullptr, 0, [&] {
    auto& from = to_positions(placer->topology, candidates, placer->candidates);
    const acrf::NodeSet *needed = nullptr, *shunned = nullptr;
    if (required) needed = &to_positions(placer->topology, required, placer->required);
    if (avoid) shunned = &to_positions(placer->topology, avoid, placer->avoid);
    if (!placer->placement.place(to_request(*request), from, needed, shunned, placer->plan))
      return 0;
    hand_over(*placer, plan);
    return 1;
  });
}

int acrf_placer_keep_apart(acrf_placer_t* placer, const std::uint64_t* candidates,
                           const std::uint64_t* siblings, std::uint64_t* avoid) {
  return guarded(-1, nullptr, 0, [&] {
    const auto& topology = placer->topology;
    acrf::NodeSet apart(topology.node_count());
    acrf::keep_apart(topology, to_positions(topology, candidates, placer->candidates),
                     to_positions(topology, siblings, placer->required), apart);
    apart.each([&](int position) {
      const auto node = static_cast<unsigned>(topology.node_at(position));
      avoid[node / 64] |= std::uint64_t{1} << (node % 64);
      return true;
    });
    return 0;
  });
}
