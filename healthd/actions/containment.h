// SPDX-License-Identifier: GPL-2.0-or-later
// Takes a sick part from the jobs: drains its node, or hides the one GPU from the scheduler. The
// only place where ACRF takes capacity away: maintenance, the partitions' modes and the brakes are
// asked here, every time, from one look at slurmctld's own records.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "common/audit_log.h"
#include "common/slurm_client.h"
#include "core/config.h"

namespace acrf {

struct ContainTarget {
  std::string node;
  std::optional<int> gpu_index;  // hide this GPU; nothing: drain the node
  std::string incident;
  std::string fault_class;
  std::string reason;    // of a drain
  std::string evidence;  // for the audit log
  std::string shared;    // with other nodes, for the brakes; core/fault.h has it
};

struct Contained {
  enum class State {
    kDone,
    kSoon,      // another node is about to act, or slurmctld did not answer: ask again at once
    kHeld,      // maintenance or a brake holds it: ask again later
    kObserved,  // the mode of its partitions lets ACRF only watch
    kRefused,   // slurmctld says no
  };
  State state = State::kSoon;
  std::string sentence;  // why it was not done
};

class Containment {
 public:
  // `node` is this one; `topology_dir` has topology.conf. All outlive this.
  // `pause` waits; false: the daemon is to end.
  Containment(const Config& config, SlurmClient& slurm, AuditLog& audit, std::string node,
              std::string topology_dir, std::function<bool(int milliseconds)> pause)
      : config_(config),
        slurm_(slurm),
        audit_(audit),
        node_(std::move(node)),
        topology_dir_(std::move(topology_dir)),
        pause_(std::move(pause)) {}

  // Blocks for a few calls to slurmctld.
  Contained contain(const ContainTarget& target);

  // Why a node that ACRF has taken from the jobs is not to be treated, tested or returned now:
  // people work on it, or the mode of its partitions. Empty: it may be.
  Result<std::string> why_left_alone(const std::string& node, const std::string& fault_class);

  // Nothing is wanted of the node any more: what others may count on is taken back.
  void give_up(const std::string& node);

 private:
  std::string speaker_for(const std::string& node) const { return node == node_ ? "" : node_; }
  bool is_only_watched(const FleetNode& node) const;
  bool is_under_maintenance(const FleetNode& node, const std::string& fault_class,
                            std::int64_t now_unix_s) const;
  Contained hold(const ContainTarget& target, const std::string& why);
  void mark_suspect(const std::string& node);
  Status act(const ContainTarget& target, const SlurmClient::ChangeToken& counted);
  Status write(const ContainTarget& target, const SlurmClient::ChangeToken& change);

  const Config& config_;
  SlurmClient& slurm_;
  AuditLog& audit_;
  std::string node_;
  std::string topology_dir_;
  std::function<bool(int milliseconds)> pause_;
  std::string last_held_;  // what was said last: each is said once
};

}  // namespace acrf
