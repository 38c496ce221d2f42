// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/topology.h"

#include <algorithm>
#include <unordered_map>

#include "core/conf_line.h"
#include "core/hostlist.h"
#include "core/text.h"

namespace acrf {

// A tree under construction: switches in any order, each with its nodes by number in the table.
class TopologyBuilder {
 public:
  TopologyBuilder(std::string_view origin, const std::vector<std::string>& nodes)
      : origin_(origin), home_(nodes.size(), -1) {
    for (std::size_t i = 0; i < nodes.size(); ++i) number_of_[nodes[i]] = static_cast<int>(i);
  }

  Status add_line(const ConfLine& line);
  Result<Topology> build();

  // Takes an existing tree apart, to be changed and built again.
  void take(const Topology& topology);
  Status set_weight(const ConfLine& line, const std::string& name);
  Status set_level_weight(const ConfLine& line, const std::string& level);
  Status add_domain(const ConfLine& line, const std::string& name);

 private:
  struct Part {
    std::string name;
    int line = 0;
    int parent = -1;
    std::vector<int> children, nodes;
    std::int64_t weight = 0;  // 0: by its height
    bool rails = false;
    bool real = true;
  };

  Error wrong(int line, std::string_view sentence) const {
    return conf_error(origin_, line, sentence);
  }
  Result<std::vector<int>> numbers(const ConfLine& line, const std::string& list) const;
  Result<std::int64_t> weight_of(const ConfLine& line) const;
  Status add_part(const ConfLine& line, const std::string& name, const std::string* nodes,
                  const std::string* children);
  Status link_children();
  int height(int part) const;
  int emit(Topology& topology, int part, int parent) const;

  std::string_view origin_;
  std::unordered_map<std::string, int> number_of_;
  std::vector<int> home_;  // node -> the part that holds it
  std::vector<Part> parts_;
  std::vector<std::pair<int, std::string>> pending_;  // part -> list of its children's names
  std::unordered_map<std::string, int> part_of_;
  std::string root_name_ = "cluster";
};

Result<std::vector<int>> TopologyBuilder::numbers(const ConfLine& line,
                                                  const std::string& list) const {
  const auto names = expand_hostlist(list);
  if (!names) return wrong(line.number, names.error().sentence);
  std::vector<int> found;
  for (const auto& name : *names) {
    const auto number = number_of_.find(name);
    if (number == number_of_.end())
      return wrong(line.number, "node " + name + " is not in the cluster's node table");
    found.push_back(number->second);
  }
  return found;
}

Result<std::int64_t> TopologyBuilder::weight_of(const ConfLine& line) const {
  const auto* text = line.find("Weight");
  if (!text) return std::int64_t{0};
  const auto weight = parse_unsigned(*text);
  if (!weight || *weight < 1 || *weight > 1'000'000)
    return wrong(line.number, "Weight must be a whole number from 1 to 1000000");
  return static_cast<std::int64_t>(*weight);
}

Status TopologyBuilder::add_part(const ConfLine& line, const std::string& name,
                                 const std::string* nodes, const std::string* children) {
  const int part = static_cast<int>(parts_.size());
  if (!part_of_.emplace(name, part).second) return wrong(line.number, name + " is defined twice");
  parts_.push_back({name, line.number, -1, {}, {}, 0, false, true});
  if (children) pending_.emplace_back(part, *children);
  if (!nodes) return Done{};
  const auto found = numbers(line, *nodes);
  if (!found) return found.error();
  for (const int node : *found) {
    auto& home = home_[static_cast<std::size_t>(node)];
    if (home >= 0)
      return wrong(line.number, "a node of " + name + " is below " +
                                    parts_[static_cast<std::size_t>(home)].name + " already");
    home = part;
    parts_.back().nodes.push_back(node);
  }
  return Done{};
}

Status TopologyBuilder::add_line(const ConfLine& line) {
  if (const auto* name = line.find("SwitchName")) {
    const auto *nodes = line.find("Nodes"), *children = line.find("Switches");
    if (!nodes && !children) return wrong(line.number, "SwitchName needs Nodes or Switches");
    return add_part(line, *name, nodes, children);
  }
  if (const auto* name = line.find("BlockName")) {
    const auto* nodes = line.find("Nodes");
    if (!nodes) return wrong(line.number, "BlockName needs Nodes");
    return add_part(line, *name, nodes, nullptr);
  }
  if (line.find("BlockSizes")) return Done{};
  return wrong(line.number, "neither SwitchName, BlockName nor BlockSizes");
}

Status TopologyBuilder::link_children() {
  for (const auto& [part, list] : pending_) {
    const int line = parts_[static_cast<std::size_t>(part)].line;
    const auto names = expand_hostlist(list);
    if (!names) return wrong(line, names.error().sentence);
    for (const auto& name : *names) {
      const auto found = part_of_.find(name);
      if (found == part_of_.end()) return wrong(line, "switch " + name + " is not defined");
      auto& child = parts_[static_cast<std::size_t>(found->second)];
      if (child.parent >= 0 || found->second == part)
        return wrong(line, "switch " + name + " is below two switches");
      child.parent = part;
      parts_[static_cast<std::size_t>(part)].children.push_back(found->second);
    }
  }
  pending_.clear();
  return Done{};
}

int TopologyBuilder::height(int part) const {
  int highest = 0;
  for (const int child : parts_[static_cast<std::size_t>(part)].children)
    highest = std::max(highest, height(child) + 1);
  return highest;
}

// Links get scarcer towards the core: unless told otherwise, one level up costs four times as much.
int TopologyBuilder::emit(Topology& topology, int part, int parent) const {
  const Part& from = parts_[static_cast<std::size_t>(part)];
  const int made = static_cast<int>(topology.switches_.size());
  const std::int64_t by_height = std::int64_t{1} << std::min(2 * height(part), 40);
  const bool rails =
      from.rails || (parent >= 0 && topology.switches_[static_cast<std::size_t>(parent)].rails);
  topology.switches_.push_back({from.name,
                                parent,
                                {},
                                topology.node_count(),
                                0,
                                from.weight ? from.weight : by_height,
                                rails,
                                from.real});
  for (const int child : from.children) {
    const int below = emit(topology, child, made);
    topology.switches_[static_cast<std::size_t>(made)].children.push_back(below);
  }
  if (!from.nodes.empty()) {
    int leaf = made;
    if (!from.children.empty()) {  // nodes on a spine: a leaf of their own
      leaf = static_cast<int>(topology.switches_.size());
      topology.switches_.push_back(
          {from.name, made, {}, topology.node_count(), 0, 1, rails, from.real});
      topology.switches_[static_cast<std::size_t>(made)].children.push_back(leaf);
    }
    topology.leaves_.push_back(leaf);
    for (const int node : from.nodes) {
      topology.node_at_.push_back(node);
      topology.leaf_of_.push_back(static_cast<int>(topology.leaves_.size()) - 1);
    }
    topology.switches_[static_cast<std::size_t>(leaf)].end = topology.node_count();
  } else if (from.children.empty()) {
    topology.leaves_.push_back(made);
  }
  topology.switches_[static_cast<std::size_t>(made)].end = topology.node_count();
  return made;
}

Result<Topology> TopologyBuilder::build() {
  if (const auto linked = link_children(); !linked) return linked.error();
  std::size_t reached = 0;
  std::vector<int> tops;
  for (std::size_t i = 0; i < parts_.size(); ++i)
    if (parts_[i].parent < 0) tops.push_back(static_cast<int>(i));
  std::vector<int> walk = tops;
  while (!walk.empty()) {
    const auto& part = parts_[static_cast<std::size_t>(walk.back())];
    walk.pop_back();
    ++reached;
    walk.insert(walk.end(), part.children.begin(), part.children.end());
  }
  if (reached != parts_.size()) return wrong(parts_.front().line, "the switches form a loop");

  Part rest{"", 0, -1, {}, {}, 0, false, false};
  for (std::size_t i = 0; i < home_.size(); ++i)
    if (home_[i] < 0) rest.nodes.push_back(static_cast<int>(i));
  if (!rest.nodes.empty()) {
    tops.push_back(static_cast<int>(parts_.size()));
    parts_.push_back(rest);
  }
  Topology topology;
  if (tops.size() == 1) {
    emit(topology, tops[0], -1);
  } else {
    parts_.push_back({root_name_, 0, -1, tops, {}, 0, false, false});
    emit(topology, static_cast<int>(parts_.size()) - 1, -1);
  }
  topology.position_of_.resize(home_.size());
  for (int at = 0; at < topology.node_count(); ++at) {
    topology.position_of_[static_cast<std::size_t>(topology.node_at(at))] = at;
    topology.identity_ &= topology.node_at(at) == at;
  }
  return topology;
}

void TopologyBuilder::take(const Topology& topology) {
  for (const auto& from : topology.switches_) {
    const int part = static_cast<int>(parts_.size());
    part_of_.emplace(from.name, part);
    parts_.push_back(
        {from.name, 0, from.parent, from.children, {}, from.weight, from.rails, from.real});
    if (!from.is_leaf()) continue;
    for (int at = from.first; at < from.end; ++at) {
      parts_.back().nodes.push_back(topology.node_at(at));
      home_[static_cast<std::size_t>(topology.node_at(at))] = part;
    }
  }
}

Status TopologyBuilder::set_weight(const ConfLine& line, const std::string& name) {
  const auto found = part_of_.find(name);
  if (found == part_of_.end())
    return wrong(line.number, "switch " + name + " is not in topology.conf");
  const auto weight = weight_of(line);
  if (!weight) return weight.error();
  auto& part = parts_[static_cast<std::size_t>(found->second)];
  if (*weight) part.weight = *weight;
  if (const auto* rails = line.find("Rails")) {
    if (!equals_ignoring_case(*rails, "yes") && !equals_ignoring_case(*rails, "no"))
      return wrong(line.number, "Rails must be yes or no");
    part.rails = equals_ignoring_case(*rails, "yes");
  }
  return Done{};
}

// Levels count from the leaves: 0 is the links above the leaf switches.
Status TopologyBuilder::set_level_weight(const ConfLine& line, const std::string& level) {
  const auto number = parse_unsigned(level);
  if (!number || *number > 20)
    return wrong(line.number, "Level must be a whole number from 0 to 20");
  const auto weight = weight_of(line);
  if (!weight) return weight.error();
  if (!*weight) return wrong(line.number, "Level needs Weight");
  for (std::size_t i = 0; i < parts_.size(); ++i)
    if (height(static_cast<int>(i)) == static_cast<int>(*number)) parts_[i].weight = *weight;
  return Done{};
}

Status TopologyBuilder::add_domain(const ConfLine& line, const std::string& name) {
  const auto* list = line.find("Nodes");
  if (!list) return wrong(line.number, "Domain needs Nodes");
  const auto found = numbers(line, *list);
  if (!found) return found.error();
  const auto weight = weight_of(line);
  if (!weight) return weight.error();
  const int domain = static_cast<int>(parts_.size());
  if (!part_of_.emplace(name, domain).second) return wrong(line.number, name + " is defined twice");
  const int leaf = home_[static_cast<std::size_t>(found->front())];
  for (const int node : *found) {
    if (home_[static_cast<std::size_t>(node)] != leaf)
      return wrong(line.number,
                   "the nodes of a Domain must be below one leaf switch and in no "
                   "other Domain");
    home_[static_cast<std::size_t>(node)] = domain;
    std::erase(parts_[static_cast<std::size_t>(leaf)].nodes, node);
  }
  parts_.push_back({name, line.number, leaf, {}, *found, *weight ? *weight : 1, false, true});
  parts_[static_cast<std::size_t>(leaf)].children.push_back(domain);
  return Done{};
}

Topology Topology::flat(int nodes) {
  Topology topology;
  topology.switches_.push_back({"cluster", -1, {}, 0, nodes, 1, false, false});
  topology.leaves_ = {0};
  topology.leaf_of_.assign(static_cast<std::size_t>(nodes), 0);
  for (int i = 0; i < nodes; ++i) topology.node_at_.push_back(i);
  topology.position_of_ = topology.node_at_;
  return topology;
}

Result<Topology> Topology::parse(std::string_view text, std::string_view origin,
                                 const std::vector<std::string>& nodes) {
  const auto lines = parse_conf_lines(text, origin);
  if (!lines) return lines.error();
  if (lines->empty()) return flat(static_cast<int>(nodes.size()));
  TopologyBuilder builder(origin, nodes);
  for (const auto& line : *lines)
    if (const auto added = builder.add_line(line); !added) return added.error();
  return builder.build();
}

Result<std::vector<std::string>> Topology::nodes_named_in(std::string_view text,
                                                          std::string_view origin) {
  const auto lines = parse_conf_lines(text, origin);
  if (!lines) return lines.error();
  std::vector<std::string> all;
  for (const auto& line : *lines) {
    const auto* list = line.find("Nodes");
    if (!list) continue;
    const auto names = expand_hostlist(*list);
    if (!names) return conf_error(origin, line.number, names.error().sentence);
    all.insert(all.end(), names->begin(), names->end());
  }
  return all;
}

Status Topology::refine(std::string_view text, std::string_view origin,
                        const std::vector<std::string>& nodes) {
  const auto lines = parse_conf_lines(text, origin);
  if (!lines) return lines.error();
  TopologyBuilder builder(origin, nodes);
  builder.take(*this);
  for (const auto& line : *lines) {
    Status done = conf_error(origin, line.number, "neither Switch, Level nor Domain");
    if (const auto* name = line.find("Switch")) done = builder.set_weight(line, *name);
    if (const auto* level = line.find("Level")) done = builder.set_level_weight(line, *level);
    if (const auto* name = line.find("Domain")) done = builder.add_domain(line, *name);
    if (!done) return done.error();
  }
  auto built = builder.build();
  if (!built) return built.error();
  *this = std::move(*built);
  return Done{};
}

// Only the root and what hangs right below it can be made up.
bool Topology::are_joined(int a, int b) const {
  if (switches_[0].real) return true;
  for (const int top : switches_[0].children) {
    const auto& below = switches_[static_cast<std::size_t>(top)];
    if (a >= below.first && a < below.end) return below.real && b >= below.first && b < below.end;
  }
  return false;
}

std::int64_t Topology::distance(int a, int b) const {
  int left = leaves_[static_cast<std::size_t>(leaf_of(a))];
  int right = leaves_[static_cast<std::size_t>(leaf_of(b))];
  std::int64_t sum = 0;
  // A parent's number is smaller than its children's.
  while (left != right) {
    int& lower = left > right ? left : right;
    sum += switches_[static_cast<std::size_t>(lower)].weight;
    lower = switches_[static_cast<std::size_t>(lower)].parent;
  }
  return sum;
}

}  // namespace acrf
