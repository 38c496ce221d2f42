// SPDX-License-Identifier: GPL-2.0-or-later
// acrf place: where a job would go, or what would replace its lost nodes, on this cluster or on one
// that files describe.
#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "common/file.h"
#include "place.h"

namespace acrf {
namespace {

struct PlaceCall {
  PlaceOptions options;
  bool replace = false;
  std::string hostfile;
  int tasks_per_node = 1;
};

void run(CommandLine& line, const PlaceCall& call) {
  const auto answer = call.replace ? replace_lost(call.options) : place_job(call.options);
  if (!answer) return fail(line, answer.error());
  if (line.json) fmt::print("{}\n", answer->dump());
  if (!(*answer)["fits"].get<bool>())
    return fail(line, {ErrorCode::kNotFound,
                       call.options.state.empty() ? "no room" : call.options.state + ": no room"});
  if (!line.json) fmt::print("{}", place_text(*answer));
  if (call.hostfile.empty()) return;
  const auto written = write_file(call.hostfile, hostfile_text(*answer, call.tasks_per_node), 0644);
  if (!written) fail(line, written.error());
}

}  // namespace

void add_place_command(CommandLine& line) {
  auto* command = line.app.add_subcommand(
      "place", "where a job would go, or what would replace its lost nodes");
  command->fallthrough();
  const auto call = std::make_shared<PlaceCall>();
  auto& options = call->options;
  command->add_option("--state", options.state,
                      "nodes and what is free on them, a JSON file (default: as slurmctld says)");
  command->add_option("--topology", options.topology,
                      "topology.conf (default: all nodes on one switch)");
  command->add_option("--weights", options.weights, "acrf-topology.conf");
  auto* request = command->add_option("--request", options.request,
                                      "nodes=N[-M],gpus-per-node=N|gpus=N,shape=SHAPE,...");
  command->add_option("--require", options.require, "nodes that the job must get");
  command->add_option("--exclude", options.exclude, "nodes that the job must not get");
  command->add_option("--avoid", options.avoid, "nodes to take only if nothing else fits");
  auto* replace =
      command->add_flag("--replace", call->replace, "replace lost nodes of a running job");
  auto* job = command->add_option("--job", options.job, "the job's nodes in rank order, or its id");
  auto* lost = command->add_option("--lost", options.lost, "the nodes that it lost");
  command->add_option("--traffic", options.traffic, "ring (default) or all-to-all")
      ->check(CLI::IsMember({"ring", "all-to-all"}))
      ->needs(replace);
  command->add_flag("--new-ranks", options.new_ranks, "all ranks may move, as in a restart")
      ->needs(replace);
  job->needs(replace);
  lost->needs(replace);
  replace->needs(job)->needs(lost);
  command->add_option("--hostfile", call->hostfile,
                      "write node names in rank order, for SLURM_HOSTFILE");
  command->add_option("--tasks-per-node", call->tasks_per_node, "lines per node in the host file")
      ->check(CLI::Range(1, 1024));
  command->callback([&line, call, request] {
    if (!call->replace && request->count() == 0)
      return fail(line, {ErrorCode::kInvalid, "place: needs --request or --replace"});
    run(line, *call);
  });
}

}  // namespace acrf
