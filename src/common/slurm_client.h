// SPDX-License-Identifier: GPL-2.0-or-later
// slurmctld through libslurm. Calls block, for tens of seconds while a controller fails over, and
// fail with kUnavailable when none answers: call from a thread that may wait, and call again.
// libslurm keeps its configuration per process, so there is one client per process.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/cluster_state.h"
#include "core/fleet.h"
#include "core/maintenance.h"
#include "core/recovery.h"
#include "core/result.h"

namespace acrf {

// What a job has on one of its nodes.
struct JobOnNode {
  std::uint32_t user = 0;
  bool active = false;  // it has begun and not given its nodes back
  GpuMask gpus = 0;     // in Slurm's numbers
};

struct NodePlace {
  std::string address;  // numeric
  int slurmd_port = 0;
  bool has_gpus = false;
};

class SlurmClient {
 public:
  SlurmClient();
  ~SlurmClient();
  SlurmClient(const SlurmClient&) = delete;
  SlurmClient& operator=(const SlurmClient&) = delete;

  Result<NodeView> node(const std::string& name);

  // Jobs that slurmctld knows and that use or used the node, just ended ones included.
  Result<std::vector<JobView>> jobs_of_node(const std::string& name);

  // All nodes, with what is free on them: nothing on one that takes no jobs. How their GPUs are
  // linked slurmctld does not tell.
  Result<ClusterState> cluster_state();

  // Of a job that slurmctld knows; `on_node` says nothing.
  Result<JobView> job(JobId job);

  // The job's comment, which is its user's.
  Status set_comment(JobId job, const std::string& comment);

  // Where others reach the node.
  Result<std::string> address_of(const std::string& node);

  // Of all partitions, in no order: one small answer however many nodes there are.
  Result<std::vector<std::string>> node_names();
  // Where the node's slurmd is. Looks a host name up, which may take its time.
  Result<NodePlace> place_of_node(const std::string& node);
  // slurm.conf's AuthInfo.
  Result<std::string> auth_info();

  // In Slurm's order; none while the job has no nodes.
  Result<std::vector<std::string>> nodes_of_job(JobId job);

  Result<JobOnNode> job_on_node(JobId job, const std::string& node);

  // By all jobs on the node, in Slurm's numbers.
  Result<GpuMask> gpus_in_use(const std::string& node);

  // As slurm.conf and slurmd say.
  Result<int> gpus_of_node(const std::string& name);

  // All nodes with their partitions, in two calls; about a millisecond of work per thousand nodes.
  // Switches are read from the topology.conf in `directory`.
  Result<Fleet> fleet(const std::string& directory);

  // Changes the token in the node's comment. Nothing is written when nothing changes. The comment
  // is read right before it is written, and its other words stay.
  using ChangeToken = std::function<void(NodeToken&)>;
  Status change_token(const std::string& node, const ChangeToken& change);

  // With a change, the token is written in the same update, which slurmctld carries out under one
  // lock.
  enum class OthersReason { kStays, kGoes };
  Status drain(const std::string& node, const std::string& reason, OthersReason others,
               const ChangeToken& change = nullptr);

  // What slurmctld would find out by itself, later; it takes it back when the node responds. The
  // token's change is in the same update.
  Status say_not_responding(const std::string& node, const ChangeToken& change);
  // Slurm requeues or ends the jobs of a node that goes down. State DRAIN and the reason stay.
  Status down(const std::string& node);

  // Ends a drain that has this reason, which goes with it; kDenied when it has another.
  Status resume(const std::string& node, const std::string& reason,
                const ChangeToken& change = nullptr);

  // Reservations with the flag MAINT, those to come included.
  Result<std::vector<Maintenance>> maintenance();
  // Makes such a reservation and says its name; jobs that run on the nodes go on.
  Result<std::string> reserve_for_maintenance(const Maintenance& maintenance);
  Status end_reservation(const std::string& name);

  // Whether select/acrf is there to keep GPUs in quarantine from jobs.
  Result<bool> hides_gpus();

  // Where slurmctld keeps its state, on its own host.
  Result<std::string> state_directory();

  // Where the slurmd of a node keeps its state, on that node.
  Result<std::string> slurmd_spool_directory(const std::string& node);

  // Batch jobs only, running or just ended; a held requeue waits for `scontrol release`.
  Status requeue(JobId job, bool hold);

  // To the processes of all its steps, not to its script. kUnavailable: no controller could be
  // asked where they are, and nothing was sent.
  Status signal_steps(JobId job, int signal);

  // A job that waits to be released.
  Result<bool> is_held(JobId job);
  Status release(JobId job);

 private:
  // A comment that one controller gave and another took may carry marks of what the second has
  // never done. Such nodes are doubted until the mark has been changed.
  Status settle_doubts(const std::string& node);
  bool is_doubted(const std::string& node);
  void doubt(const std::string& node);
  Status write_token(const std::string& node, std::optional<std::uint32_t> state,
                     const ChangeToken& change, const std::string& doing);

  std::mutex doubted_mutex_;
  std::set<std::string> doubted_;
};

}  // namespace acrf
