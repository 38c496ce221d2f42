// SPDX-License-Identifier: GPL-2.0-or-later
// Placement without Slurm: the same core that select/acrf asks, on a cluster that files describe.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "core/result.h"

namespace acrf {

struct PlaceOptions {
  std::string state;                    // file, see common/cluster_state.h; empty: slurmctld's
  std::string topology;                 // topology.conf; empty: all nodes on one switch
  std::string weights;                  // acrf-topology.conf; empty: none
  std::string request;                  // "nodes=2-4,gpus-per-node=8,shape=pack"
  std::string require, exclude, avoid;  // host lists
  std::string job, lost;                // host lists: with both, lost nodes are replaced; job may
                                        // be a job id when slurmctld is asked
  std::string traffic = "ring";         // or all-to-all
  bool new_ranks = false;               // all ranks may move
};

// {"fits":false}, or the nodes in rank order with their GPUs, and what they cost.
Result<nlohmann::ordered_json> place_job(const PlaceOptions& options);
Result<nlohmann::ordered_json> replace_lost(const PlaceOptions& options);

// The same for people.
std::string place_text(const nlohmann::ordered_json& answer);

// The names of the nodes in rank order, each as often as it has tasks: what SLURM_HOSTFILE names
// for srun --distribution=arbitrary.
std::string hostfile_text(const nlohmann::ordered_json& answer, int tasks_per_node);

}  // namespace acrf
