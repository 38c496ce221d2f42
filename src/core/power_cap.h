// SPDX-License-Identifier: GPL-2.0-or-later
// A GPU that is too hot gets less power while it is, where the site allows it. Everything is
// decided from a record of what was asked for, which is written first, and from the GPU's power
// limit as it is read: a daemon that was killed between the two finds out what became of it.
//
//   hot, no record              -> record the limit it has and the one it is to have, lower
//   hot, limit as before        -> it was not lowered: try again, a few times
//   hot, limit as asked for     -> nothing
//   cool, limit as asked for    -> give back the one it had
//   any other limit             -> somebody else has set it, whose business it is until it is cool
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/reading_window.h"
#include "core/xid.h"

namespace acrf {

// Faults that are heat, or the hardware's own answer to it.
bool is_heat(std::string_view fault_class);

struct HeatTimes {
  std::int64_t begin_s = 300;     // at its own limit for so long, a GPU is too hot
  std::int64_t lasting_s = 1800;  // and then its node is drained when its jobs have ended
  bool operator==(const HeatTimes&) const = default;
};

// What the last look saw.
struct GpuHeat {
  std::string uuid;
  PciAddress address;
  bool hot = false;
  Reading power_limit_mw;
  std::int64_t look_s = 0;
};

struct PowerCap {
  std::string uuid;
  PciAddress address;
  std::string incident;
  std::uint64_t before_w = 0;
  std::uint64_t capped_w = 0;
  std::int64_t tried_s = 0;  // when the program last ran; a look after that counts
  int tries = 0;             // to lower it
  std::int64_t hot_s = 0;    // when it was last seen hot
  bool restoring = false;    // the program last ran to give back what it had
  bool lifted = false;       // people have taken it back
  bool is_others = false;    // somebody else has set another limit
  bool operator==(const PowerCap&) const = default;
};

enum class CapStep {
  kNothing,
  kLower,    // to capped_w
  kRestore,  // to before_w
  kForget,   // nothing of ours is left
};

// What to ask for, of a GPU without a record that is hot; capped_w is 0 where nothing can be done.
PowerCap plan_cap(const GpuHeat& gpu, int percent, const std::string& incident);

// Notes what the look says, and gives what follows. `cool_s`: how long it must have been cool.
CapStep next_cap_step(PowerCap& cap, const GpuHeat& gpu, std::int64_t now_s, std::int64_t cool_s);
// The program is about to run for the step; to be recorded before it does.
void note_try(PowerCap& cap, CapStep step, std::int64_t now_s);

// Where the records are, and where people name GPUs, one UUID a line, to have their limits back.
std::string power_caps_path(const std::string& state_dir);
std::string power_caps_lift_path(const std::string& state_dir);

// For a restart: lines of words. Nothing of a damaged line is taken over.
std::string to_text(const std::vector<PowerCap>& caps);
std::vector<PowerCap> parse_power_caps(std::string_view text);

}  // namespace acrf
