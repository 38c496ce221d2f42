// SPDX-License-Identifier: GPL-2.0-or-later
// The cluster as it is now, in memory: what nodes report and what slurmctld says, put together.
// Thread-safe. Readers get copies, so that none holds up a report. At 12,500 nodes of 8 GPUs a
// report costs some microseconds here, and the copy for /v1/fleet a fraction of a millisecond.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/act_tally.h"
#include "core/brakes.h"
#include "core/cluster_rules.h"
#include "core/fleet.h"
#include "hub/feed.h"
#include "hub/report.h"

namespace acrf::hub {

// Which nodes there are and where they hang. Nodes are numbered by pod, leaf and name.
struct Layout {
  struct Leaf {
    std::string name;
    int first = 0, count = 0;  // nodes
  };
  struct Pod {
    std::string name;
    int first = 0, count = 0;  // leaves
  };
  std::vector<std::string> names;
  std::vector<int> gpus;      // of each node
  std::vector<int> first_gpu; // its place among all GPUs
  int total_gpus = 0;
  std::vector<Leaf> leaves;
  std::vector<Pod> pods;
  std::vector<int> leaf_of, pod_of;  // of each node

  int find(std::string_view name) const;  // -1: there is none
  bool operator==(const Layout& other) const;

  // Fills what follows from the names, GPUs, leaves and pods.
  void index();

 private:
  std::unordered_map<std::string, int> number_of_;
};

struct JobLook {
  std::uint32_t id = 0;
  std::string name, user, partition, state, reason;
  std::string nodes;                            // host list
  std::vector<std::pair<int, int>> node_ranges;  // first node, count
  std::vector<std::pair<int, GpuMask>> gpus_on;  // node, its GPUs; empty: not known
  int gpus = 0;
  std::int64_t submit_ms = 0, start_ms = 0, end_ms = 0;  // 0: not yet
  unsigned restarts = 0;
  std::string policy, workload;  // as the job's policy token says; empty: none
  std::string admin_comment;
  std::int64_t priority = 0;
  std::optional<double> ettr;
  bool operator==(const JobLook&) const = default;
};

struct GpuLook {
  ReportedGpu gpu;  // with the state that all sources together give it
  std::optional<std::uint32_t> job;
  GpuValues values{};
};

struct NodeLook {
  int number = 0;  // in the Layout
  std::string name, leaf, pod;
  PartState state = PartState::kUnknown;
  std::vector<std::string> partitions;
  std::string slurm_state, reason, verdict;
  std::string gpus;  // one digit each
  std::vector<std::uint32_t> jobs;
  std::int64_t last_report_ms = 0;  // 0: never
  int risk = 0;
};

struct NodeDetail {
  NodeLook node;
  std::vector<GpuLook> gpus;
  std::string driver, boot, version, verdict_text, address;
};

struct FleetLook {
  std::uint64_t seq = 0;  // of the feed: what comes after it is not in here
  std::int64_t unix_ms = 0;
  std::string cluster, mode;
  std::shared_ptr<const Layout> layout;
  std::string node_state, gpu_state;  // one digit each, in the Layout's order
  std::vector<JobLook> jobs;          // those that run
};

struct IncidentLook {
  std::string id, node, fault_class;
  std::int64_t opened_ms = 0, updated_ms = 0, closed_ms = 0;
  std::string json;
};

struct Recoveries {
  std::uint64_t count = 0;
  double p50_s = 0, p99_s = 0;
  std::vector<std::pair<double, std::uint64_t>> histogram;  // up to so many seconds, how many
  double sum_s = 0;
};

struct HubStats {
  int nodes_reporting = 0;  // within the last minute
  double reports_per_s = 0;
  double lag_ms_p50 = 0, lag_ms_p99 = 0;  // from a sample's time to its arrival
  std::uint64_t spooled = 0;              // items that wait to be committed
  std::uint64_t reports = 0, refused = 0;
};

struct Stats {
  std::int64_t unix_ms = 0;
  std::array<int, kPartStates.size()> nodes{}, gpus{};
  std::map<std::string, std::uint64_t> jobs;  // pending, running, completed, failed, requeued
  std::optional<double> gpu_utilization;      // allocated share of the GPUs
  std::uint64_t incidents_open = 0, incidents_last_hour = 0;
  std::map<std::string, std::uint64_t> incidents_by_class;
  Recoveries recoveries;
  std::optional<double> ettr;  // mean of the jobs that came back
  HubStats hub;
};

// What the poller learns from slurmctld in one go.
struct ClusterLook {
  std::string cluster;
  Layout layout;
  Fleet fleet;                            // in any order
  std::vector<std::string> slurm_states;  // of fleet.nodes
  std::vector<std::string> addresses;     // of fleet.nodes; as slurm.conf writes them
  std::vector<bool> busy;                 // of fleet.nodes: a job has some of it
  std::vector<BrakeState> brakes;
};

class Model {
 public:
  explicit Model(std::string mode) : mode_(std::move(mode)) {}

  // --- What comes in ---------------------------------------------------------------------------
  void take_cluster(ClusterLook look);
  void take_jobs(std::vector<JobLook> jobs);
  // Items of the report that are news. kNotFound: no such node; kUnavailable: slurmctld has not
  // answered yet, so that nobody knows.
  Status take_report(const Report& report, std::int64_t now_ms);
  // False: it is another node's, which stays as that node reported it.
  bool take_incident(const ReportedIncident& incident, bool tell = true);
  // Each entry once; one without a result comes again with it.
  void take_audit(const ReportedAudit& audit);
  void note_refusal() { ++refused_; }
  // Advice for the node's next reply; a second one of a kind takes the first one's place.
  void advise(const std::string& node, const std::string& kind, const std::string& json);

  // Publishes what has changed since the last call, and gives nodes that fell silent up. To be
  // called every 100 ms or so.
  void publish_changes(std::int64_t now_ms);
  // The same for `stats`, every 2 s.
  void publish_stats(std::int64_t now_ms);

  // --- What can be read ------------------------------------------------------------------------
  Feed& feed() { return feed_; }
  bool knows_cluster() const;
  std::shared_ptr<const Layout> layout() const;  // empty before slurmctld has answered
  FleetLook fleet(std::int64_t now_ms) const;
  std::vector<NodeLook> nodes() const;
  std::optional<NodeDetail> node(std::string_view name) const;
  // All nodes with their GPUs, for lists of GPUs.
  std::vector<NodeDetail> details() const;
  std::vector<JobLook> jobs() const;
  std::optional<JobLook> job(std::uint32_t id) const;
  std::vector<IncidentLook> recent_incidents() const;  // open ones, and the last thousand
  std::vector<BrakeState> brakes() const;
  Stats stats(std::int64_t now_ms) const;
  ActTally acts() const;
  std::vector<std::string> advice_for(std::string_view node) const;  // JSON objects
  std::vector<FleetMember> members() const;
  std::optional<std::string> address_of(std::string_view node) const;
  void set_spooled(std::uint64_t items) { spooled_ = items; }

 private:
  struct NodeRecord {
    FleetNode slurm;
    std::string slurm_state, address;
    bool busy = false;
    // As reported.
    std::int64_t last_report_ms = 0;
    std::string boot, driver, version, verdict, verdict_text;
    PartState reported = PartState::kUnknown;
    std::vector<ReportedGpu> gpus;
    std::vector<GpuValues> values;
    std::map<std::string, std::string> advice;
    // Composed.
    PartState state = PartState::kUnknown;
    std::string gpu_state;
    bool silent = true;
  };

  void compose(int number);
  void sweep(std::int64_t now_ms);
  NodeLook look_at(int number) const;
  NodeDetail detail_of(int number) const;
  void note_lag(std::int64_t lag_ms);
  void follow_jobs(const std::vector<JobLook>& jobs);
  void note_recovery(double seconds);

  const std::string mode_;
  Feed feed_;
  mutable std::shared_mutex mutex_;
  std::string cluster_;
  std::shared_ptr<const Layout> layout_;  // null: slurmctld has not answered yet
  std::vector<NodeRecord> nodes_;
  std::int64_t last_sweep_ms_ = 0;
  std::vector<int> changed_;  // nodes to publish
  std::vector<bool> is_changed_;
  std::vector<BrakeState> brakes_;
  std::vector<JobLook> jobs_;
  std::vector<std::vector<std::uint32_t>> jobs_of_;  // node -> jobs that run there
  std::map<std::string, IncidentLook> incidents_;
  std::deque<std::string> closed_incidents_;  // oldest first
  std::deque<std::pair<std::int64_t, std::string>> opened_;  // time, id: of the last hour
  std::map<std::string, std::uint64_t> by_class_;
  ActTally acts_;
  std::uint64_t completed_ = 0, failed_ = 0, requeued_ = 0;
  std::deque<double> recoveries_;
  std::vector<std::uint64_t> recovery_counts_;
  std::uint64_t recovery_count_ = 0;
  double recovery_sum_s_ = 0;
  std::vector<std::int32_t> lags_;  // the last ones, a ring
  std::size_t next_lag_ = 0;
  std::atomic<std::uint64_t> reports_{0}, refused_{0}, spooled_{0};
  std::uint64_t reports_before_ = 0;
  std::int64_t rate_since_ms_ = 0;
  double reports_per_s_ = 0;
};

}  // namespace acrf::hub
