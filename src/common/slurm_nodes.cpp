// SPDX-License-Identifier: GPL-2.0-or-later
// Of SlurmClient: the whole fleet, and changes of one node's record.
#include <slurm/slurm.h>

#include <cerrno>
#include <memory>

#include "common/slurm_call.h"
#include "common/slurm_client.h"
#include "common/slurm_records.h"
#include "common/topology_file.h"
#include "core/gres_text.h"

namespace acrf {
namespace {

using NodeAnswer = std::unique_ptr<node_info_msg_t, decltype(&slurm_free_node_info_msg)>;

std::string text_of(const char* text) { return text ? text : ""; }

// Nodes by their number in slurmctld's table, which has holes where nodes were deleted.
Status add_partitions(std::vector<FleetNode>& nodes, const std::vector<int>& number_of) {
  partition_info_msg_t* raw = nullptr;
  if (ask_controller([&] { return slurm_load_partitions(0, &raw, SHOW_ALL); }) != SLURM_SUCCESS)
    return slurm_error("ask slurmctld for its partitions", errno);
  const std::unique_ptr<partition_info_msg_t, decltype(&slurm_free_partition_info_msg)> answer(
      raw, slurm_free_partition_info_msg);
  for (std::uint32_t i = 0; i < answer->record_count; ++i) {
    const partition_info_t& partition = answer->partition_array[i];
    if (!partition.name || !partition.node_inx) continue;
    for (const auto* range = partition.node_inx; range[0] >= 0; range += 2)
      for (int inx = range[0]; inx <= range[1]; ++inx)
        if (inx < static_cast<int>(number_of.size()) &&
            number_of[static_cast<std::size_t>(inx)] >= 0)
          nodes[static_cast<std::size_t>(number_of[static_cast<std::size_t>(inx)])]
              .partitions.emplace_back(partition.name);
  }
  return Done{};
}

void add_switches(Fleet& fleet, const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& node : fleet.nodes) names.push_back(node.name);
  const auto topology = load_topology(directory, names);
  if (!topology) {
    fleet.topology_problem = topology.error().sentence;
    return;
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto& leaf =
        topology->leaf(topology->leaf_of(topology->position_of(static_cast<int>(i))));
    if (leaf.real) fleet.nodes[i].leaf = leaf.name;
  }
}

Result<std::string> comment_of(const std::string& name) {
  node_info_msg_t* raw = nullptr;
  std::string writable = name;
  if (ask_controller([&] { return slurm_load_node_single(&raw, writable.data(), SHOW_ALL); }) !=
      SLURM_SUCCESS)
    return slurm_error("ask slurmctld about node " + name, errno);
  const NodeAnswer answer(raw, slurm_free_node_info_msg);
  if (answer->record_count != 1)
    return Error{ErrorCode::kNotFound, "slurmctld knows no node " + name};
  return text_of(answer->node_array[0].comment);
}

// One update of a node's record, in the making.
class NodeUpdate {
 public:
  explicit NodeUpdate(const std::string& node) : names_(node) {
    slurm_init_update_node_msg(&message_);
    message_.node_names = names_.data();
  }
  NodeUpdate(const NodeUpdate&) = delete;

  void set_state(std::uint32_t state) { message_.node_state = state; }
  void set_reason(const std::string& reason) {
    reason_ = reason;
    message_.reason = reason_.data();
    message_.reason_uid = ::getuid();
  }
  // Reads the comment, and takes it into the update when the change makes it another.
  Status set_token(const SlurmClient::ChangeToken& change) {
    const auto old = comment_of(names_);
    if (!old) return old.error();
    auto token = node_token_in(*old);
    const auto before = token;
    change(token);
    if (token == before) return Done{};
    comment_ = with_node_token(*old, token);
    message_.comment = comment_.data();
    return Done{};
  }
  bool is_empty() const { return !message_.comment && message_.node_state == NO_VAL; }
  Status send(const std::string& doing) {
    if (ask_controller([&] { return slurm_update_node(&message_); }) != SLURM_SUCCESS)
      return slurm_error(doing + " node " + names_, errno);
    return Done{};
  }

 private:
  std::string names_, reason_, comment_;
  update_node_msg_t message_;
};

}  // namespace

FleetNode fleet_node_of(const node_info& record) {
  const auto base = record.node_state & NODE_STATE_BASE;
  FleetNode node;
  node.name = record.name;
  node.has_gpus = gpus_in_gres(record.gres ? record.gres : "") > 0;
  node.draining = (record.node_state & (NODE_STATE_DRAIN | NODE_STATE_FAIL)) != 0;
  node.down = base == NODE_STATE_DOWN || base == NODE_STATE_ERROR ||
              (record.node_state & (NODE_STATE_NO_RESPOND | NODE_STATE_INVALID_REG)) != 0;
  node.maintenance = (record.node_state & NODE_STATE_MAINT) != 0;
  node.reason = text_of(record.reason);
  node.reason_unix_s = record.reason_time;
  node.comment = text_of(record.comment);
  node.token = node_token_in(node.comment);
  return node;
}

Result<Fleet> SlurmClient::fleet(const std::string& directory) {
  node_info_msg_t* raw = nullptr;
  if (ask_controller([&] { return slurm_load_node(0, &raw, SHOW_ALL); }) != SLURM_SUCCESS)
    return slurm_error("ask slurmctld for its nodes", errno);
  const NodeAnswer answer(raw, slurm_free_node_info_msg);
  Fleet fleet;
  fleet.now_unix_s = answer->last_update;
  std::vector<int> number_of(answer->record_count, -1);
  for (std::uint32_t i = 0; i < answer->record_count; ++i) {
    const node_info_t& record = answer->node_array[i];
    if (!record.name || !*record.name) continue;
    number_of[i] = static_cast<int>(fleet.nodes.size());
    fleet.nodes.push_back(fleet_node_of(record));
  }
  if (const auto added = add_partitions(fleet.nodes, number_of); !added) return added.error();
  add_switches(fleet, directory);
  return fleet;
}

Status SlurmClient::change_token(const std::string& node, const ChangeToken& change) {
  NodeUpdate update(node);
  if (const auto set = update.set_token(change); !set) return set;
  return update.is_empty() ? Status(Done{}) : update.send("write into the comment of");
}

Status SlurmClient::drain(const std::string& node, const std::optional<std::string>& reason,
                          const ChangeToken& change) {
  NodeUpdate update(node);
  update.set_state(NODE_STATE_DRAIN);
  if (reason) update.set_reason(*reason);
  if (change)
    if (const auto set = update.set_token(change); !set) return set;
  return update.send("drain");
}

Status SlurmClient::say_not_responding(const std::string& node, const ChangeToken& change) {
  NodeUpdate update(node);
  update.set_state(NODE_STATE_NO_RESPOND);
  if (const auto set = update.set_token(change); !set) return set;
  return update.send("call not responding");
}

Status SlurmClient::down(const std::string& node) {
  NodeUpdate update(node);
  update.set_state(NODE_STATE_DOWN);
  return update.send("set down");
}

Status SlurmClient::resume(const std::string& node, const ChangeToken& change) {
  NodeUpdate update(node);
  update.set_state(NODE_RESUME);
  if (change)
    if (const auto set = update.set_token(change); !set) return set;
  return update.send("resume");
}

}  // namespace acrf
