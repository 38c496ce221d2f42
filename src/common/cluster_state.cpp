// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/cluster_state.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "core/hostlist.h"

namespace acrf {

namespace {

using nlohmann::json;

constexpr int kMostGpus = 64;  // bits of a GpuMask

GpuMask first_gpus(int count) {
  return count >= kMostGpus ? ~GpuMask{0} : (GpuMask{1} << count) - 1;
}

class StateReader {
 public:
  explicit StateReader(std::string_view origin) : origin_(origin) {}
  Result<ClusterState> read(std::string_view text);

 private:
  Error wrong(const std::string& field, const std::string& sentence) const {
    return {ErrorCode::kInvalid, origin_ + ": " + field + ": " + sentence};
  }
  Status only(const json& object, const std::string& field,
              std::initializer_list<const char*> known) const;
  Result<int> number(const json& value, const std::string& field, int most) const;
  Result<GpuMask> gpu_list(const json& value, const std::string& field, int gpus) const;
  Result<int> kind_of(const json& object, const std::string& field, int gpus);
  Status add(const std::string& name, const std::string& field, const NodeState& node);
  Status add_node(const json& object, const std::string& field);
  Status read_list(const json& nodes);
  Status read_alike(const json& all);
  Status read_exceptions(const json& all);
  template <typename Change>
  Status each_exception(const json& all, const std::string& field, Change change);

  std::string origin_;
  ClusterState state_;
  std::unordered_map<std::string, std::size_t> number_of_;
  std::map<std::pair<int, std::vector<std::vector<int>>>, int> kinds_;
};

Status StateReader::only(const json& object, const std::string& field,
                         std::initializer_list<const char*> known) const {
  for (const auto& [key, value] : object.items())
    if (std::find(known.begin(), known.end(), key) == known.end())
      return wrong(field.empty() ? key : field + "." + key, "unknown field");
  return Done{};
}

Result<int> StateReader::number(const json& value, const std::string& field, int most) const {
  const bool whole = value.is_number_unsigned() && value.get<std::uint64_t>() <= 1'000'000;
  const int found = whole ? value.get<int>() : -1;
  if (found < 0 || found > most)
    return wrong(field, "must be a whole number from 0 to " + std::to_string(most));
  return found;
}

Result<GpuMask> StateReader::gpu_list(const json& value, const std::string& field, int gpus) const {
  if (!value.is_array()) return wrong(field, "must be a list of GPU numbers");
  GpuMask mask = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const auto gpu = number(value[i], field + "[" + std::to_string(i) + "]", kMostGpus - 1);
    if (!gpu) return gpu.error();
    if (*gpu >= gpus)
      return wrong(field, "GPU " + std::to_string(*gpu) + " of a node with " +
                              std::to_string(gpus) + " GPUs");
    mask |= GpuMask{1} << *gpu;
  }
  return mask;
}

// Tables of groups are dear to make: nodes that are linked alike share one.
Result<int> StateReader::kind_of(const json& object, const std::string& field, int gpus) {
  const auto links = object.find("links");
  std::vector<std::vector<int>> weights;
  const std::string where = field + "links";
  if (links != object.end()) {
    const auto size = static_cast<std::size_t>(gpus);
    const std::string shape = "must be " + std::to_string(gpus) + " lists of " +
                              std::to_string(gpus) + " weights, one per GPU";
    if (!links->is_array() || links->size() != size) return wrong(where, shape);
    for (std::size_t i = 0; i < size; ++i) {
      const std::string row = where + "[" + std::to_string(i) + "]";
      if (!(*links)[i].is_array() || (*links)[i].size() != size) return wrong(row, shape);
      weights.emplace_back();
      for (std::size_t j = 0; j < size; ++j) {
        const auto weight = number((*links)[i][j], row + "[" + std::to_string(j) + "]", 1'000'000);
        if (!weight) return weight.error();
        weights.back().push_back(*weight);
        if (j < i && weights[j][i] != *weight)
          return wrong(row, "differs from the other direction, GPU " + std::to_string(j) + " to " +
                                std::to_string(i));
      }
    }
  }
  const auto [kind, is_new] =
      kinds_.try_emplace({gpus, weights}, static_cast<int>(state_.kinds.size()));
  if (is_new) state_.kinds.emplace_back(gpus, std::move(weights));
  return kind->second;
}

Status StateReader::add(const std::string& name, const std::string& field, const NodeState& node) {
  if (!number_of_.try_emplace(name, state_.names.size()).second)
    return wrong(field, "node " + name + " is named twice");
  state_.names.push_back(name);
  state_.nodes.push_back(node);
  return Done{};
}

Status StateReader::add_node(const json& object, const std::string& field) {
  if (!object.is_object()) return wrong(field, "must be an object");
  const auto known =
      only(object, field, {"name", "gpus", "free", "quarantined", "suspect", "risk", "links"});
  if (!known) return known;
  const auto name = object.find("name"), gpus = object.find("gpus");
  if (name == object.end() || !name->is_string() || name->get<std::string>().empty())
    return wrong(field + ".name", "must be the node's name");
  const auto count = number(gpus == object.end() ? json() : *gpus, field + ".gpus", kMostGpus);
  if (!count) return count.error();
  NodeState node;
  node.gpus = node.free = first_gpus(*count);
  const auto kind = kind_of(object, field + ".", *count);
  if (!kind) return kind.error();
  node.kind = *kind;
  if (const auto list = object.find("free"); list != object.end()) {
    const auto free = gpu_list(*list, field + ".free", *count);
    if (!free) return free.error();
    node.free = *free;
  }
  if (const auto list = object.find("quarantined"); list != object.end()) {
    const auto sick = gpu_list(*list, field + ".quarantined", *count);
    if (!sick) return sick.error();
    node.health.quarantined = *sick;
  }
  if (const auto suspect = object.find("suspect"); suspect != object.end()) {
    if (!suspect->is_boolean()) return wrong(field + ".suspect", "must be true or false");
    node.health.suspect = suspect->get<bool>();
  }
  if (const auto risk = object.find("risk"); risk != object.end()) {
    const auto percent = number(*risk, field + ".risk", 100);
    if (!percent) return percent.error();
    node.health.risk = *percent;
  }
  return add(name->get<std::string>(), field + ".name", node);
}

Status StateReader::read_list(const json& nodes) {
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (const auto added = add_node(nodes[i], "nodes[" + std::to_string(i) + "]"); !added)
      return added;
  return Done{};
}

Status StateReader::read_alike(const json& all) {
  const auto names = expand_hostlist(all["nodes"].get<std::string>());
  if (!names) return wrong("nodes", names.error().sentence);
  const auto gpus = number(all.value("gpus", json()), "gpus", kMostGpus);
  if (!gpus) return gpus.error();
  const auto kind = kind_of(all, "", *gpus);
  if (!kind) return kind.error();
  NodeState node;
  node.gpus = node.free = first_gpus(*gpus);
  node.kind = *kind;
  for (const auto& name : *names)
    if (const auto added = add(name, "nodes", node); !added) return added;
  return read_exceptions(all);
}

// {"n3": value, ...}: change(node, value, field) for each.
template <typename Change>
Status StateReader::each_exception(const json& all, const std::string& field, Change change) {
  const auto values = all.find(field);
  if (values == all.end()) return Done{};
  if (!values->is_object()) return wrong(field, "must be an object with one entry per node");
  for (const auto& [name, value] : values->items()) {
    const auto found = number_of_.find(name);
    if (found == number_of_.end()) return wrong(field, "node " + name + " is not among the nodes");
    const Status done = change(state_.nodes[found->second], value, field + "." + name);
    if (!done) return done;
  }
  return Done{};
}

Status StateReader::read_exceptions(const json& all) {
  const int gpus = all["gpus"].get<int>();
  auto done = each_exception(all, "busy", [&](auto& node, const json& list, const auto& field) {
    const auto busy = gpu_list(list, field, gpus);
    if (!busy) return Status(busy.error());
    node.free &= ~*busy;
    return Status(Done{});
  });
  if (!done) return done;
  done = each_exception(all, "quarantined", [&](auto& node, const json& list, const auto& field) {
    const auto sick = gpu_list(list, field, gpus);
    if (!sick) return Status(sick.error());
    node.health.quarantined = *sick;
    return Status(Done{});
  });
  if (!done) return done;
  done = each_exception(all, "risk", [&](auto& node, const json& value, const auto& field) {
    const auto percent = number(value, field, 100);
    if (!percent) return Status(percent.error());
    node.health.risk = *percent;
    return Status(Done{});
  });
  if (!done || !all.contains("suspect")) return done;
  if (!all["suspect"].is_string()) return wrong("suspect", "must be a list like \"n[1-2]\"");
  const auto names = expand_hostlist(all["suspect"].get<std::string>());
  if (!names) return wrong("suspect", names.error().sentence);
  for (const auto& name : *names) {
    const auto found = number_of_.find(name);
    if (found == number_of_.end())
      return wrong("suspect", "node " + name + " is not among the nodes");
    state_.nodes[found->second].health.suspect = true;
  }
  return Done{};
}

Result<ClusterState> StateReader::read(std::string_view text) {
  json all;
  try {
    all = json::parse(text);
  } catch (const json::exception& error) {
    const auto* at = dynamic_cast<const json::parse_error*>(&error);
    const auto end = std::min(text.size(), at ? at->byte : 0);
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<long>(end), '\n');
    return Error{ErrorCode::kInvalid, origin_ + ":" + std::to_string(line) + ": not JSON"};
  }
  if (!all.is_object() || !all.contains("nodes"))
    return wrong("nodes", "must be a list of nodes, or their names like \"n[1-8]\"");
  const bool alike = all["nodes"].is_string();
  if (!alike && !all["nodes"].is_array())
    return wrong("nodes", "must be a list of nodes, or their names like \"n[1-8]\"");
  const auto known =
      alike ? only(all, "", {"nodes", "gpus", "links", "busy", "quarantined", "suspect", "risk"})
            : only(all, "", {"nodes"});
  if (!known) return known.error();
  const auto done = alike ? read_alike(all) : read_list(all["nodes"]);
  if (!done) return done.error();
  if (state_.names.empty()) return wrong("nodes", "there are none");
  return std::move(state_);
}

}  // namespace

Result<ClusterState> parse_cluster_state(std::string_view text, std::string_view origin) {
  return StateReader(origin).read(text);
}

void fill_inventory(const ClusterState& state, const Topology& topology, Inventory& inventory) {
  std::vector<int> kinds;
  for (const auto& groups : state.kinds) kinds.push_back(inventory.add_kind(groups));
  for (std::size_t i = 0; i < state.nodes.size(); ++i) {
    NodeState node = state.nodes[i];
    node.kind = kinds[static_cast<std::size_t>(node.kind)];
    inventory.set(topology.position_of(static_cast<int>(i)), node);
  }
}

}  // namespace acrf
