// SPDX-License-Identifier: GPL-2.0-or-later
#include "place.h"

#include <fmt/format.h>

#include <bit>
#include <memory>
#include <optional>
#include <unordered_map>

#include "common/cluster_state.h"
#include "common/config_file.h"
#include "common/file.h"
#include "common/slurm_client.h"
#include "common/topology_file.h"
#include "core/hostlist.h"
#include "core/placement.h"
#include "core/reallocate.h"
#include "core/text.h"

namespace acrf {
namespace {

using nlohmann::ordered_json;

Error wrong(std::string sentence) { return {ErrorCode::kInvalid, std::move(sentence)}; }

// Placement keeps references: the cluster stays where it was made.
struct Cluster {
  ClusterState state;
  Topology topology = Topology::flat(0);
  std::unique_ptr<Inventory> inventory;
  std::unordered_map<std::string, int> position_of;

  std::string name_at(int position) const {
    return state.names[static_cast<std::size_t>(topology.node_at(position))];
  }
};

Status read_topology(const PlaceOptions& options, Cluster& cluster) {
  const auto& names = cluster.state.names;
  cluster.topology = Topology::flat(static_cast<int>(names.size()));
  if (options.state.empty() && options.topology.empty() && options.weights.empty()) {
    auto own = load_topology(slurm_directory(), names);
    if (!own) return own.error();
    cluster.topology = std::move(*own);
    return Done{};
  }
  if (!options.topology.empty()) {
    const auto text = read_file(options.topology);
    if (!text) return text.error();
    auto parsed = Topology::parse(*text, options.topology, names);
    if (!parsed) return parsed.error();
    cluster.topology = std::move(*parsed);
  }
  if (options.weights.empty()) return Done{};
  const auto text = read_file(options.weights);
  if (!text) return text.error();
  return cluster.topology.refine(*text, options.weights, names);
}

// One per process, see slurm_client.h.
SlurmClient& slurm() {
  static SlurmClient client;
  return client;
}

Result<ClusterState> read_state(const PlaceOptions& options) {
  if (options.state.empty()) return slurm().cluster_state();
  const auto text = read_file(options.state);
  if (!text) return text.error();
  return parse_cluster_state(*text, options.state);
}

Result<std::unique_ptr<Cluster>> read_cluster(const PlaceOptions& options) {
  auto cluster = std::make_unique<Cluster>();
  auto state = read_state(options);
  if (!state) return state.error();
  cluster->state = std::move(*state);
  if (const auto read = read_topology(options, *cluster); !read) return read.error();
  cluster->inventory = std::make_unique<Inventory>(cluster->topology.node_count());
  fill_inventory(cluster->state, cluster->topology, *cluster->inventory);
  for (std::size_t i = 0; i < cluster->state.names.size(); ++i)
    cluster->position_of[cluster->state.names[i]] =
        cluster->topology.position_of(static_cast<int>(i));
  return cluster;
}

// Positions of a host list's nodes, in its order.
Result<std::vector<int>> positions_of(const Cluster& cluster, const std::string& option,
                                      const std::string& list) {
  std::vector<int> positions;
  if (list.empty()) return positions;
  const auto names = expand_hostlist(list);
  if (!names) return wrong(option + ": " + names.error().sentence);
  NodeSet seen(cluster.topology.node_count());
  for (const auto& name : *names) {
    const auto found = cluster.position_of.find(name);
    if (found == cluster.position_of.end())
      return wrong(option + ": node " + name + " is not in the cluster");
    if (seen.test(found->second)) return wrong(option + ": node " + name + " is named twice");
    seen.set(found->second);
    positions.push_back(found->second);
  }
  return positions;
}

Result<NodeSet> set_of(const Cluster& cluster, const std::string& option, const std::string& list) {
  const auto positions = positions_of(cluster, option, list);
  if (!positions) return positions.error();
  NodeSet set(cluster.topology.node_count());
  for (const int position : *positions) set.set(position);
  return set;
}

// A lost node that is not the job's; empty: none.
std::string stranger(const Cluster& cluster, const std::vector<int>& job, const NodeSet& lost) {
  NodeSet others = lost;
  for (const int position : job) others.clear(position);
  std::string name;
  others.each([&](int position) {
    name = cluster.name_at(position);
    return false;
  });
  return name;
}

// --- The request -------------------------------------------------------------------------------

std::optional<int> whole_number(std::string_view text, int least, int most) {
  const auto value = parse_unsigned(text);
  if (!value || *value < static_cast<unsigned>(least) || *value > static_cast<unsigned>(most))
    return std::nullopt;
  return static_cast<int>(*value);
}

bool set_nodes(PlaceRequest& request, std::string_view value) {
  const auto dash = value.find('-');
  const auto least = whole_number(value.substr(0, dash), 1, 1'000'000);
  const auto most =
      dash == std::string_view::npos ? least : whole_number(value.substr(dash + 1), 1, 1'000'000);
  if (!least || !most || *most < *least) return false;
  request.min_nodes = *least;
  request.max_nodes = *most;
  return true;
}

bool set_number(int& target, std::string_view value, int least, int most) {
  const auto number = whole_number(value, least, most);
  if (number) target = *number;
  return number.has_value();
}

bool set_field(PlaceRequest& request, std::string_view key, std::string_view value) {
  if (key == "nodes") return set_nodes(request, value);
  if (key == "gpus-per-node")
    return set_number(request.gpus_per_node, value, 1, Inventory::kMostGpus);
  if (key == "gpus") return set_number(request.total_gpus, value, 1, 100'000'000);
  if (key == "gpus-per-task") return set_number(request.gpu_step, value, 1, Inventory::kMostGpus);
  if (key == "exclude-risk") return set_number(request.risk_limit, value, 1, 101);
  if (key == "shape") {
    const auto shape = parse_shape(value);
    if (shape) request.shape = *shape;
    return shape.has_value();
  }
  if (key == "exclusive") return request.whole_nodes = value.empty();
  return false;
}

Result<PlaceRequest> parse_request(const std::string& text) {
  PlaceRequest request;
  bool has_nodes = false;
  for (const auto field : split(text, ',')) {
    if (field.empty()) continue;
    const auto equals = field.find('=');
    const auto key = field.substr(0, equals);
    const auto value = equals == std::string_view::npos ? "" : field.substr(equals + 1);
    if (!set_field(request, key, value))
      return wrong(
          fmt::format("--request: {}: not a field with a value that it can have "
                      "(nodes=N[-M], gpus-per-node=N, gpus=N, gpus-per-task=N, "
                      "shape=pack|spread|block|any, exclude-risk=N, exclusive)",
                      field));
    has_nodes |= key == "nodes";
  }
  if (request.gpus_per_node > 0 && request.total_gpus > 0)
    return wrong("--request: gpus-per-node and gpus exclude each other");
  if (!has_nodes && request.total_gpus > 0) request.max_nodes = 1'000'000;
  return request;
}

// --- The answer --------------------------------------------------------------------------------

ordered_json gpu_numbers(GpuMask mask) {
  auto list = ordered_json::array();
  for (; mask; mask &= mask - 1) list.push_back(std::countr_zero(mask));
  return list;
}

ordered_json node_record(const Cluster& cluster, std::size_t rank, int position, GpuMask gpus) {
  return {{"rank", rank},
          {"name", cluster.name_at(position)},
          {"leaf", cluster.topology.leaf(cluster.topology.leaf_of(position)).name},
          {"gpus", gpu_numbers(gpus)}};
}

ordered_json plan_record(const Cluster& cluster, const Plan& plan) {
  auto nodes = ordered_json::array();
  for (std::size_t rank = 0; rank < plan.nodes.size(); ++rank)
    nodes.push_back(node_record(cluster, rank, plan.nodes[rank].position, plan.nodes[rank].gpus));
  ordered_json answer = {
      {"fits", true},      {"cost", plan.cost},           {"leaves", plan.leaves},
      {"pods", plan.pods}, {"certified", plan.certified}, {"avoidable", plan.avoidable}};
  if (plan.runner_up >= 0) answer["runner_up"] = plan.runner_up;
  answer["nodes"] = nodes;
  return answer;
}

// A ring crosses every link an even number of times; a plan counts a link that is crossed twice
// once.
ordered_json replacement_record(const Cluster& cluster, const Loss& loss, const Reallocation& found,
                                int gpus) {
  const std::int64_t share = loss.traffic == Traffic::kRing ? 2 : 1;
  NodeSet before(cluster.topology.node_count());
  for (const int position : loss.positions) before.set(position);
  auto nodes = ordered_json::array();
  NodeSet leaves(static_cast<int>(cluster.topology.leaves().size()));
  NodeSet pods(static_cast<int>(cluster.topology.switches().size()));
  for (std::size_t rank = 0; rank < found.positions.size(); ++rank) {
    const int position = found.positions[rank];
    const bool is_new = !before.test(position);
    const auto& node = cluster.inventory->node(position);
    const auto& groups = cluster.inventory->groups(node.kind);
    auto record =
        node_record(cluster, rank, position, is_new ? groups.best(node.healthy_free(), gpus) : 0);
    record["new"] = is_new;
    if (!is_new) record.erase("gpus");
    if (const int old = loss.positions[rank]; loss.lost.test(old))
      record["replaces"] = cluster.name_at(old);
    nodes.push_back(record);
    leaves.set(cluster.topology.leaf_of(position));
    pods.set(std::max(cluster.topology.leaf(cluster.topology.leaf_of(position)).parent, 0));
  }
  return {{"fits", true},
          {"cost_before", found.cost_before / share},
          {"cost", found.cost / share},
          {"lower_bound", found.lower_bound / share},
          {"leaves", leaves.count()},
          {"pods", pods.count()},
          {"certified", found.exact()},
          {"avoidable", found.avoidable},
          {"nodes", nodes}};
}

// Nodes with room for what the job has on each of its nodes.
NodeSet candidates(const Cluster& cluster, const PlaceRequest& request, int gpus) {
  NodeSet set(cluster.topology.node_count());
  if (gpus > 0) set = cluster.inventory->with_free(gpus);
  if (request.whole_nodes) set &= cluster.inventory->untouched();
  return set;
}

// Nodes that placement, too, takes only when nothing else fits.
void add_unhealthy(const Cluster& cluster, const PlaceRequest& request, NodeSet& avoid) {
  avoid |= cluster.inventory->suspect();
  avoid |= cluster.inventory->quarantined();
  avoid |= cluster.inventory->on_probation();
  cluster.inventory->risky().each([&](int position) {
    if (cluster.inventory->node(position).health.risk >= request.risk_limit) avoid.set(position);
    return true;
  });
}

std::string gpu_ranges(const ordered_json& gpus) {
  std::string text;
  for (std::size_t i = 0; i < gpus.size();) {
    std::size_t last = i;
    while (last + 1 < gpus.size() && gpus[last + 1] == gpus[last].get<int>() + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(gpus[i].get<int>());
    if (last > i) text += '-' + std::to_string(gpus[last].get<int>());
    i = last + 1;
  }
  return text;
}

}  // namespace

Result<ordered_json> place_job(const PlaceOptions& options) {
  const auto request = parse_request(options.request);
  if (!request) return request.error();
  if (request->gpus_per_node == 0 && request->total_gpus == 0)
    return wrong("--request: needs gpus-per-node or gpus");
  const auto cluster = read_cluster(options);
  if (!cluster) return cluster.error();
  const auto required = set_of(**cluster, "--require", options.require);
  if (!required) return required.error();
  const auto excluded = set_of(**cluster, "--exclude", options.exclude);
  if (!excluded) return excluded.error();
  const auto avoid = set_of(**cluster, "--avoid", options.avoid);
  if (!avoid) return avoid.error();
  NodeSet set((*cluster)->topology.node_count());
  for (int position = 0; position < set.size(); ++position) set.set(position);
  set.subtract(*excluded);
  Placement placement((*cluster)->topology, *(*cluster)->inventory);
  Plan plan;
  if (!placement.place(*request, set, options.require.empty() ? nullptr : &*required, &*avoid,
                       plan))
    return ordered_json{{"fits", false}};
  return plan_record(**cluster, plan);
}

namespace {

// The job's nodes as a host list.
Result<std::string> nodes_of_job(const PlaceOptions& options) {
  const auto id = parse_unsigned(options.job);
  if (!options.state.empty() || !id) return options.job;
  const auto nodes = slurm().nodes_of_job(JobId{static_cast<std::uint32_t>(*id)});
  if (!nodes) return nodes.error();
  if (nodes->empty()) return wrong("--job: job " + options.job + " has no nodes");
  return fmt::format("{}", fmt::join(*nodes, ","));
}

}  // namespace

Result<ordered_json> replace_lost(const PlaceOptions& options) {
  const auto request = parse_request(options.request);
  if (!request) return request.error();
  const auto read = read_cluster(options);
  if (!read) return read.error();
  const Cluster& cluster = **read;
  const auto nodes = nodes_of_job(options);
  if (!nodes) return nodes.error();
  const auto job = positions_of(cluster, "--job", *nodes);
  if (!job) return job.error();
  const auto lost = set_of(cluster, "--lost", options.lost);
  if (!lost) return lost.error();
  if (const auto strange = stranger(cluster, *job, *lost); !strange.empty())
    return wrong("--lost: node " + strange + " is not one of the job's");
  const auto excluded = set_of(cluster, "--exclude", options.exclude);
  if (!excluded) return excluded.error();
  auto avoid = set_of(cluster, "--avoid", options.avoid);
  if (!avoid) return avoid.error();
  add_unhealthy(cluster, *request, *avoid);
  const int gpus =
      request->gpus_per_node > 0 ? request->gpus_per_node : cluster.inventory->most_gpus();
  NodeSet free = candidates(cluster, *request, gpus);
  free.subtract(*excluded);
  const Loss loss{options.traffic == "ring" ? Traffic::kRing : Traffic::kAllToAll,
                  *job,
                  *lost,
                  free,
                  *avoid,
                  !options.new_ranks};
  const auto found = reallocate(cluster.topology, loss);
  if (!found) return ordered_json{{"fits", false}};
  return replacement_record(cluster, loss, *found, gpus);
}

std::string place_text(const ordered_json& answer) {
  std::string text;
  for (const auto& node : answer["nodes"]) {
    text += fmt::format("{:>6}  {:<20} leaf {}", node["rank"].get<int>(),
                        node["name"].get<std::string>(), node["leaf"].get<std::string>());
    if (node.contains("gpus")) text += "  GPUs " + gpu_ranges(node["gpus"]);
    if (node.contains("replaces")) text += "  replaces " + node["replaces"].get<std::string>();
    text += '\n';
  }
  const auto cost = answer["cost"].get<std::int64_t>();
  if (answer.contains("cost_before"))
    text +=
        fmt::format("cost {}, before the loss {}", cost, answer["cost_before"].get<std::int64_t>());
  else
    text += fmt::format("cost {}", cost);
  text += fmt::format(", on {} leaves in {} pods", answer["leaves"].get<int>(),
                      answer["pods"].get<int>());
  if (answer["certified"].get<bool>())
    text += ", proven to be the least";
  else if (answer.contains("lower_bound"))
    text += fmt::format(", at least {}", answer["lower_bound"].get<std::int64_t>());
  text += '\n';
  if (const int worse = answer["avoidable"].get<int>())
    text += fmt::format("{} of the nodes are to be avoided, but nothing better had room\n", worse);
  return text;
}

std::string hostfile_text(const ordered_json& answer, int tasks_per_node) {
  std::string text;
  for (const auto& node : answer["nodes"])
    for (int i = 0; i < tasks_per_node; ++i) text += node["name"].get<std::string>() + "\n";
  return text;
}

}  // namespace acrf
