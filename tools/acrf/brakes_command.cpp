// SPDX-License-Identifier: GPL-2.0-or-later
// acrf brakes [reset]: what holds ACRF back, for people and for Nagios.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "commands.h"
#include "common/config_file.h"
#include "common/slurm_client.h"
#include "core/brakes.h"
#include "core/hostlist.h"
#include "core/zoned_time.h"

namespace acrf {
namespace {

// Nagios' exit codes.
enum { kFree = 0, kAtLimit = 1, kHolding = 2, kUnknown = 3 };

struct HeldNode {
  std::string node;
  HealthMark wish;
  std::string sentence;  // what holds it now; empty: nothing any more
};

struct BrakesLook {
  std::vector<BrakeState> states;
  std::vector<HeldNode> held;
  std::string topology_problem;

  int status() const {
    if (!held.empty()) return kHolding;
    for (const auto& state : states)
      if (state.is_full()) return kAtLimit;
    return kFree;
  }
};

BrakesLook look_at(const Config& config, const Fleet& fleet) {
  BrakesLook look{brake_states(config, fleet), {}, fleet.topology_problem};
  for (const auto& node : fleet.nodes) {
    if (!node.token.braked) continue;
    const auto& wish = *node.token.braked;
    const auto now = ask_brakes(config, fleet, {node.name, wish.fault_class});
    look.held.push_back({node.name, wish, now.sentence});
  }
  return look;
}

void print_json(const BrakesLook& look) {
  nlohmann::ordered_json brakes = nlohmann::ordered_json::array();
  for (const auto& state : look.states)
    brakes.push_back({{"brake", name_of(state.brake)},
                      {"group", state.group},
                      {"counted", state.counted()},
                      {"limit", state.limit},
                      {"of", state.total},
                      {"full", state.is_full()},
                      {"nodes", compress_hostlist(state.nodes)}});
  nlohmann::ordered_json held = nlohmann::ordered_json::array();
  for (const auto& one : look.held)
    held.push_back({{"node", one.node},
                    {"class", one.wish.fault_class},
                    {"since", to_utc_text(one.wish.unix_s)},
                    {"by", one.sentence}});
  nlohmann::ordered_json all = {{"status", look.status()}, {"brakes", brakes}, {"held", held}};
  if (!look.topology_problem.empty()) all["topology_problem"] = look.topology_problem;
  fmt::print("{}\n", all.dump(2));
}

void print_table(const BrakesLook& look) {
  fmt::print("{:<18} {:<20} {:>7} {:>6} {:>6}  {}\n", "BRAKE", "GROUP", "COUNTED", "LIMIT", "OF",
             "NODES");
  for (const auto& state : look.states)
    fmt::print("{:<18} {:<20} {:>7} {:>6} {:>6}  {}{}\n", name_of(state.brake),
               state.group.empty() ? "-" : state.group, state.counted(), state.limit, state.total,
               state.is_full() ? "FULL " : "", compress_hostlist(state.nodes));
  for (const auto& one : look.held)
    fmt::print(
        "held: {} wants to act on {} since {}: {}\n", one.node, one.wish.fault_class,
        to_utc_text(one.wish.unix_s),
        one.sentence.empty() ? "nothing holds it any more, it looks again soon" : one.sentence);
  if (!look.topology_problem.empty())
    fmt::print("the brakes know no switches: {}\n", look.topology_problem);
}

void show(CommandLine& line) {
  const auto config = load_named_config(line.config_path);
  SlurmClient slurm;
  const auto fleet = config ? slurm.fleet(slurm_directory()) : Result<Fleet>(config.error());
  if (!fleet) {
    fail(line, fleet.error());
    line.status = kUnknown;
    return;
  }
  const auto look = look_at(*config, *fleet);
  line.json ? print_json(look) : print_table(look);
  line.status = look.status();
}

void reset(CommandLine& line, const ResetScope& scope) {
  SlurmClient slurm;
  const auto fleet = slurm.fleet(slurm_directory());
  if (!fleet) return fail(line, fleet.error());
  const auto nodes = nodes_to_reset(*fleet, scope);
  for (const auto& node : nodes) {
    const auto done =
        slurm.change_token(node, [&](NodeToken& token) { reset_marks(token, fleet->now_unix_s); });
    if (!done) return fail(line, done.error());
  }
  const auto names = compress_hostlist(nodes);
  if (line.json)
    fmt::print("{}\n", nlohmann::ordered_json{{"reset", names}}.dump());
  else if (nodes.empty())
    fmt::print("nothing was counted or held\n");
  else
    fmt::print("no longer counted or held: {}\n", names);
}

}  // namespace

void add_brakes_command(CommandLine& line) {
  auto* brakes = line.app.add_subcommand("brakes", "what holds ACRF back from acting on nodes");
  brakes->fallthrough();
  auto scope = std::make_shared<ResetScope>();
  auto* again = brakes->add_subcommand("reset", "count what was done so far no longer");
  again->fallthrough();
  auto* partition = again->add_option("--partition", scope->partition, "only nodes of a partition");
  again->add_option("--class", scope->fault_class, "only faults of a class")->excludes(partition);
  again->callback([&line, scope] { reset(line, *scope); });
  brakes->callback([&line, brakes] {
    if (brakes->get_subcommands().empty()) show(line);
  });
}

}  // namespace acrf
