// SPDX-License-Identifier: GPL-2.0-or-later
// What ACRF keeps of a node in slurmctld, as one word in the node's comment:
// "acrf:gpus=3+5,suspect,risk=20,acted=1700000000:gpu_lost". Slurm keeps it, shows it and hands it
// to the backup controller. Fields that this version does not know are kept as they are: a newer
// writer's word must not make an older reader forget a quarantine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/gpu_group.h"

namespace acrf {

// What placement reads.
struct NodeHealth {
  GpuMask quarantined = 0;  // GPUs that must not be given to jobs
  bool suspect = false;     // the whole node is doubtful
  int risk = 0;             // 0 to 100: how likely it is to fail soon
  bool probation = false;   // back from repair: small jobs only, while others fit
  bool operator==(const NodeHealth&) const = default;
};

// When something was done or wanted, and for which class of fault. By slurmctld's clock.
struct HealthMark {
  std::int64_t unix_s = 0;
  std::string fault_class;   // perhaps with what the node shares with others: core/brake_marks.h
  std::string speaker = {};  // of a claim: who asks; empty: the node itself
  bool operator==(const HealthMark&) const = default;
};

// All of the word. The marks are what the brakes count (core/brakes.h).
struct NodeToken {
  NodeHealth health;
  std::optional<HealthMark> claim;   // its healthd asks to act now
  std::optional<HealthMark> acted;   // the last automatic act on it
  std::optional<HealthMark> braked;  // its healthd wants to act and a brake holds it
  // Until then it counts as a suspect, because of a job that it held up: core/accusation.h
  std::optional<HealthMark> accused;
  // Jobs that leave it and of which nothing goes on there, though its slurmd can't say so:
  // acrf-healthd's word, for as long as its drain lasts.
  std::vector<std::uint32_t> left;
  std::int64_t hot_unix_s = 0;       // its GPUs are too hot, seen at this time; 0: they are not
  std::int64_t waived_unix_s = 0;    // acts up to then are counted no more; 0: none
  std::vector<std::string> unknown;  // fields of other versions
  bool operator==(const NodeToken&) const = default;
};

// Adds a job to those that have left, of which the last ones are kept.
void add_left(NodeToken& token, std::uint32_t job);

// The first token in the text; an empty one when there is none or when it is malformed.
NodeToken node_token_in(std::string_view comment);

// Its health, of which an accusation is a part; nothing when there is no token, a malformed one, or
// nothing known in it.
std::optional<NodeHealth> find_node_health(std::string_view comment);

// The comment with the token set, replaced or (when it says nothing) taken out. Other words stay.
std::string with_node_token(std::string_view comment, const NodeToken& token);

// The same, but only what placement reads changes.
std::string with_node_health(std::string_view comment, const NodeHealth& health);

}  // namespace acrf
