// SPDX-License-Identifier: GPL-2.0-or-later
// acrf-recover: seconds from a fault to the first rank of the same job at work on other nodes, for
// each kind of fault, on a live cluster; the measurement behind `contrib/bench recover`. Each rank
// holds a lock on a file of its own while it lives, so that two runs of a job at once show; a job
// that does not begin from its newest complete checkpoint, or comes to no end after its recovery,
// is lost. Several clusters, each in a process of its own, share out the kinds.
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <ctime>
#include <functional>
#include <nlohmann/json.hpp>

#include "brakes_off.h"
#include "common/file.h"
#include "core/text.h"
#include "minicluster/cluster.h"
#include "minicluster/fault_run.h"
#include "minicluster/node_processes.h"
#include "quantile.h"
#include "victim.h"

namespace acrf::perf {
namespace {

using namespace acrf::minicluster;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kPatience{60};
constexpr seconds kStockPatience{300};

struct Row {
  std::string kind;
  std::vector<double> times;  // of jobs that came back
  int n = 0, lost = 0, twice = 0;
};

class Bench {
 public:
  explicit Bench(Cluster& cluster) : cluster_(cluster) {}

  // Seconds until the job was back; below 0: it was not.
  double gpu_lost(Victim& job) { return plain(job, {}, 1); }
  double ignores_term(Victim& job) { return plain(job, {.ignores_term = true}, 1); }
  double two_nodes(Victim& job) { return plain(job, {}, 2); }

  // The GPU is lost on a node whose slurmd can't be told to end the job.
  double hung_slurmd(Victim& job) {
    if (!begins(job, {})) return -1;
    frozen_ = "slurmd-" + one_of(job);
    (void)cluster_.signal(frozen_, SIGSTOP);
    const auto fault = Clock::now();
    inject(one_of(job));
    return back(job, 1, fault);
  }

  double node_killed(Victim& job) {
    if (!begins(job, {})) return -1;
    dead_ = one_of(job);
    const auto fault = Clock::now();
    if (!signal_node(cluster_.options().root, dead_, SIGKILL)) return -1;
    return back(job, 1, fault);
  }

  double during_start(Victim& job) {
    if (!job.submit({}) || !job.runs(0)) return -1;
    return hit(job, 1, 0);
  }

  // The job must end as it would have, or come back and then end.
  double during_completion(Victim& job) {
    if (!begins(job, {})) return -1;
    job.finish();
    if (!wait_until([&] { return job.has_finished(); }, kPatience, milliseconds(1))) return -1;
    const auto fault = Clock::now();
    inject(one_of(job));
    return job.completes() ? since(fault) : -1;
  }

  double again(Victim& job) {
    if (plain(job, {}, 1) < 0 || !job.runs(1)) return -1;
    return hit(job, 1, 1);
  }

  double stock(Victim& job) {
    if (!begins(job, {.resilient = false})) return -1;
    const auto fault = Clock::now();
    const auto node = one_of(job);
    cluster_.run({"scontrol", "update", "NodeName=" + node, "State=DRAIN", "Reason=bench"});
    cluster_.run({"scontrol", "requeue", job.id()});
    const double took = job.has_begun(1, kStockPatience) ? since(fault) : -1;
    cluster_.run({"scontrol", "update", "NodeName=" + node, "State=RESUME"});
    return took;
  }

  Status restore() {
    if (!frozen_.empty()) (void)cluster_.signal(frozen_, SIGCONT);
    frozen_.clear();
    if (const auto revived = revive(); !revived) return revived;
    for (const auto& node : broken_)
      if (const auto restored = restore_node(cluster_, node); !restored) return restored;
    broken_.clear();
    // Incidents are told apart by whole seconds.
    const auto closed = std::time(nullptr);
    wait_until([&] { return std::time(nullptr) > closed; });
    ++count_;
    return Done{};
  }

 private:
  static double since(Clock::time_point then) {
    return std::chrono::duration<double>(Clock::now() - then).count();
  }

  // The node with the script and the other one, by turns.
  std::string one_of(const Victim& job) const {
    return count_ % 2 == 0 ? job.nodes().back() : job.nodes().front();
  }

  void inject(const std::string& node) {
    cluster_.run({"acrf", "inject", "--node", node, "--xid", "79"});
    broken_.push_back(node);
  }

  static bool begins(Victim& job, Victim::Habits habits) {
    return job.submit(habits) && job.runs(0) && job.works(0);
  }

  static double back(Victim& job, int restart, Clock::time_point fault) {
    if (!job.has_begun(restart, kPatience)) return -1;
    const double took = since(fault);
    return job.began_from_newest(restart) ? took : -1;
  }

  double plain(Victim& job, Victim::Habits habits, std::size_t nodes) {
    return begins(job, habits) ? hit(job, nodes, 0) : -1;
  }

  // A fault on one or on all nodes of the job's run of this number.
  double hit(Victim& job, std::size_t nodes, int restart) {
    const auto fault = Clock::now();
    if (nodes == 1) {
      inject(one_of(job));
    } else {
      for (const auto& node : job.nodes()) inject(node);
    }
    return back(job, restart + 1, fault);
  }

  // Of one node alone, sinfo tells what it had when all were last looked at.
  std::string state_of(const std::string& node) {
    const auto all = cluster_.run({"sinfo", "-h", "-N", "-o", "%N %T"}).output;
    for (const auto line : split(all, '\n'))
      if (line.starts_with(node + " ")) return std::string(trim(line.substr(node.size())));
    return "";
  }

  // The node that was killed is started again, and put back into service by hand.
  Status revive() {
    if (dead_.empty()) return Done{};
    const auto node = std::exchange(dead_, "");
    if (const auto started = cluster_.start_slurmd(node); !started) return started;
    if (const auto started = cluster_.start_healthd(node); !started) return started;
    std::string state;
    const bool serves = wait_until(
        [&] {
          cluster_.run({"scontrol", "update", "NodeName=" + node, "State=RESUME"});
          state = state_of(node);
          return state == "idle";
        },
        kPatience, milliseconds(200));
    if (serves) return Done{};
    return Error{ErrorCode::kUnavailable, "node " + node + " does not come back: " + state};
  }

  Cluster& cluster_;
  std::vector<std::string> broken_;
  std::string frozen_, dead_;
  int count_ = 0;
};

using Fault = std::function<double(Bench&, Victim&)>;
struct Kind {
  const char* name;
  int share;    // of all faults, in percent
  int usual_s;  // that one takes, from the job's start to the node's return
  Fault fault;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"gpu_lost", 20, 7, &Bench::gpu_lost},
      {"hung_slurmd", 12, 9, &Bench::hung_slurmd},
      {"node_killed", 12, 22, &Bench::node_killed},
      {"ignores_term", 12, 9, &Bench::ignores_term},
      {"during_start", 12, 7, &Bench::during_start},
      {"during_completion", 8, 6, &Bench::during_completion},
      {"two_nodes", 12, 8, &Bench::two_nodes},
      {"second_fault", 12, 12, &Bench::again},
  };
  return all;
}

Result<Row> measure(Cluster& cluster, const Kind& kind, int count, int& number) {
  Row row{kind.name, {}, count, 0, 0};
  Bench bench(cluster);
  for (int i = 0; i < count; ++i) {
    Victim job(cluster, ++number);
    const double took = kind.fault(bench, job);
    if (took < 0 || !job.completes()) {
      ++row.lost;
      fmt::print("{}: job {} did not come back and end\n", kind.name, job.id());
      job.cancel();
    }
    if (took >= 0) row.times.push_back(took);
    row.twice += job.twice();
    if (const auto restored = bench.restore(); !restored) return restored.error();
  }
  return row;
}

void show(const Row& row, nlohmann::json& rows) {
  const double p50 = quantile(row.times, 0.5), p99 = quantile(row.times, 0.99);
  const double most = quantile(row.times, 1);
  fmt::print("{:<18} {:4} {:8.2f} {:8.2f} {:8.2f} {:5} {:6}\n", row.kind, row.n, p50, p99, most,
             row.lost, row.twice);
  std::fflush(stdout);
  rows.push_back({{"kind", row.kind},
                  {"n", row.n},
                  {"p50_s", p50},
                  {"p99_s", p99},
                  {"max_s", most},
                  {"lost", row.lost},
                  {"twice", row.twice}});
}

int fail(const Error& error) {
  fmt::print(stderr, "acrf-recover: {}\n", error.sentence);
  return EXIT_FAILURE;
}

struct Work {
  Kind kind;
  int count;
};

// One cluster and what is measured on it, in a process of its own; its rows go into a file.
Status measure_lane(const std::string& root, const std::vector<Work>& lane) {
  ClusterOptions options;
  options.root = root;
  options.acrf_conf = kBrakesOff;
  auto cluster = Cluster::start(options);
  if (!cluster) return cluster.error();
  auto rows = nlohmann::json::array();
  int number = 0;
  for (const auto& work : lane) {
    const auto row = measure(**cluster, work.kind, work.count, number);
    if (!row) return row.error();
    rows.push_back({row->kind, row->times, row->n, row->lost, row->twice});
    if (const auto saved = write_file(root + ".rows", rows.dump()); !saved) return saved;
  }
  return Done{};
}

Result<std::vector<Row>> rows_of_lane(const std::string& root) {
  const auto text = read_file(root + ".rows");
  if (!text) return text.error();
  std::vector<Row> rows;
  for (const auto& row : nlohmann::json::parse(*text))
    rows.push_back({row[0], row[1], row[2], row[3], row[4]});
  return rows;
}

// Kinds go to the lane with the least to do; stock Slurm, which mostly waits, has its own.
std::vector<std::vector<Work>> lanes_for(int faults, int lanes, const std::string& only,
                                         bool with_stock) {
  std::vector<std::vector<Work>> all(std::size_t(lanes), std::vector<Work>{});
  std::vector<int> load(std::size_t(lanes), 0);
  for (const auto& kind : kinds()) {
    if (!only.empty() && only != kind.name) continue;
    const int count = (faults * kind.share + 99) / 100;
    const auto least = std::min_element(load.begin(), load.end());
    *least += count * kind.usual_s;
    all[std::size_t(least - load.begin())].push_back({kind, count});
  }
  std::erase_if(all, [](const auto& lane) { return lane.empty(); });
  if (with_stock) all.push_back({{{"stock", 0, 0, &Bench::stock}, 1}});
  return all;
}

Result<std::vector<Row>> measure_all(const std::string& root,
                                     const std::vector<std::vector<Work>>& lanes) {
  std::vector<pid_t> processes;
  const auto root_of = [&](std::size_t lane) { return fmt::format("{}-{}", root, lane); };
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    std::fflush(nullptr);
    processes.push_back(::fork());
    if (processes.back() != 0) continue;
    const auto measured = measure_lane(root_of(lane), lanes[lane]);
    std::exit(measured ? EXIT_SUCCESS : fail(measured.error()));
  }
  bool good = true;
  for (const auto process : processes) {
    int status = 0;
    good &= process > 0 && ::waitpid(process, &status, 0) == process && status == 0;
  }
  if (!good) return Error{ErrorCode::kUnavailable, "a cluster's measurements came to no end"};
  std::vector<Row> all;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    auto rows = rows_of_lane(root_of(lane));
    if (!rows) return rows.error();
    all.insert(all.end(), rows->begin(), rows->end());
  }
  return all;
}

int run(const std::string& root, const std::vector<std::vector<Work>>& lanes) {
  const auto rows = measure_all(root, lanes);
  if (!rows) return fail(rows.error());
  fmt::print("{:<18} {:>4} {:>8} {:>8} {:>8} {:>5} {:>6}\n", "kind", "n", "p50_s", "p99_s", "max_s",
             "lost", "twice");
  auto json = nlohmann::json::array();
  Row all{"all", {}, 0, 0, 0};
  bool good = true;
  for (const auto& row : *rows) {
    show(row, json);
    if (row.kind == "stock") continue;
    good &= row.lost + row.twice == 0;
    // What counts from the death of a node has a limit of its own.
    if (row.kind == "node_killed") continue;
    all.times.insert(all.times.end(), row.times.begin(), row.times.end());
    all.n += row.n;
    all.lost += row.lost;
    all.twice += row.twice;
  }
  show(all, json);
  fmt::print("{}\n", json.dump());
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace acrf::perf

int main(int argc, char** argv) {
  std::string root;
  int faults = 200;
  std::string only;
  int lanes = 2;
  bool with_stock = true;
  CLI::App app("Measures recovery from faults on a private Slurm cluster.", "acrf-recover");
  app.add_option("--root", root, "the cluster's own directory")->required();
  app.add_option("--faults", faults, "faults in all (default: 200)")->check(CLI::Range(1, 10000));
  app.add_option("--clusters", lanes, "that are measured on side by side (default: 2)")
      ->check(CLI::Range(1, 16));
  app.add_option("--kind", only, "only faults of this kind");
  app.add_flag("--stock,!--no-stock", with_stock, "also Slurm's own requeue, once (default)");
  CLI11_PARSE(app, argc, argv);
  return acrf::perf::run(root, acrf::perf::lanes_for(faults, lanes, only, with_stock));
}
