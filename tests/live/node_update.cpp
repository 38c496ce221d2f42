// SPDX-License-Identifier: GPL-2.0-or-later
// What acrf-healthd does to its node's record, by hand, for live tests:
//   node_update act NODE CLASS       drain within the brakes, as healthd does: 0 done, 2 held
//   node_update drain NODE CLASS     drain and mark in one update
//   node_update resume NODE          end the drain, go on probation in one update
//   node_update left NODE JOB        say that the node does not respond and the job has left it
#include <cstdio>
#include <string>
#include <thread>

#include "common/braked_act.h"
#include "common/config_file.h"

namespace acrf {
namespace {

int fail(const Error& error) {
  std::fprintf(stderr, "%s\n", error.sentence.c_str());
  return 1;
}

std::string reason_for(const std::string& fault_class) {
  return "ACRF: " + fault_class + " node drain [test]";
}

int act(SlurmClient& slurm, const std::string& node, const std::string& fault_class) {
  const auto config = load_config(default_config_path(), false);
  if (!config) return fail(config.error());
  BrakedAct wanted;
  wanted.wish = {node, fault_class};
  wanted.slurm_directory = slurm_directory();
  wanted.act = [&](const SlurmClient::ChangeToken& change) {
    return slurm.drain(node, reason_for(fault_class), SlurmClient::OthersReason::kStays, change);
  };
  wanted.pause = [](int milliseconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    return true;
  };
  const auto decision = act_within_brakes(slurm, *config, wanted);
  if (!decision) return fail(decision.error());
  std::printf("%s\n", decision->sentence.c_str());
  return decision->permission == Permission::kAct ? 0 : 2;
}

int run(int argc, char** argv) {
  const std::string verb = argc > 2 ? argv[1] : "", node = argc > 2 ? argv[2] : "";
  const std::string fault_class = argc > 3 ? argv[3] : "gpu_lost";
  SlurmClient slurm;
  if (verb == "act") return act(slurm, node, fault_class);
  const auto fleet = slurm.fleet(slurm_directory());
  if (!fleet) return fail(fleet.error());
  Status done = Error{ErrorCode::kInvalid, "act, drain, resume or left"};
  if (verb == "drain")
    done = slurm.drain(node, reason_for(fault_class), SlurmClient::OthersReason::kStays,
                       [&](NodeToken& token) { set_acted(token, fault_class, fleet->now_unix_s); });
  if (verb == "resume")
    done = slurm.resume(node, fleet->find(node)->reason,
                        [](NodeToken& token) { token.health.probation = true; });
  if (verb == "left")
    done = slurm.say_not_responding(node, [&](NodeToken& token) {
      add_left(token, static_cast<std::uint32_t>(std::stoul(fault_class)));
    });
  return done ? 0 : fail(done.error());
}

}  // namespace
}  // namespace acrf

int main(int argc, char** argv) { return acrf::run(argc, argv); }
