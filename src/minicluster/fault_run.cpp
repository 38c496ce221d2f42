// SPDX-License-Identifier: GPL-2.0-or-later
#include "minicluster/fault_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "build_paths.h"
#include "common/checkpoint_dir.h"
#include "common/file.h"
#include "core/incident.h"
#include "core/text.h"

namespace acrf::minicluster {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kPatience{60};

Error missed(const std::string& what) { return {ErrorCode::kUnavailable, what}; }

// Value of "Name=value" among scontrol's blank-separated fields.
std::string field(std::string_view text, std::string_view name) {
  const std::string key = std::string(name) + "=";
  for (auto at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    if (at != 0 && text[at - 1] != ' ' && text[at - 1] != '\n') continue;
    const auto begin = at + key.size();
    return std::string(text.substr(begin, text.find_first_of(" \n", begin) - begin));
  }
  return "";
}

std::vector<std::string> expand_hosts(const Cluster& cluster, const std::string& hosts) {
  std::vector<std::string> names;
  if (hosts.empty() || hosts == "(null)") return names;
  const auto listed = cluster.run({"scontrol", "show", "hostnames", hosts});
  for (const auto name : split(trim(listed.output), '\n')) names.emplace_back(name);
  return names;
}

std::string joined(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ","));
}

}  // namespace

Result<JobLook> look_at_job(const Cluster& cluster, const std::string& job) {
  const auto shown = cluster.run({"scontrol", "show", "job", job});
  if (!shown.ok()) return missed("scontrol show job " + job + ": " + shown.errors);
  JobLook look;
  look.state = field(shown.output, "JobState");
  look.reason = field(shown.output, "Reason");
  look.restarts = static_cast<int>(parse_unsigned(field(shown.output, "Restarts")).value_or(0));
  look.nodes = expand_hosts(cluster, field(shown.output, "NodeList"));
  return look;
}

NodeLook look_at_node(const Cluster& cluster, const std::string& node) {
  const auto shown = cluster.run({"scontrol", "show", "node", node});
  NodeLook look;
  look.drained = field(shown.output, "State").find("+DRAIN") != std::string::npos;
  if (const auto at = shown.output.find("Reason="); at != std::string::npos) {
    const auto line = shown.output.substr(at + 7, shown.output.find('\n', at) - at - 7);
    look.reason = line.substr(0, line.rfind(" [root@"));
  }
  return look;
}

Result<std::string> submit(const Cluster& cluster, const TrainingJob& job) {
  const std::string examples = ACRF_EXAMPLES;
  std::vector<std::string> command = {"env", "TRAINER=" + examples + "/trainer"};
  command.insert(command.end(), job.variables.begin(), job.variables.end());
  command.insert(command.end(), {"sbatch", "--parsable", "--output=" + job.output});
  if (job.resilient) command.push_back("--acrf-policy=requeue");
  if (!job.checkpoint_dir.empty()) command.push_back("--acrf-checkpoint-dir=" + job.checkpoint_dir);
  command.insert(command.end(), job.options.begin(), job.options.end());
  command.push_back(examples + "/train.sbatch");
  const auto submitted = cluster.run(command);
  if (!submitted.ok()) return missed("sbatch: " + submitted.errors);
  return std::string(trim(submitted.output));
}

std::vector<std::string> resumptions(const std::string& output) {
  std::vector<std::string> paths;
  const auto text = read_file(output);
  if (!text) return paths;
  constexpr std::string_view kMark = "rank 0 on ";
  for (auto line : split(*text, '\n')) {
    const auto from = line.find(": resumed from ");
    if (!starts_with(line, kMark) || from == std::string_view::npos) continue;
    line.remove_prefix(from + 15);
    paths.emplace_back(line.substr(0, line.rfind(" at step ")));
  }
  return paths;
}

namespace {

// One walk, with what it has seen so far.
class Walk {
 public:
  Walk(Cluster& cluster, const std::string& name, const Narrator& narrate)
      : cluster_(cluster), narrate_(narrate), directory_(cluster.path(name)) {}

  Result<FaultRun> go() {
    if (const auto begun = begin_training(); !begun) return begun.error();
    if (const auto injected = inject(); !injected) return injected.error();
    if (const auto watched = watch(); !watched) return watched.error();
    cluster_.run({"scancel", run_.job});
    return run_;
  }

 private:
  double seconds() const {
    return std::chrono::duration<double>(Clock::now() - injected_at_).count();
  }

  Status begin_training() {
    std::filesystem::create_directories(checkpoints());
    TrainingJob job;
    job.checkpoint_dir = checkpoints();
    job.output = output();
    job.variables = {"TRAIN_STEPS=100000", "TRAIN_STEP_SECONDS=0.1"};
    const auto id = submit(cluster_, job);
    if (!id) return id.error();
    run_.job = *id;
    if (!wait_until([&] { return newest_checkpoint(checkpoints()).has_value(); }, kPatience))
      return missed("job " + run_.job + " wrote no checkpoint");
    const auto look = look_at_job(cluster_, run_.job);
    if (!look) return look.error();
    run_.nodes_before = look->nodes;
    if (run_.nodes_before.size() != 2) return missed("job " + run_.job + " is not on two nodes");
    narrate_(0, fmt::format("job {} trains on {}, newest complete checkpoint {}", run_.job,
                            joined(run_.nodes_before), *newest_checkpoint(checkpoints())));
    return Done{};
  }

  Status inject() {
    run_.node = run_.nodes_before.back();
    healthd_log_ = cluster_.path("log/healthd-" + run_.node + ".log");
    const auto log = read_file(healthd_log_);
    log_before_ = log ? log->size() : 0;
    injected_at_ = Clock::now();
    const auto injected = cluster_.run({"acrf", "inject", "--node", run_.node, "--xid", "79"});
    if (!injected.ok()) return missed("acrf inject: " + injected.errors);
    narrate_(0, fmt::format("node {}: GPU 0 has fallen off the bus (Xid 79)", run_.node));
    return Done{};
  }

  // Looks at everything again and again until the job has resumed.
  Status watch() {
    const bool resumed = wait_until(
        [&] {
          look_for_incident();
          look_for_drain();
          look_for_job();
          return run_.resumed_s >= 0;
        },
        kPatience, std::chrono::milliseconds(5));
    if (run_.seen_s < 0) return missed("acrf-healthd on " + run_.node + " did not see the fault");
    if (run_.drained_s < 0) return missed("node " + run_.node + " was not drained");
    if (run_.pending_s < 0) return missed("job " + run_.job + " was not requeued");
    if (run_.running_s < 0) return missed("job " + run_.job + " did not run again");
    if (!resumed) return missed("job " + run_.job + " did not resume from a checkpoint");
    return check_result();
  }

  void look_for_incident() {
    if (run_.seen_s >= 0) return;
    const auto log = read_file(healthd_log_);
    if (!log || log->find("gpu_lost", log_before_) == std::string::npos) return;
    run_.seen_s = seconds();
    narrate_(run_.seen_s, "acrf-healthd on " + run_.node + " sees the fault");
  }

  void look_for_drain() {
    if (run_.drained_s >= 0) return;
    const auto look = look_at_node(cluster_, run_.node);
    if (!look.drained) return;
    run_.drained_s = seconds();
    look_for_incident();
    run_.drain_reason = look.reason;
    narrate_(run_.drained_s, fmt::format("node {} is drained: {}", run_.node, look.reason));
  }

  void look_for_job() {
    if (run_.running_s < 0) {
      const auto look = look_at_job(cluster_, run_.job);
      if (!look || look->restarts == 0) return;
      look_for_drain();  // came before, even if it was not seen before
      if (run_.pending_s < 0) {
        run_.pending_s = seconds();
        narrate_(run_.pending_s, fmt::format("job {} is requeued, with the same id", run_.job));
      }
      if (look->state == "PENDING") newest_at_restart_ = newest_checkpoint(checkpoints());
      if (look->state != "RUNNING") return;
      run_.running_s = seconds();
      run_.nodes_after = look->nodes;
      narrate_(run_.running_s,
               fmt::format("job {} runs again, on {}", run_.job, joined(look->nodes)));
    }
    const auto resumed = resumptions(output());
    if (resumed.empty()) return;
    run_.resumed_s = seconds();
    run_.resumed_from = resumed.front();
    narrate_(run_.resumed_s, "training resumed from " + run_.resumed_from);
  }

  Status check_result() const {
    const auto& after = run_.nodes_after;
    if (std::find(after.begin(), after.end(), run_.node) != after.end())
      return missed("job " + run_.job + " runs on the broken node again");
    if (!is_acrf_reason(run_.drain_reason))
      return missed("the drain's reason is not ACRF's: " + run_.drain_reason);
    if (newest_at_restart_ != run_.resumed_from) {
      return missed("the job resumed from " + run_.resumed_from +
                    ", but the newest complete one was " + newest_at_restart_.value_or("none"));
    }
    return Done{};
  }

  std::string checkpoints() const { return directory_ + "/checkpoints"; }
  std::string output() const { return directory_ + "/train.out"; }

  Cluster& cluster_;
  const Narrator& narrate_;
  std::string directory_;
  std::string healthd_log_;
  std::size_t log_before_ = 0;
  Clock::time_point injected_at_;
  std::optional<std::string> newest_at_restart_;
  FaultRun run_;
};

}  // namespace

Result<FaultRun> run_fault(Cluster& cluster, const std::string& name, const Narrator& narrate) {
  return Walk(cluster, name, narrate).go();
}

Status restore_node(Cluster& cluster, const std::string& node) {
  const auto mended = cluster.run({"acrf", "inject", "--node", node, "--repair"});
  if (!mended.ok()) return missed("acrf inject --repair: " + mended.errors);
  const auto resumed = cluster.run({"scontrol", "update", "NodeName=" + node, "State=RESUME"});
  // healthd notices the resume within a second; what fails after that is a new incident.
  const auto closed = [&] {
    const auto log = read_file(cluster.path("log/healthd-" + node + ".log"));
    return log && split(trim(*log), '\n').back().find(": closed: ") != std::string_view::npos;
  };
  // 22.05 refuses it for a node that has not registered yet, and yet ends its drain.
  if (!resumed.ok() && !closed()) return missed("scontrol: " + resumed.errors);
  if (wait_until(closed, kPatience)) return Done{};
  return missed("acrf-healthd on " + node + " did not close its incident");
}

}  // namespace acrf::minicluster
