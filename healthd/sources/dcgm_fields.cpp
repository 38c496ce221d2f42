// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/dcgm_fields.h"

namespace acrf {
namespace {

constexpr unsigned short kFields[] = {
    ACRF_DCGM_FIELD_FABRIC_MANAGER,  ACRF_DCGM_FIELD_NVLINK_CRC_FLIT,
    ACRF_DCGM_FIELD_NVLINK_CRC_DATA, ACRF_DCGM_FIELD_NVLINK_REPLAY,
    ACRF_DCGM_FIELD_NVLINK_RECOVERY, ACRF_DCGM_FIELD_NVLINK5_RECOVERY};

Reading reading_of(const acrf_dcgm_field_value& value) {
  const auto number = value.value.integer;
  if (value.status != 0 || value.type != ACRF_DCGM_TYPE_INTEGER) return std::nullopt;
  if (number < 0 || number >= ACRF_DCGM_BLANK) return std::nullopt;
  return static_cast<std::uint64_t>(number);
}

void add(Reading more, Reading& sum) {
  if (more) sum = sum.value_or(0) + *more;
}

// In NVML's numbers, where a registration that failed has been completed too. States that DCGM does
// not understand itself are unknown.
void take_fabric(std::uint64_t status, GpuSample& sample) {
  switch (status) {
    case ACRF_DCGM_FABRIC_NOT_STARTED:
    case ACRF_DCGM_FABRIC_IN_PROGRESS: sample.fabric_state = status; break;
    case ACRF_DCGM_FABRIC_SUCCESS:
    case ACRF_DCGM_FABRIC_FAILURE:
      sample.fabric_state = ACRF_DCGM_FABRIC_SUCCESS;
      sample.fabric_status = status == ACRF_DCGM_FABRIC_FAILURE ? 1 : 0;
      break;
    default: break;
  }
}

}  // namespace

DcgmFields::Values DcgmFields::ask(acrf_dcgm_handle_t handle, unsigned gpu,
                                   std::vector<unsigned short> fields) const {
  acrf_dcgm_entity entity = {ACRF_DCGM_ENTITY_GPU, gpu};
  Values values(fields.size());
  for (auto& value : values) value.version = ACRF_DCGM_VERSION(acrf_dcgm_field_value, 2);
  if (dcgm_.latest_values(handle, &entity, 1, fields.data(), static_cast<unsigned>(fields.size()),
                          ACRF_DCGM_LIVE_DATA, values.data()) != 0)
    values.clear();
  return values;
}

void DcgmFields::learn(acrf_dcgm_handle_t handle, unsigned gpu) {
  known_.clear();
  for (const auto field : kFields)
    if (!ask(handle, gpu, {field}).empty()) known_.push_back(field);
}

void DcgmFields::read(acrf_dcgm_handle_t handle, GpuSample& sample) const {
  if (known_.empty()) return;
  const auto values = ask(handle, static_cast<unsigned>(sample.index), known_);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto reading = reading_of(values[i]);
    if (!reading) continue;
    switch (known_[i]) {
      case ACRF_DCGM_FIELD_FABRIC_MANAGER: take_fabric(*reading, sample); break;
      case ACRF_DCGM_FIELD_NVLINK_CRC_FLIT:
      case ACRF_DCGM_FIELD_NVLINK_CRC_DATA: add(reading, sample.nvlink_crc); break;
      case ACRF_DCGM_FIELD_NVLINK_REPLAY: sample.nvlink_replay = reading; break;
      case ACRF_DCGM_FIELD_NVLINK_RECOVERY:
      case ACRF_DCGM_FIELD_NVLINK5_RECOVERY: add(reading, sample.nvlink_recovery); break;
      default: break;
    }
  }
}

}  // namespace acrf
