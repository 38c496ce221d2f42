// SPDX-License-Identifier: GPL-2.0-or-later
// What one look at one GPU says, in the same words for every vendor.
//
// A probe sends a sample as one JSON object whose keys are the names in reading_names(), next to
// "vendor", "index", "uuid", "serial", "pci", "name", "lost", "reset_required", "suspended",
// "xids" (numbers), "links" (objects with "link", "remote" (its PCI address) and the names in
// link_reading_names()), "blocks"
// ({"name", "corrected", "uncorrected"}) and "incidents" ({"system", "failed", "code", "text"}).
// A key that is absent is unknown: the library lacks the call, or the GPU does not support it.
//
// Where only changes are asked for, a GPU that is as it was at the last request is its index alone,
// and one that has changed has "changed": true, its index, and the keys that differ, null for what
// is unknown now; of its links those that differ.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/reading_window.h"
#include "core/xid.h"

namespace acrf {

// One NVLink. Error counts are there only when the GPU's totals have grown, or on NVLink 5.
struct LinkSample {
  std::uint64_t link = 0;
  Reading active;
  Reading crc;
  Reading replay;
  Reading recovery;
  Reading recovery_failed;
  Reading symbol_errors;
  PciAddress remote = {};  // what is at the other end, a GPU or a switch; PciAddress{}: unknown

  bool operator==(const LinkSample&) const = default;
};

// Error counts of one part of an AMD or Intel GPU.
struct BlockSample {
  std::string name;
  Reading corrected;
  Reading uncorrected;

  bool operator==(const BlockSample&) const = default;
};

// What DCGM's health watches hold against a GPU.
struct HealthIncident {
  std::string system;  // "memory", "nvlink", ...
  bool failed = false;
  std::uint64_t code = 0;  // DCGM's own
  std::string text;

  bool operator==(const HealthIncident&) const = default;
};

struct GpuSample {
  PciAddress address;
  std::string uuid;
  bool lost = false;  // the driver's own word
  std::string vendor;
  std::string serial;
  std::string name;
  std::uint64_t index = 0;
  bool reset_required = false;  // the driver's own word
  bool suspended = false;       // asleep, and left alone: no reading was taken

  Reading temperature_c;
  Reading memory_temperature_c;
  Reading slowdown_c;
  Reading shutdown_c;
  Reading memory_max_c;
  Reading power_mw;
  Reading power_limit_mw;
  Reading utilization_percent;
  Reading slowdown_hardware;  // 1: the hardware itself holds the clocks down
  Reading slowdown_thermal;   // 1: it does so because of heat
  Reading slowdown_power;     // 1: the power supply told it to

  Reading volatile_sram_corrected;
  Reading volatile_sram_uncorrected;
  Reading volatile_dram_corrected;
  Reading volatile_dram_uncorrected;
  Reading aggregate_sram_corrected;
  Reading aggregate_sram_uncorrected;
  Reading aggregate_dram_corrected;
  Reading aggregate_dram_uncorrected;
  Reading sram_threshold_exceeded;
  Reading remapped_corrected;
  Reading remapped_uncorrected;
  Reading remap_pending;
  Reading remap_failure;
  Reading remap_banks_without_spares;
  Reading retired_pages;
  Reading retired_pages_pending;
  Reading retired_pages_failed;  // AMD: pages that could not be taken out of use

  Reading pcie_replays;
  Reading pcie_fatal;
  Reading pcie_generation;
  Reading pcie_generation_max;
  Reading pcie_width;
  Reading pcie_width_max;

  Reading nvlink_crc;
  Reading nvlink_replay;
  Reading nvlink_recovery;
  Reading fabric_state;     // NVML: 0 unsupported, 1 not started, 2 in progress, 3 completed
  Reading fabric_status;    // NVML: its return code for the registration; DCGM: 1 when it failed
  Reading fabric_degraded;  // 1: the health mask names a degradation
  Reading xgmi_error;       // AMD: 0 none, 1 one, 2 several since the last look

  Reading recovery_action;  // NVML field 230
  Reading persistence;
  Reading mig;
  Reading memory_health;  // Level Zero: 1 ok, 2 degraded, 3 critical, 4 replace
  Reading wedged;         // Level Zero: 1: only a reset brings it back
  Reading repair_reset;   // Level Zero: 1: a reset completes a repair

  std::vector<std::uint64_t> xids;  // since the last sample
  std::vector<LinkSample> links;
  std::vector<BlockSample> blocks;
  std::vector<HealthIncident> incidents;
};

struct ReadingName {
  const char* key;
  Reading GpuSample::*field;
};
const std::vector<ReadingName>& reading_names();

struct LinkReadingName {
  const char* key;
  Reading LinkSample::*field;
};
const std::vector<LinkReadingName>& link_reading_names();

// UUID and serial number, for whatever is remembered about a GPU; empty while the UUID is unknown.
std::string identity_of(const GpuSample& sample);

}  // namespace acrf
