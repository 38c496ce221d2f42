// SPDX-License-Identifier: GPL-2.0-or-later
// acrf interval: how often a job of a given size should write a checkpoint, and what that costs.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "commands.h"
#include "interval_table.h"

namespace acrf {
namespace {

struct IntervalCall {
  int gpus = 0;
  int nodes = 0;
  bool table = false;
  std::optional<double> cost_s;
  double restart_s = kAssumedRestart_s;
  FailureHistory history;
};

// Not CLI::Range: that lets "nan" through.
CLI::Validator number_from(double min, double max) {
  return CLI::Validator(
      [min, max](std::string& text) {
        double number = 0;
        if (CLI::detail::lexical_cast(text, number) && number >= min && number <= max)
          return std::string();
        return fmt::format("'{}' is not a number from {:g} to {:g}", text, min, max);
      },
      "NUMBER");
}

void print_json(const IntervalCall& call, std::int64_t interval_s, double cost_s, double mtbf_s,
                const Overhead& costs) {
  fmt::print("{}\n",
             nlohmann::ordered_json{{"interval_s", interval_s},
                                    {"nodes", call.nodes},
                                    {"mtbf_s", mtbf_s},
                                    {"cost_s", cost_s},
                                    {"restart_s", call.restart_s},
                                    {"failures_per_node_day", failures_per_node_day(call.history)},
                                    {"overhead", costs.total()},
                                    {"checkpoints", costs.checkpoints},
                                    {"lost", costs.lost},
                                    {"restarts", costs.restarts}}
                 .dump());
}

void print_best(const CommandLine& line, IntervalCall call) {
  if (call.nodes == 0) call.nodes = nodes_for_gpus(call.gpus);
  const double cost_s = checkpoint_cost_s(call.cost_s, {});
  const double rate = failures_per_node_day(call.history);
  const double mtbf_s = job_mtbf_s(call.nodes, rate);
  const auto interval_s = auto_interval_s(call.nodes, call.history, cost_s);
  const auto costs =
      split_overhead(static_cast<double>(interval_s), cost_s, mtbf_s, call.restart_s);
  if (line.json) return print_json(call, interval_s, cost_s, mtbf_s, costs);
  fmt::print(
      "checkpoint every {} s\n"
      "MTBF {:.2f} h: {} nodes, {:.2f} failures per 1,000 node-days\n"
      "overhead {:.2f} %: checkpoints of {:g} s {:.2f} %, work lost {:.2f} %, restarts of {:g} s "
      "{:.2f} %\n",
      interval_s, mtbf_s / 3600, call.nodes, 1000 * rate, 100 * costs.total(), cost_s,
      100 * costs.checkpoints, 100 * costs.lost, call.restart_s, 100 * costs.restarts);
}

void run(CommandLine& line, const IntervalCall& call) {
  if (!call.table) {
    if (call.gpus == 0 && call.nodes == 0)
      return fail(line, {ErrorCode::kInvalid, "interval: needs --gpus, --nodes or --table"});
    return print_best(line, call);
  }
  const auto table = make_interval_table(call.history, call.restart_s);
  if (line.json) return fmt::print("{}\n", interval_table_json(table).dump());
  fmt::print("{}", interval_table_text(table));
}

}  // namespace

void add_interval_command(CommandLine& line) {
  auto* command =
      line.app.add_subcommand("interval", "how often a job should write a checkpoint, and why");
  command->fallthrough();
  const auto call = std::make_shared<IntervalCall>();
  auto* gpus = command->add_option("--gpus", call->gpus, "the job's GPUs, 8 a node")
                   ->check(CLI::Range(1, 10'000'000));
  auto* nodes = command->add_option("--nodes", call->nodes, "the job's nodes")
                    ->check(CLI::Range(1, 10'000'000))
                    ->excludes(gpus);
  auto* cost = command
                   ->add_option("--cost", call->cost_s,
                                "seconds that a checkpoint stops the job for (default: 60)")
                   ->check(number_from(0.1, 86'400));
  command
      ->add_option("--restart", call->restart_s,
                   "seconds from a failure until the job works again (default: 300)")
      ->check(number_from(0, 604'800));
  auto* failures = command
                       ->add_option("--failures", call->history.failures,
                                    "node failures that this cluster has seen")
                       ->check(number_from(0, 1e9));
  auto* node_days = command
                        ->add_option("--node-days", call->history.node_days,
                                     "node-days in which it has seen them")
                        ->check(number_from(0, 1e12));
  failures->needs(node_days);
  node_days->needs(failures);
  command->add_flag("--table", call->table, "by job size and cost, beside fixed intervals")
      ->excludes(gpus)
      ->excludes(nodes)
      ->excludes(cost);
  command->callback([&line, call] { run(line, *call); });
}

}  // namespace acrf
