// SPDX-License-Identifier: GPL-2.0-or-later
// acrf-drain: seconds from a fault to the node's drain on a live cluster, the measurement behind
// `contrib/bench drain`: by acrf-healthd, by a HealthCheckProgram that looks for the same line, and
// by acrf-healthd while slurmctld's backup takes over. The fault's time is this program's clock
// right before the kernel's line is written; the drain's is slurmctld's own log.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <time.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "common/file.h"
#include "core/text.h"
#include "minicluster/cluster.h"
#include "minicluster/fault_run.h"
#include "quantile.h"

namespace acrf::perf {
namespace {

using namespace acrf::minicluster;
using Clock = std::chrono::system_clock;  // as in slurmctld's log
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kPatience{60};
constexpr int kCheckInterval_s = 30;
constexpr int kUsualInterval_s = 300;
constexpr char kSlurmctldLog[] = "log/slurmctld.log";

// All nodes may be taken: the brakes are asked as ever and say yes.
constexpr char kOpenBrakes[] =
    "MaxDrainsPerHour=100%\nMaxDrained=100%\nMinHealthy=0%\nCommonCauseNodes=0\n"
    "ResetProgram=none\nTestProgram=none\n";

struct Row {
  std::string kind;
  std::vector<double> times;
};

double since(Clock::time_point then, Clock::time_point now) {
  return std::chrono::duration<double>(now - then).count();
}

// The time in "[2026-11-17T07:33:44.123] ...", which is local.
std::optional<Clock::time_point> time_of(std::string_view line) {
  struct tm parts = {};
  const std::string text(line.substr(0, 25));
  const char* rest = ::strptime(text.c_str(), "[%Y-%m-%dT%H:%M:%S", &parts);
  if (!rest || *rest != '.') return std::nullopt;
  parts.tm_isdst = -1;
  const auto ms = parse_unsigned(std::string_view(rest + 1).substr(0, 3));
  if (!ms) return std::nullopt;
  return Clock::from_time_t(::mktime(&parts)) + milliseconds(*ms);
}

// A log that grows, read from where it was left.
class LogTail {
 public:
  explicit LogTail(std::string path) : path_(std::move(path)) {}

  // When the first new line with the text was written. What was read is not looked at again.
  std::optional<Clock::time_point> find(const std::string& text) {
    const auto log = read_file(path_);
    if (!log) return std::nullopt;
    const auto at = log->find(text, std::min(place_, log->size()));
    if (at == std::string::npos) return std::nullopt;
    const auto begin = log->rfind('\n', at) + 1;  // npos + 1 is 0
    return time_of(std::string_view(*log).substr(begin));
  }
  void skip() {
    const auto log = read_file(path_);
    if (log) place_ = log->size();
  }

 private:
  std::string path_;
  std::size_t place_ = 0;
};

std::string drain_line(const std::string& node) {
  return "update_node: node " + node + " state set to DRAIN";
}

Error missed(const std::string& what) { return {ErrorCode::kUnavailable, what}; }

// Until slurmctld has drained the node; the seconds since the fault.
Result<double> wait_for_drain(LogTail& log, const std::string& node, Clock::time_point fault,
                              seconds patience) {
  std::optional<Clock::time_point> drained;
  wait_until([&] { return (drained = log.find(drain_line(node))).has_value(); }, patience,
             milliseconds(5));
  if (!drained) return missed("node " + node + " was not drained");
  return std::max(0.0, since(fault, *drained));
}

Result<Clock::time_point> inject(const Cluster& cluster, const std::string& node) {
  const auto fault = Clock::now();
  const auto injected = cluster.run({"acrf", "inject", "--node", node, "--xid", "79"});
  if (!injected.ok()) return missed("acrf inject: " + injected.errors);
  return fault;
}

Status measure_acrf(const std::string& root, int faults, Row& row) {
  ClusterOptions options;
  options.root = root;
  options.acrf_conf = kOpenBrakes;
  auto cluster = Cluster::start(options);
  if (!cluster) return cluster.error();
  LogTail log((*cluster)->path(kSlurmctldLog));
  const auto nodes = (*cluster)->nodes();
  // A resume of what was drained in the second of slurmctld's start would look like a lost drain.
  const auto started = std::time(nullptr);
  wait_until([&] { return std::time(nullptr) > started + 1; });
  while (static_cast<int>(row.times.size()) < faults) {
    log.skip();
    for (const auto& node : nodes) {
      const auto fault = inject(**cluster, node);
      if (!fault) return fault.error();
      const auto took = wait_for_drain(log, node, *fault, kPatience);
      if (!took) return took.error();
      row.times.push_back(*took);
    }
    for (const auto& node : nodes)
      if (const auto restored = restore_node(**cluster, node); !restored) return restored;
    // Incidents are told apart by whole seconds.
    const auto closed = std::time(nullptr);
    wait_until([&] { return std::time(nullptr) > closed; });
  }
  return Done{};
}

// What a site without ACRF has: a script that slurmd runs now and then.
std::string check_script(const std::string& root) {
  return fmt::format(
      "#!/bin/sh\n"
      "grep -q 'Xid (PCI:.*): 79,' {0}/nodes/$SLURMD_NODENAME/kmsg || exit 0\n"
      "SLURM_CONF={0}/etc/slurm.conf exec scontrol update NodeName=$SLURMD_NODENAME State=DRAIN "
      "Reason='GPU fell off the bus'\n",
      root);
}

// Faults at equal distances over one interval, on all nodes: where in the interval a fault falls is
// chance, and so every part of it has its share.
Status one_interval(Cluster& cluster, LogTail& log, Row& row) {
  log.skip();
  std::map<std::string, Clock::time_point> faults;
  const auto begin = std::chrono::steady_clock::now();
  const auto nodes = cluster.nodes();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto due = begin + milliseconds(kCheckInterval_s * 1000 * i / nodes.size());
    wait_until([&] { return std::chrono::steady_clock::now() >= due; }, kPatience);
    const auto fault = inject(cluster, nodes[i]);
    if (!fault) return fault.error();
    faults[nodes[i]] = *fault;
  }
  for (const auto& [node, fault] : faults) {
    const auto took = wait_for_drain(log, node, fault, 2 * seconds(kCheckInterval_s));
    if (!took) return took.error();
    row.times.push_back(*took);
  }
  for (const auto& node : nodes) {
    const auto emptied = write_file(cluster.path("nodes/" + node + "/kmsg"), "", 0644);
    if (!emptied) return emptied;
    cluster.run({"scontrol", "update", "NodeName=" + node, "State=RESUME"});
  }
  return Done{};
}

Status measure_check(const std::string& root, int intervals, Row& row) {
  const auto script = root + ".health-check";
  if (const auto written = write_file(script, check_script(root), 0755); !written) return written;
  ClusterOptions options;
  options.root = root;
  options.healthd = false;
  options.slurm_conf =
      fmt::format("HealthCheckProgram={}\nHealthCheckInterval={}\nHealthCheckNodeState=ANY\n",
                  script, kCheckInterval_s);
  auto cluster = Cluster::start(options);
  Status outcome = cluster ? Status(Done{}) : Status(cluster.error());
  if (cluster) {
    LogTail log((*cluster)->path(kSlurmctldLog));
    for (int i = 0; i < intervals && outcome; ++i) outcome = one_interval(**cluster, log, row);
  }
  std::filesystem::remove(script);
  return outcome;
}

// The interval that sites use would take hours to watch: a fault falls anywhere in it, and the
// script then takes as long as it took here.
Row at_usual_interval() {
  Row row{"health_check_300s_calculated", {}};
  for (int i = 1; i <= 100; ++i) row.times.push_back(kUsualInterval_s * i / 100.0);
  return row;
}

struct TakeoverRows {
  Row control{"takeover", {}}, drained{"takeover_drained", {}}, running{"takeover_running", {}};
};

Result<std::string> start_job(Cluster& cluster) {
  const auto script = cluster.path("job");
  if (const auto written = write_file(script, "#!/bin/sh\nsleep 10000\n", 0755); !written)
    return written.error();
  const auto submitted = cluster.run({"sbatch", "--parsable", "-N1", "--gpus-per-node=8",
                                      "--output=/dev/null", "--acrf-policy=requeue", script});
  if (!submitted.ok()) return missed("sbatch: " + submitted.errors);
  const std::string id(trim(submitted.output));
  const bool runs = wait_until(
      [&] {
        const auto look = look_at_job(cluster, id);
        return look && look->state == "RUNNING";
      },
      kPatience);
  // A change, so that slurmctld writes the job as it is now.
  const auto before = std::filesystem::file_time_type::clock::now();
  cluster.run({"scontrol", "update", "JobId=" + id, "Nice=1"});
  const bool saved =
      runs && wait_until(
                  [&] {
                    std::error_code error;
                    const auto file = cluster.path("state/job_state");
                    return std::filesystem::last_write_time(file, error) > before && !error;
                  },
                  kPatience);
  if (!saved) return missed("job " + id + " did not run");
  return id;
}

// The first controller dies, and a GPU with it, before the backup has noticed.
Status one_takeover(Cluster& cluster, LogTail& log, TakeoverRows& rows) {
  const auto job = start_job(cluster);
  if (!job) return job.error();
  const auto look = look_at_job(cluster, *job);
  if (!look) return look.error();
  const auto node = look->nodes.front();
  log.skip();
  const auto killed = Clock::now();
  if (const auto dead = cluster.kill("slurmctld"); !dead) return dead;
  if (const auto fault = inject(cluster, node); !fault) return fault.error();
  std::optional<Clock::time_point> control;
  wait_until([&] { return (control = log.find("Running as primary controller")).has_value(); },
             kPatience);
  if (!control) return missed("the backup did not take over");
  rows.control.times.push_back(since(killed, *control));
  const auto drained = wait_for_drain(log, node, *control, kPatience);
  if (!drained) return drained.error();
  rows.drained.times.push_back(*drained);
  const bool runs = wait_until(
      [&] {
        const auto now = look_at_job(cluster, *job);
        return now && now->state == "RUNNING" && now->restarts == 1;
      },
      kPatience, milliseconds(10));
  if (!runs) return missed("job " + *job + " did not run again");
  rows.running.times.push_back(since(*control, Clock::now()));
  cluster.run({"scancel", *job});
  if (const auto back = cluster.start_slurmctld(); !back) return back;
  const bool up = wait_until(
      [&] {
        return cluster.run({"scontrol", "ping"}).output.find("ctl1 is UP") != std::string::npos;
      },
      kPatience);
  if (!up) return missed("the first controller did not come back");
  // 22.05's backup starts no job in its second takeover: each one has a fresh process.
  if (const auto dead = cluster.kill("slurmctld-backup"); !dead) return dead;
  if (const auto begun = cluster.start_backup(); !begun) return begun;
  // A controller that has just come back takes no word about nodes that have not registered yet.
  Status restored = Done{};
  wait_until([&] { return (restored = restore_node(cluster, node)).ok(); }, kPatience);
  return restored;
}

Status measure_takeover(const std::string& root, int takeovers, TakeoverRows& rows) {
  ClusterOptions options;
  options.root = root;
  options.backup = true;
  options.nodes = 4;
  options.acrf_conf = kOpenBrakes;
  options.slurm_conf = "SchedulerParameters=bf_interval=2\n";
  auto cluster = Cluster::start(options);
  if (!cluster) return cluster.error();
  LogTail log((*cluster)->path("log/slurmctld-backup.log"));
  Status outcome = Done{};
  for (int i = 0; i < takeovers && outcome; ++i) outcome = one_takeover(**cluster, log, rows);
  return outcome;
}

void show(const Row& row, nlohmann::json& rows) {
  const double p50 = quantile(row.times, 0.5), p99 = quantile(row.times, 0.99);
  const double most = quantile(row.times, 1);
  const bool calculated = row.kind.find("calculated") != std::string::npos;
  const auto n = calculated ? 0 : row.times.size();
  fmt::print("{:<30} {:4} {:8.3f} {:8.3f} {:8.3f}\n", row.kind, n, p50, p99, most);
  std::fflush(stdout);
  rows.push_back({{"kind", row.kind}, {"n", n}, {"p50_s", p50}, {"p99_s", p99}, {"max_s", most}});
}

int fail(const Error& error) {
  fmt::print(stderr, "acrf-drain: {}\n", error.sentence);
  return EXIT_FAILURE;
}

int run(const std::string& root, int faults, int intervals, int takeovers) {
  fmt::print("{:<30} {:>4} {:>8} {:>8} {:>8}\n", "kind", "n", "p50_s", "p99_s", "max_s");
  auto rows = nlohmann::json::array();
  Row acrf{"acrf", {}};
  if (const auto done = measure_acrf(root, faults, acrf); !done) return fail(done.error());
  show(acrf, rows);
  Row check{fmt::format("health_check_{}s", kCheckInterval_s), {}};
  if (const auto done = measure_check(root, intervals, check); !done) return fail(done.error());
  show(check, rows);
  show(at_usual_interval(), rows);
  TakeoverRows takeover;
  if (const auto done = measure_takeover(root, takeovers, takeover); !done)
    return fail(done.error());
  for (const auto* row : {&takeover.control, &takeover.drained, &takeover.running})
    show(*row, rows);
  fmt::print("{}\n", rows.dump());
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace acrf::perf

int main(int argc, char** argv) {
  std::string root;
  int faults = 200, intervals = 2, takeovers = 5;
  CLI::App app("Measures drains after faults on private Slurm clusters.", "acrf-drain");
  app.add_option("--root", root, "the clusters' own directory")->required();
  app.add_option("--faults", faults, "for acrf-healthd (default: 200)")
      ->check(CLI::Range(1, 10000));
  app.add_option("--intervals", intervals, "of a HealthCheckProgram, 8 faults in each (default: 2)")
      ->check(CLI::Range(0, 100));
  app.add_option("--takeovers", takeovers, "by the backup controller (default: 5)")
      ->check(CLI::Range(0, 100));
  CLI11_PARSE(app, argc, argv);
  return acrf::perf::run(root, faults, intervals, takeovers);
}
