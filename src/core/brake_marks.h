// SPDX-License-Identifier: GPL-2.0-or-later
// What the brakes read from one node's record, and what is written there for them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/fleet.h"

namespace acrf {

// A claim that stands longer than this was left behind by a daemon that died. By slurmctld's clock.
inline constexpr std::int64_t kClaimLives_s = 120;
// A mark of heat that is older was left behind, too: its owner writes it anew before.
inline constexpr std::int64_t kHotLives_s = 7200;
// Its owner uses it within this time of having written it, by its own steady clock, or claims anew.
inline constexpr std::int64_t kClaimUse_s = 20;

// --- Cause
// ----------------------------------------------------------------------------------------- A
// mark's class may be followed by what the node has in common with others and what may be to blame:
// "gsp@driver-570.86.10", "fs_hung@/scratch". Such a cause is what a node wishes to act on.

std::string cause_of(std::string_view fault_class, std::string_view shared);
std::string_view class_in_cause(std::string_view cause);

// Nodes whose causes have the same origin have one cause: one file system, whatever it does to
// them; one class of faults since a change of the driver. Empty: they share nothing.
std::string_view origin_in_cause(std::string_view cause);
bool is_of_new_driver(std::string_view origin);

// --- Reading -------------------------------------------------------------------------------------

// The act that counts: the token's, or where a drain of ACRF's has lost its token, the drain's own
// time and class. Nothing when it was waived.
std::optional<HealthMark> counted_act(const FleetNode& node);
std::optional<HealthMark> act_of_last_hour(const FleetNode& node, std::int64_t now_unix_s);

// Out of service by an act that counts.
bool is_held_drained(const FleetNode& node);

bool is_live_claim(const FleetNode& node, std::int64_t now_unix_s);

bool is_hot(const FleetNode& node, std::int64_t now_unix_s);

// Acts of the last hour (of the last day where the driver is new), claims and wishes that are held:
// what says that the node has a fault.
std::vector<HealthMark> signs_of_fault(const FleetNode& node, std::int64_t now_unix_s);
bool shows_fault(const FleetNode& node, std::string_view fault_class, std::int64_t now_unix_s);

// Whether the class is one that a switch, power, cooling or a file server causes on many nodes.
bool has_shared_cause(std::string_view fault_class);

// --- Writing -------------------------------------------------------------------------------------

// `speaker` asks: another node for one that is silent, or, empty, the node itself. Only who wrote a
// claim takes it back, and nobody writes over another's that lives: its act may be on its way.
void set_claim(NodeToken& token, std::string_view fault_class, std::int64_t now_unix_s,
               std::string_view speaker = {});
void withdraw_claim(NodeToken& token, std::string_view speaker);
bool is_claimed_by(const NodeToken& token, std::string_view speaker);
// To be written together with the act, in one update.
void set_acted(NodeToken& token, std::string_view fault_class, std::int64_t now_unix_s);
// What a token says was done is still counted, but no longer tells that it is in place.
void doubt_act(NodeToken& token);
// Takes the claim back; keeps the time at which the same class was first held.
void set_braked(NodeToken& token, std::string_view fault_class, std::int64_t now_unix_s,
                std::string_view speaker = {});
// Nothing is wanted any more: no claim, nothing held. What was done stays counted.
void clear_wish(NodeToken& token, std::string_view speaker = {});

// --- Reset ---------------------------------------------------------------------------------------

struct ResetScope {
  std::string partition, fault_class;  // empty: all
};

// The nodes that a brake counts or holds.
std::vector<std::string> nodes_to_reset(const Fleet& fleet, const ResetScope& scope);

// What was done up to now counts no more, and what is held may be asked for again.
void reset_marks(NodeToken& token, std::int64_t now_unix_s);

}  // namespace acrf
