// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/nvml_readings.h"

namespace acrf {
namespace {

constexpr unsigned kMostLinks = 36;

// Calls NVML and keeps the worst that it says about the GPU as a whole.
class Reader {
 public:
  explicit Reader(acrf_nvml_device_t gpu) : gpu_(gpu) {}

  acrf_nvml_return code() const { return code_; }

  // True when the function is there and succeeds. A GPU that is lost is not asked again.
  template <typename Function, typename... Arguments>
  bool call(Function* function, Arguments... arguments) {
    if (!function || code_ == ACRF_NVML_ERROR_GPU_IS_LOST) return false;
    const auto code = function(gpu_, arguments...);
    if (code == ACRF_NVML_ERROR_GPU_IS_LOST || code == ACRF_NVML_ERROR_RESET_REQUIRED) code_ = code;
    return code == ACRF_NVML_SUCCESS;
  }

  Reading number(acrf_nvml_device_number* function) {
    unsigned value = 0;
    return call(function, &value) ? Reading(value) : std::nullopt;
  }

  Reading state(acrf_nvml_device_state* function) {
    auto value = ACRF_NVML_DISABLED;
    return call(function, &value) ? Reading(value == ACRF_NVML_ENABLED ? 1 : 0) : std::nullopt;
  }

 private:
  acrf_nvml_device_t gpu_;
  acrf_nvml_return code_ = ACRF_NVML_SUCCESS;
};

Reading value_of(const acrf_nvml_field_value& field) {
  if (field.code != ACRF_NVML_SUCCESS) return std::nullopt;
  switch (field.type) {
    case ACRF_NVML_VALUE_UNSIGNED_INT: return field.value.unsigned_int;
    case ACRF_NVML_VALUE_UNSIGNED_LONG: return field.value.unsigned_long;
    case ACRF_NVML_VALUE_UNSIGNED_LONG_LONG: return field.value.unsigned_long_long;
    case ACRF_NVML_VALUE_SIGNED_LONG_LONG:
      if (field.value.signed_long_long < 0) return std::nullopt;
      return static_cast<std::uint64_t>(field.value.signed_long_long);
    case ACRF_NVML_VALUE_SIGNED_INT:
      if (field.value.signed_int < 0) return std::nullopt;
      return static_cast<std::uint64_t>(field.value.signed_int);
    case ACRF_NVML_VALUE_DOUBLE: break;
  }
  return std::nullopt;
}

void read_heat_and_power(const NvmlLibrary& nvml, Reader& reader, GpuSample& sample) {
  unsigned celsius = 0;
  if (reader.call(nvml.temperature, ACRF_NVML_TEMPERATURE_GPU, &celsius))
    sample.temperature_c = celsius;
  sample.power_mw = reader.number(nvml.power);
  sample.power_limit_mw = reader.number(nvml.power_limit);
  acrf_nvml_utilization utilization = {};
  if (reader.call(nvml.utilization, &utilization)) sample.utilization_percent = utilization.gpu;
  unsigned long long reasons = 0;
  if (reader.call(nvml.clock_reasons, &reasons)) {
    sample.slowdown_hardware = (reasons & ACRF_NVML_CLOCKS_HW_SLOWDOWN) != 0;
    sample.slowdown_thermal = (reasons & ACRF_NVML_CLOCKS_HW_THERMAL) != 0;
    sample.slowdown_power = (reasons & ACRF_NVML_CLOCKS_HW_POWER_BRAKE) != 0;
  }
}

void read_error_counts(const NvmlLibrary& nvml, Reader& reader, GpuSample& sample) {
  struct Count {
    acrf_nvml_counter_type counter;
    acrf_nvml_memory_location location;
    acrf_nvml_error_type type;
    Reading GpuSample::*field;
  };
  constexpr Count kCounts[] = {
      {ACRF_NVML_VOLATILE, ACRF_NVML_SRAM, ACRF_NVML_CORRECTED,
       &GpuSample::volatile_sram_corrected},
      {ACRF_NVML_VOLATILE, ACRF_NVML_SRAM, ACRF_NVML_UNCORRECTED,
       &GpuSample::volatile_sram_uncorrected},
      {ACRF_NVML_VOLATILE, ACRF_NVML_DRAM, ACRF_NVML_CORRECTED,
       &GpuSample::volatile_dram_corrected},
      {ACRF_NVML_VOLATILE, ACRF_NVML_DRAM, ACRF_NVML_UNCORRECTED,
       &GpuSample::volatile_dram_uncorrected},
      {ACRF_NVML_AGGREGATE, ACRF_NVML_SRAM, ACRF_NVML_CORRECTED,
       &GpuSample::aggregate_sram_corrected},
      {ACRF_NVML_AGGREGATE, ACRF_NVML_SRAM, ACRF_NVML_UNCORRECTED,
       &GpuSample::aggregate_sram_uncorrected},
      {ACRF_NVML_AGGREGATE, ACRF_NVML_DRAM, ACRF_NVML_CORRECTED,
       &GpuSample::aggregate_dram_corrected},
      {ACRF_NVML_AGGREGATE, ACRF_NVML_DRAM, ACRF_NVML_UNCORRECTED,
       &GpuSample::aggregate_dram_uncorrected},
  };
  for (const auto& item : kCounts) {
    unsigned long long count = 0;
    if (reader.call(nvml.memory_errors, item.type, item.counter, item.location, &count))
      sample.*item.field = count;
  }
  acrf_nvml_sram_status sram = {};
  sram.version = sizeof sram | 1u << 24;
  if (reader.call(nvml.sram_status, &sram))
    sample.sram_threshold_exceeded = sram.threshold_exceeded;
}

void read_spares(const NvmlLibrary& nvml, Reader& reader, GpuSample& sample) {
  unsigned current = 0;
  unsigned pending_mode = 0;
  if (reader.call(nvml.mig, &current, &pending_mode)) sample.mig = current;
  // Under MIG the driver does not tell; an answer of zeros would look healthy.
  if (sample.mig.value_or(0) == 0) {
    unsigned corrected = 0;
    unsigned uncorrected = 0;
    unsigned pending = 0;
    unsigned failure = 0;
    if (reader.call(nvml.remapped_rows, &corrected, &uncorrected, &pending, &failure)) {
      sample.remapped_corrected = corrected;
      sample.remapped_uncorrected = uncorrected;
      sample.remap_pending = pending;
      sample.remap_failure = failure;
    }
    acrf_nvml_row_histogram rows = {};
    if (reader.call(nvml.row_histogram, &rows)) sample.remap_banks_without_spares = rows.none;
  }
  for (const auto cause : {ACRF_NVML_RETIRED_SINGLE_BIT, ACRF_NVML_RETIRED_DOUBLE_BIT}) {
    unsigned long long addresses[64];  // the driver retires no more than 64 pages
    unsigned count = 64;
    if (reader.call(nvml.retired_pages, cause, &count, addresses))
      sample.retired_pages = sample.retired_pages.value_or(0) + count;
  }
  sample.retired_pages_pending = reader.state(nvml.retired_pages_pending);
}

void read_pcie(const NvmlLibrary& nvml, Reader& reader, GpuSample& sample) {
  sample.pcie_replays = reader.number(nvml.pcie_replays);
  sample.pcie_generation = reader.number(nvml.pcie_generation);
  sample.pcie_width = reader.number(nvml.pcie_width);
}

// What is at the other end is asked when the link comes up. It stays there when the link goes down.
void read_link_states(const NvmlLibrary& nvml, Reader& reader,
                      const std::vector<LinkSample>& before, GpuSample& sample) {
  for (unsigned number = 0; number < kMostLinks; ++number) {
    auto state = ACRF_NVML_DISABLED;
    if (!reader.call(nvml.link_state, number, &state)) return;
    auto& link = sample.links.emplace_back();
    link.link = number;
    link.active = state == ACRF_NVML_ENABLED ? 1 : 0;
    const bool is_known = number < before.size();
    if (is_known) link.remote = before[number].remote;
    acrf_nvml_pci_info pci = {};
    if (link.active == 1 && (!is_known || before[number].active == 0) &&
        reader.call(nvml.link_remote, number, &pci))
      link.remote = {pci.domain, static_cast<std::uint8_t>(pci.bus),
                     static_cast<std::uint8_t>(pci.device)};
  }
}

// One call for all fields: each call enters the driver.
void read_fields(const NvmlLibrary& nvml, Reader& reader, GpuSample& sample) {
  std::vector<acrf_nvml_field_value> values;
  const auto ask = [&](unsigned field, unsigned scope) {
    acrf_nvml_field_value value = {};
    value.field = field;
    value.scope = scope;
    value.code = ACRF_NVML_ERROR_NOT_SUPPORTED;  // an older driver leaves it as it is
    values.push_back(value);
  };
  for (const unsigned field : {ACRF_NVML_FIELD_CRC_FLIT_TOTAL, ACRF_NVML_FIELD_CRC_DATA_TOTAL,
                               ACRF_NVML_FIELD_REPLAY_TOTAL, ACRF_NVML_FIELD_RECOVERY_TOTAL,
                               ACRF_NVML_FIELD_MEMORY_TEMPERATURE, ACRF_NVML_FIELD_PCIE_FATAL,
                               ACRF_NVML_FIELD_RECOVERY_ACTION})
    ask(field, 0);
  const std::size_t first_link = values.size();
  for (const auto& link : sample.links) {
    ask(ACRF_NVML_FIELD_LINK_RECOVERY_FAILED, static_cast<unsigned>(link.link));
    ask(ACRF_NVML_FIELD_LINK_SYMBOL_ERRORS, static_cast<unsigned>(link.link));
  }
  if (!reader.call(nvml.fields, static_cast<int>(values.size()), values.data())) return;
  const auto flits = value_of(values[0]);
  const auto data = value_of(values[1]);
  if (flits || data) sample.nvlink_crc = flits.value_or(0) + data.value_or(0);
  sample.nvlink_replay = value_of(values[2]);
  sample.nvlink_recovery = value_of(values[3]);
  sample.memory_temperature_c = value_of(values[4]);
  sample.pcie_fatal = value_of(values[5]);
  sample.recovery_action = value_of(values[6]);
  for (std::size_t i = 0; i < sample.links.size(); ++i) {
    sample.links[i].recovery_failed = value_of(values[first_link + 2 * i]);
    sample.links[i].symbol_errors = value_of(values[first_link + 2 * i + 1]);
  }
}

// Four calls per link are dear: they are made when the totals have grown, to say which link it is.
void read_link_errors(const NvmlLibrary& nvml, Reader& reader, std::vector<std::uint64_t>& totals,
                      GpuSample& sample) {
  std::vector<std::uint64_t> now = {sample.nvlink_crc.value_or(0), sample.nvlink_replay.value_or(0),
                                    sample.nvlink_recovery.value_or(0)};
  std::swap(now, totals);
  if (now.empty() || now == totals) return;
  for (auto& link : sample.links) {
    const auto number = static_cast<unsigned>(link.link);
    unsigned long long count = 0;
    if (reader.call(nvml.link_errors, number, ACRF_NVML_LINK_REPLAY, &count)) link.replay = count;
    if (reader.call(nvml.link_errors, number, ACRF_NVML_LINK_RECOVERY, &count))
      link.recovery = count;
    for (const auto kind : {ACRF_NVML_LINK_CRC_FLIT, ACRF_NVML_LINK_CRC_DATA})
      if (reader.call(nvml.link_errors, number, kind, &count))
        link.crc = link.crc.value_or(0) + count;
  }
}

void take_health_mask(unsigned mask, GpuSample& sample) {
  // Two bits each: 0 unknown, 1 true, 2 false. Bandwidth, route recovery, route health, access.
  bool known = false;
  bool degraded = false;
  for (const unsigned shift : {0u, 2u, 4u, 6u}) {
    const unsigned value = mask >> shift & 3;
    known = known || value != 0;
    degraded = degraded || value == 1;
  }
  if (known) sample.fabric_degraded = degraded ? 1 : 0;
}

void read_fabric(const NvmlLibrary& nvml, Reader& reader, GpuSample& sample) {
  acrf_nvml_fabric_info_v2 newer = {};
  newer.version = sizeof newer | 2u << 24;
  acrf_nvml_fabric_info older = {};
  if (reader.call(nvml.fabric_v, &newer)) {
    older.state = newer.state;
    older.status = newer.status;
    take_health_mask(newer.health_mask, sample);
  } else if (!reader.call(nvml.fabric, &older)) {
    return;
  }
  if (older.state == 0) return;  // not a part of a fabric
  sample.fabric_state = older.state;
  sample.fabric_status = static_cast<unsigned>(older.status);
}

}  // namespace

void read_nvml_limits(const NvmlLibrary& nvml, acrf_nvml_device_t gpu, GpuSample& sample) {
  Reader reader(gpu);
  const auto threshold = [&](acrf_nvml_temperature_threshold which) {
    unsigned celsius = 0;
    return reader.call(nvml.temperature_threshold, which, &celsius) ? Reading(celsius)
                                                                    : std::nullopt;
  };
  sample.shutdown_c = threshold(ACRF_NVML_THRESHOLD_SHUTDOWN);
  sample.slowdown_c = threshold(ACRF_NVML_THRESHOLD_SLOWDOWN);
  sample.memory_max_c = threshold(ACRF_NVML_THRESHOLD_MEMORY_MAX);
  sample.pcie_generation_max = reader.number(nvml.pcie_generation_max);
  sample.pcie_width_max = reader.number(nvml.pcie_width_max);
}

acrf_nvml_return read_nvml(const NvmlLibrary& nvml, acrf_nvml_device_t gpu, NvmlLinkMemory& links,
                           GpuSample& sample) {
  Reader reader(gpu);
  read_heat_and_power(nvml, reader, sample);
  read_error_counts(nvml, reader, sample);
  read_spares(nvml, reader, sample);
  read_pcie(nvml, reader, sample);
  read_link_states(nvml, reader, links.links, sample);
  if (!sample.links.empty()) links.links = sample.links;
  read_fields(nvml, reader, sample);
  read_link_errors(nvml, reader, links.totals, sample);
  read_fabric(nvml, reader, sample);
  sample.persistence = reader.state(nvml.persistence);
  return reader.code();
}

}  // namespace acrf
