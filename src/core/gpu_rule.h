// SPDX-License-Identifier: GPL-2.0-or-later
// The sampling rules, one class each. A rule sees every sample of one GPU and says what holds
// against it now; GpuRules turns that into findings, each told once. What a rule cannot see
// because a reading is unknown does not hold. Thresholds and their sources:
// doc/design/gpu-sources.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/fault.h"
#include "core/gpu_sample.h"
#include "core/power_cap.h"
#include "core/reading_window.h"

namespace acrf {

// What a rule holds against a GPU, with the readings that say so.
struct Charge {
  Verdict verdict;
  std::string evidence;
  std::optional<int> xid = std::nullopt;
};
using Charges = std::vector<Charge>;

// Lost, or asking for a reset: the driver's own word, two readings in a row. Persistence that was
// on and is not any more is watched: the driver then leaves, with its counters, between two jobs.
class PresenceRule {
 public:
  void look(const GpuSample& sample, std::int64_t now_s, Charges& charges);

 private:
  Persistent lost_;
  Persistent reset_required_;
  bool persisted_ = false;
  Persistent persistence_off_{60};
};

// Uncorrectable errors by how often they came, remapped rows, retired pages. Corrected errors are
// watched, never acted on: they predict little.
class MemoryRule {
 public:
  void look(const GpuSample& sample, std::int64_t now_s, Charges& charges);

  // When uncorrectable errors came in the last 30 days; survives restarts and reboots.
  const std::vector<std::int64_t>& uncorrectable_unix_s() const { return uncorrectable_unix_s_; }
  void remember_uncorrectable(std::int64_t unix_s);

 private:
  void look_at_errors(const GpuSample& sample, std::int64_t now_s, Charges& charges);
  void look_at_spares(const GpuSample& sample, std::int64_t now_s, Charges& charges);

  Counter sram_;
  Counter dram_;
  Counter volatile_sram_;
  Counter volatile_dram_;
  Counter corrected_;
  Counter retired_;
  CounterWindows corrected_hours_{1, 3600};
  CounterWindows retired_days_{7, 86400};
  std::vector<std::int64_t> uncorrectable_unix_s_;
};

// Links that are down, error counts that grow, and the fabric's own state.
class NvlinkRule {
 public:
  void look(const GpuSample& sample, std::int64_t now_s, Charges& charges);

 private:
  struct Link {
    bool was_active = false;
    Persistent down{30};
    Counter recovery_failed;
    Counter symbol_errors;
  };
  void look_at_links(const GpuSample& sample, std::int64_t now_s, Charges& charges);
  void look_at_fabric(const GpuSample& sample, std::int64_t now_s, Charges& charges);

  std::map<std::uint64_t, Link> links_;
  Counter crc_;
  Counter replay_;
  Counter recovery_;
  CounterWindows crc_minutes_{3};
  CounterWindows retry_minutes_{3};
  CounterWindows symbol_minutes_{3};
  Persistent fabric_{30};
  bool fabric_was_complete_ = false;
};

// Replays beyond what the link's generation may have, fatal errors, a link that came up narrow.
class PcieReplayRule {
 public:
  void look(const GpuSample& sample, std::int64_t now_s, Charges& charges);

 private:
  Counter replays_;
  Counter fatal_;
  CounterWindows replay_minutes_{5};
  Persistent degraded_{60};
};

// Clocks held down by the hardware, and temperatures at the device's own limits: watched at first;
// what lasts drains the node when its jobs have ended, for they go on, slowly.
class ThermalRule {
 public:
  void look(const GpuSample& sample, std::int64_t now_s, Charges& charges);
  // Other times than before begin anew.
  void set_times(const HeatTimes& times);

  // Slowed down in at least 6 of the last 10 minutes, or at its limit for HeatTimes::begin_s.
  bool suffers() const { return slowed_down() || is_hot_; }

 private:
  bool slowed_down() const { return minutes_.reaching(1) >= 6; }
  void look_at_temperature(const GpuSample& sample, std::int64_t now_s, Charges& charges);

  CounterWindows minutes_{10};
  HeatTimes times_;
  Persistent slow_for_long_{times_.lasting_s};
  Persistent hot_{times_.begin_s};
  Persistent hot_for_long_{times_.lasting_s};
  bool is_hot_ = false;
};

// The driver's own verdict, obeyed once two readings agree. A value that ACRF does not know is
// watched; none after another closes the case, for the driver may not print a line about it.
class RecoveryActionRule {
 public:
  void look(const GpuSample& sample, std::int64_t now_s, Charges& charges);

 private:
  std::uint64_t last_ = 0;
  bool asked_ = false;
};

// AMD and Intel: errors per block, bad pages, xGMI, a device that is wedged.
class BlockErrorRule {
 public:
  void look(const GpuSample& sample, std::int64_t now_s, Charges& charges);

 private:
  struct Block {
    Counter corrected;
    Counter uncorrected;
  };
  void look_at_blocks(const GpuSample& sample, std::int64_t now_s, Charges& charges);

  std::map<std::string, Block> blocks_;
  CounterWindows corrected_hours_{1, 3600};
  Persistent xgmi_;
  Persistent wedged_;
};

// Xids that the driver's library tells: the same verdicts as those of the kernel log.
class XidRule {
 public:
  void look(const GpuSample& sample, std::int64_t now_s, Charges& charges);
};

// What DCGM's health watches say: a second opinion, watched and never acted on.
class HealthWatchRule {
 public:
  void look(const GpuSample& sample, std::int64_t now_s, Charges& charges);
};

// A vendor library that does not answer: watched at once; believed at the third time in a row, and
// only if it has answered before, because a driver may take long to wake up. Each is told once.
class HangRule {
 public:
  void answered();
  // `source` is the library, `where` the GPU it was last heard about or empty: then the one that an
  // earlier hang in this row named.
  std::optional<Charge> hung(const std::string& source, const std::string& where);
  const std::string& where() const { return where_; }

 private:
  bool has_answered_ = false;
  int in_a_row_ = 0;
  std::string where_;
};

}  // namespace acrf
