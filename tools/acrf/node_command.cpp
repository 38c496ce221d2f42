// SPDX-License-Identifier: GPL-2.0-or-later
// acrf node: all nodes as a table, or all about one; a check of that one.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <set>

#include "cluster_commands.h"
#include "cluster_source.h"
#include "core/hostlist.h"

namespace acrf {
namespace {

struct NodeOptions {
  SourceOptions source;
  std::string names;
  bool out = false;
};

std::int64_t unix_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void show_one(CommandLine& line, ClusterSource& source, const std::string& name) {
  const auto details = source.node(name);
  if (!details) return fail_check(line, details.error());
  if (line.json)
    print_json(to_json(*details));
  else
    fmt::print("{}", details_text(*details, unix_ms()));
  line.status = static_cast<int>(check_of(details->node.state, details->node.told));
}

void show_table(CommandLine& line, ClusterSource& source, const NodeOptions& options,
                const std::vector<std::string>& names) {
  auto nodes = source.nodes();
  if (!nodes) return fail_check(line, nodes.error());
  std::set<std::string> wanted(names.begin(), names.end());
  if (!wanted.empty())
    std::erase_if(*nodes, [&](auto& node) { return !wanted.contains(node.name); });
  for (const auto& node : *nodes) wanted.erase(node.name);
  if (options.out) std::erase_if(*nodes, [](auto& node) { return !is_out_of_service(node.state); });
  if (line.json) {
    auto all = nlohmann::ordered_json::array();
    for (const auto& node : *nodes) all.push_back(to_json(node));
    print_json({{"nodes", std::move(all)}});
  } else {
    fmt::print("{}", nodes_text(*nodes));
  }
  if (wanted.empty()) return;
  fail_check(line, {ErrorCode::kNotFound, "slurmctld knows no node " +
                                              compress_hostlist({wanted.begin(), wanted.end()})});
}

void show_nodes(CommandLine& line, const NodeOptions& options) {
  Result<std::vector<std::string>> names = std::vector<std::string>();
  if (!options.names.empty()) names = expand_hostlist(options.names);
  if (!names) return fail_check(line, names.error());
  const auto source = open_source(line, options.source);
  if (!source) return fail_check(line, source.error());
  if (names->size() == 1 && !options.out) return show_one(line, **source, names->front());
  show_table(line, **source, options, *names);
}

}  // namespace

void add_node_command(CommandLine& line) {
  auto* command = line.app.add_subcommand("node", "nodes as a table, or all about one");
  command->fallthrough();
  const auto options = std::make_shared<NodeOptions>();
  command->add_option("NODES", options->names, "one, or such as gpu[1-4] (default: all)");
  command->add_flag("--out", options->out, "only those that are out of service");
  add_source_options(command, options->source);
  command->callback([&line, options] { show_nodes(line, *options); });
}

}  // namespace acrf
