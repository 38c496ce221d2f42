// SPDX-License-Identifier: GPL-2.0-or-later
// acrf-recover: seconds from a fault to the same job running on other nodes, for each kind of
// fault, on a live cluster; the measurement behind `contrib/bench recover`. Each rank holds a lock
// on a file of its own while it lives, so that two runs of a job at once show, and each job is
// brought to its end after its recovery, so that a lost one shows.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "common/file.h"
#include "core/text.h"
#include "minicluster/cluster.h"
#include "minicluster/fault_run.h"
#include "quantile.h"

namespace acrf::perf {
namespace {

using namespace acrf::minicluster;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kPatience{60};
constexpr seconds kStockPatience{300};
constexpr milliseconds kLook{10};

constexpr char kJob[] = R"(#!/bin/bash
[ -z "$IGNORE_TERM" ] || trap '' TERM
srun --kill-on-bad-exit=1 "$RUN/rank"
)";

constexpr char kRank[] = R"(#!/bin/bash
[ -z "$IGNORE_TERM" ] || trap '' TERM
exec 9>"$RUN/lock-$SLURM_PROCID"
flock -n 9 || echo "rank $SLURM_PROCID on $SLURMD_NODENAME" >>"$RUN/twice"
for ((step = 0; ; step++)); do
  ((step != 5)) || echo "$SLURM_PROCID $SLURMD_NODENAME" >>"$RUN/works-${SLURM_RESTART_COUNT:-0}"
  [ ! -e "$RUN/finish" ] || break
  sleep 0.1 9>&-
done
echo "$SLURM_PROCID" >>"$RUN/finished"
)";

struct Row {
  std::string kind;
  std::vector<double> times;  // of jobs that came back
  int n = 0, lost = 0, twice = 0;
};

std::size_t lines_in(const std::string& path) {
  const auto text = read_file(path);
  return text ? static_cast<std::size_t>(std::count(text->begin(), text->end(), '\n')) : 0;
}

// One job and the faults that befall it.
class Victim {
 public:
  Victim(Cluster& cluster, int number)
      : cluster_(cluster), directory_(cluster.path(fmt::format("run-{}", number))) {}

  bool submit(bool resilient, bool ignores_term) {
    std::filesystem::create_directories(directory_);
    if (!write_file(file("job"), kJob, 0755) || !write_file(file("rank"), kRank, 0755))
      return false;
    std::vector<std::string> command = {"env",
                                        "RUN=" + directory_,
                                        ignores_term ? "IGNORE_TERM=1" : "IGNORE_TERM=",
                                        "sbatch",
                                        "--parsable",
                                        "-N2",
                                        "--ntasks-per-node=1",
                                        "--gpus-per-node=8",
                                        "--requeue",
                                        "--output=/dev/null"};
    if (resilient) command.push_back("--acrf-policy=requeue");
    command.push_back(file("job"));
    const auto submitted = cluster_.run(command);
    id_ = std::string(trim(submitted.output));
    return submitted.ok();
  }

  // Until slurmctld has given the job its nodes for its restart of this number.
  bool runs(int restart, seconds patience = kPatience) {
    return wait_until(
        [&] {
          const auto look = look_at_job(cluster_, id_);
          if (!look || look->state != "RUNNING" || look->restarts < restart) return false;
          nodes_ = look->nodes;
          return true;
        },
        patience, kLook);
  }

  // All ranks are at work, half a second after they began.
  bool works(int restart) {
    return wait_until([&] { return lines_in(file(fmt::format("works-{}", restart))) >= 2; },
                      kPatience, kLook);
  }

  // Lets the program end; true when it did, and the job with it.
  bool completes() {
    finish();
    return wait_until(
        [&] {
          const auto look = look_at_job(cluster_, id_);
          return look && look->state == "COMPLETED";
        },
        kPatience, milliseconds(50));
  }

  void finish() { (void)write_file(file("finish"), ""); }
  bool has_finished() const { return lines_in(file("finished")) >= 2; }
  int twice() const { return lines_in(file("twice")) > 0 ? 1 : 0; }
  void cancel() { cluster_.run({"scancel", "--signal=KILL", "--full", id_}); }
  const std::string& id() const { return id_; }
  const std::vector<std::string>& nodes() const { return nodes_; }

 private:
  std::string file(const std::string& name) const { return directory_ + "/" + name; }

  Cluster& cluster_;
  std::string directory_, id_;
  std::vector<std::string> nodes_;
};

class Bench {
 public:
  explicit Bench(Cluster& cluster) : cluster_(cluster) {}

  // Seconds until the job was back; below 0: it was not.
  double gpu_lost(Victim& job) { return plain(job, 1, false); }
  double ignores_term(Victim& job) { return plain(job, 1, true); }
  double two_nodes(Victim& job) { return plain(job, 2, false); }

  double during_start(Victim& job) {
    if (!job.submit(true, false) || !job.runs(0)) return -1;
    return hit(job, 1, 0);
  }

  // The job must end as it would have, or come back and then end.
  double during_completion(Victim& job) {
    if (!job.submit(true, false) || !job.runs(0) || !job.works(0)) return -1;
    job.finish();
    if (!wait_until([&] { return job.has_finished(); }, kPatience, milliseconds(1))) return -1;
    const auto fault = Clock::now();
    inject(job.nodes().back());
    return job.completes() ? since(fault) : -1;
  }

  double again(Victim& job) {
    if (plain(job, 1, false) < 0) return -1;
    return hit(job, 1, 1);
  }

  double stock(Victim& job) {
    if (!job.submit(false, false) || !job.runs(0) || !job.works(0)) return -1;
    const auto fault = Clock::now();
    const auto node = job.nodes().back();
    cluster_.run({"scontrol", "update", "NodeName=" + node, "State=DRAIN", "Reason=bench"});
    cluster_.run({"scontrol", "requeue", job.id()});
    const double took = job.runs(1, kStockPatience) ? since(fault) : -1;
    cluster_.run({"scontrol", "update", "NodeName=" + node, "State=RESUME"});
    return took;
  }

  Status restore() {
    for (const auto& node : broken_)
      if (const auto restored = restore_node(cluster_, node); !restored) return restored;
    broken_.clear();
    // Incidents are told apart by whole seconds.
    const auto closed = std::time(nullptr);
    wait_until([&] { return std::time(nullptr) > closed; });
    return Done{};
  }

 private:
  static double since(Clock::time_point then) {
    return std::chrono::duration<double>(Clock::now() - then).count();
  }

  void inject(const std::string& node) {
    cluster_.run({"acrf", "inject", "--node", node, "--xid", "79"});
    broken_.push_back(node);
  }

  double plain(Victim& job, int nodes, bool ignores_term) {
    if (!job.submit(true, ignores_term) || !job.runs(0) || !job.works(0)) return -1;
    return hit(job, nodes, 0);
  }

  // A fault on the last nodes of the job's run of this number.
  double hit(Victim& job, std::size_t nodes, int restart) {
    const auto before = job.nodes();
    const auto fault = Clock::now();
    for (std::size_t i = before.size() - nodes; i < before.size(); ++i) inject(before[i]);
    return job.runs(restart + 1) ? since(fault) : -1;
  }

  Cluster& cluster_;
  std::vector<std::string> broken_;
};

using Fault = std::function<double(Bench&, Victim&)>;
struct Kind {
  const char* name;
  int share;  // of all faults, in percent
  Fault fault;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"gpu_lost", 30, &Bench::gpu_lost},
      {"ignores_term", 15, &Bench::ignores_term},
      {"during_start", 15, &Bench::during_start},
      {"during_completion", 10, &Bench::during_completion},
      {"two_nodes", 15, &Bench::two_nodes},
      {"second_fault", 15, &Bench::again},
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

int run(const std::string& root, int faults, bool with_stock) {
  ClusterOptions options;
  options.root = root;
  auto cluster = Cluster::start(options);
  if (!cluster) return fail(cluster.error());
  fmt::print("{:<18} {:>4} {:>8} {:>8} {:>8} {:>5} {:>6}\n", "kind", "n", "p50_s", "p99_s", "max_s",
             "lost", "twice");
  auto rows = nlohmann::json::array();
  Row all{"all", {}, 0, 0, 0};
  int number = 0;
  for (const auto& kind : kinds()) {
    const auto row = measure(**cluster, kind, (faults * kind.share + 99) / 100, number);
    if (!row) return fail(row.error());
    show(*row, rows);
    all.times.insert(all.times.end(), row->times.begin(), row->times.end());
    all.n += row->n;
    all.lost += row->lost;
    all.twice += row->twice;
  }
  show(all, rows);
  if (with_stock) {
    const auto row = measure(**cluster, {"stock", 0, &Bench::stock}, 1, number);
    if (!row) return fail(row.error());
    show(*row, rows);
  }
  fmt::print("{}\n", rows.dump());
  return all.lost + all.twice == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace acrf::perf

int main(int argc, char** argv) {
  std::string root;
  int faults = 200;
  bool with_stock = true;
  CLI::App app("Measures recovery from faults on a private Slurm cluster.", "acrf-recover");
  app.add_option("--root", root, "the cluster's own directory")->required();
  app.add_option("--faults", faults, "faults in all (default: 200)")->check(CLI::Range(1, 10000));
  app.add_flag("--stock,!--no-stock", with_stock, "also Slurm's own requeue, once (default)");
  CLI11_PARSE(app, argc, argv);
  return acrf::perf::run(root, faults, with_stock);
}
