// SPDX-License-Identifier: GPL-2.0-or-later
// Of SlurmClient: the whole fleet, and changes of one node's record.
#include <slurm/slurm.h>

#include <cerrno>
#include <memory>

#include "common/slurm_call.h"
#include "common/slurm_client.h"
#include "common/slurm_records.h"
#include "common/topology_file.h"
#include "core/brake_marks.h"
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

struct NodeRecord {
  bool draining = false;
  std::string reason, comment;
};

Result<NodeRecord> record_of(const std::string& name) {
  node_info_msg_t* raw = nullptr;
  std::string writable = name;
  if (ask_controller([&] { return slurm_load_node_single(&raw, writable.data(), SHOW_ALL); }) !=
      SLURM_SUCCESS)
    return slurm_error("ask slurmctld about node " + name, errno);
  const NodeAnswer answer(raw, slurm_free_node_info_msg);
  if (answer->record_count != 1)
    return Error{ErrorCode::kNotFound, "slurmctld knows no node " + name};
  const auto& found = answer->node_array[0];
  return NodeRecord{(found.node_state & (NODE_STATE_DRAIN | NODE_STATE_FAIL)) != 0,
                    text_of(found.reason), text_of(found.comment)};
}

// One update of a node's record, in the making: what is there is read right before it is sent.
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
  Status read() {
    const auto controller = controller_start();
    if (!controller) return controller.error();
    read_from_ = *controller;
    read_at_ = std::chrono::steady_clock::now();
    auto record = record_of(names_);
    if (!record) return record.error();
    record_ = std::move(*record);
    return Done{};
  }
  const NodeRecord& record() const { return record_; }
  // Takes the comment into the update when the change makes it another.
  void set_token(const SlurmClient::ChangeToken& change) {
    auto token = node_token_in(record_.comment);
    const auto before = token;
    if (change) change(token);
    if (token == before) return;
    comment_ = with_node_token(record_.comment, token);
    message_.comment = comment_.data();
  }
  bool crossed_controllers() const { return crossed_; }
  bool is_empty() const { return !message_.comment && message_.node_state == NO_VAL; }
  Status send(const std::string& doing) {
    if (ask_controller([&] { return slurm_update_node(&message_); }) != SLURM_SUCCESS)
      return slurm_error(doing + " node " + names_, errno);
    const bool was_slow = std::chrono::steady_clock::now() - read_at_ > kSuspiciouslySlow;
    crossed_ = message_.comment && (was_slow || !is_same_controller());
    return Done{};
  }

 private:
  bool is_same_controller() const {
    const auto started = controller_start();
    return started && *started == read_from_;
  }

  std::string names_, reason_, comment_;
  update_node_msg_t message_;
  NodeRecord record_;
  std::int64_t read_from_ = 0;  // the controller that gave the record
  std::chrono::steady_clock::time_point read_at_;
  bool crossed_ = false;
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

// The mark of an act stays counted, and no longer says that its drain is in place.
Status SlurmClient::settle_doubts(const std::string& node) {
  const std::lock_guard lock(doubted_mutex_);
  if (!doubted_.contains(node)) return Done{};
  NodeUpdate update(node);
  if (const auto read = update.read(); !read) return read;
  update.set_token(doubt_act);
  if (!update.is_empty())
    if (const auto sent = update.send("write into the comment of"); !sent) return sent;
  if (!update.crossed_controllers()) doubted_.erase(node);
  return Done{};
}

bool SlurmClient::is_doubted(const std::string& node) {
  const std::lock_guard lock(doubted_mutex_);
  return doubted_.contains(node);
}

void SlurmClient::doubt(const std::string& node) {
  const std::lock_guard lock(doubted_mutex_);
  doubted_.insert(node);
}

Status SlurmClient::write_token(const std::string& node, std::optional<std::uint32_t> state,
                                const ChangeToken& change, const std::string& doing) {
  if (const auto settled = settle_doubts(node); !settled) return settled;
  NodeUpdate update(node);
  if (const auto read = update.read(); !read) return read;
  if (state) update.set_state(*state);
  update.set_token(change);
  if (update.is_empty()) return Done{};
  if (const auto sent = update.send(doing); !sent) return sent;
  if (!update.crossed_controllers()) return Done{};
  doubt(node);
  return settle_doubts(node);
}

Status SlurmClient::change_token(const std::string& node, const ChangeToken& change) {
  return write_token(node, std::nullopt, change, "write into the comment of");
}

Status SlurmClient::say_not_responding(const std::string& node, const ChangeToken& change) {
  return write_token(node, NODE_STATE_NO_RESPOND, change, "call not responding");
}

Status SlurmClient::drain(const std::string& node, const std::string& reason, OthersReason others,
                          const ChangeToken& change) {
  NodeUpdate update(node);
  if (const auto read = update.read(); !read) return read;
  update.set_state(NODE_STATE_DRAIN);
  if (others == OthersReason::kGoes || may_replace_reason(update.record().reason))
    update.set_reason(reason);
  update.set_token(change);
  return update.send("drain");
}

Status SlurmClient::down(const std::string& node) {
  NodeUpdate update(node);
  update.set_state(NODE_STATE_DOWN);
  return update.send("set down");
}

Status SlurmClient::resume(const std::string& node, const std::string& reason,
                           const ChangeToken& change) {
  NodeUpdate update(node);
  if (const auto read = update.read(); !read) return read;
  if (update.record().draining && update.record().reason != reason)
    return Error{ErrorCode::kDenied,
                 "node " + node + " is drained for another reason now: " + update.record().reason};
  update.set_state(NODE_RESUME);
  update.set_token(change);
  return update.send("resume");
}

}  // namespace acrf
