// SPDX-License-Identifier: GPL-2.0-or-later
// Our declarations against the vendor's, at compile time, where configure found nvml.h.
#include "common/nvml_abi.h"
#include "acrf_config.h"

#ifdef HAVE_NVML_H
#include <nvml.h>

#include <cstddef>

static_assert(sizeof(acrf_nvml_pci_info) == sizeof(nvmlPciInfo_t));
static_assert(offsetof(acrf_nvml_pci_info, domain) == offsetof(nvmlPciInfo_t, domain));
static_assert(offsetof(acrf_nvml_pci_info, bus) == offsetof(nvmlPciInfo_t, bus));
static_assert(offsetof(acrf_nvml_pci_info, device) == offsetof(nvmlPciInfo_t, device));
static_assert(offsetof(acrf_nvml_pci_info, bus_id) == offsetof(nvmlPciInfo_t, busId));
static_assert(sizeof(acrf_nvml_return) == sizeof(nvmlReturn_t));
static_assert(int{ACRF_NVML_SUCCESS} == int{NVML_SUCCESS});
static_assert(int{ACRF_NVML_ERROR_UNINITIALIZED} == int{NVML_ERROR_UNINITIALIZED});
static_assert(int{ACRF_NVML_ERROR_INVALID_ARGUMENT} == int{NVML_ERROR_INVALID_ARGUMENT});
static_assert(int{ACRF_NVML_ERROR_NOT_SUPPORTED} == int{NVML_ERROR_NOT_SUPPORTED});
static_assert(int{ACRF_NVML_ERROR_INSUFFICIENT_SIZE} == int{NVML_ERROR_INSUFFICIENT_SIZE});
static_assert(int{ACRF_NVML_ERROR_DRIVER_NOT_LOADED} == int{NVML_ERROR_DRIVER_NOT_LOADED});
static_assert(int{ACRF_NVML_ERROR_GPU_IS_LOST} == int{NVML_ERROR_GPU_IS_LOST});
static_assert(int{ACRF_NVML_ERROR_UNKNOWN} == int{NVML_ERROR_UNKNOWN});
static_assert(int{ACRF_NVML_TEMPERATURE_GPU} == int{NVML_TEMPERATURE_GPU});
static_assert(int{ACRF_NVML_ERROR_TIMEOUT} == int{NVML_ERROR_TIMEOUT});
static_assert(int{ACRF_NVML_ERROR_RESET_REQUIRED} == int{NVML_ERROR_RESET_REQUIRED});
static_assert(int{ACRF_NVML_THRESHOLD_SHUTDOWN} == int{NVML_TEMPERATURE_THRESHOLD_SHUTDOWN});
static_assert(int{ACRF_NVML_THRESHOLD_SLOWDOWN} == int{NVML_TEMPERATURE_THRESHOLD_SLOWDOWN});
static_assert(int{ACRF_NVML_THRESHOLD_MEMORY_MAX} == int{NVML_TEMPERATURE_THRESHOLD_MEM_MAX});
static_assert(int{ACRF_NVML_ENABLED} == int{NVML_FEATURE_ENABLED});
static_assert(int{ACRF_NVML_UNCORRECTED} == int{NVML_MEMORY_ERROR_TYPE_UNCORRECTED});
static_assert(int{ACRF_NVML_AGGREGATE} == int{NVML_AGGREGATE_ECC});
static_assert(int{ACRF_NVML_DRAM} == int{NVML_MEMORY_LOCATION_DRAM});
static_assert(int{ACRF_NVML_SRAM} == int{NVML_MEMORY_LOCATION_SRAM});
static_assert(int{ACRF_NVML_RETIRED_DOUBLE_BIT} ==
              int{NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR});
static_assert(int{ACRF_NVML_LINK_REPLAY} == int{NVML_NVLINK_ERROR_DL_REPLAY});
static_assert(int{ACRF_NVML_LINK_RECOVERY} == int{NVML_NVLINK_ERROR_DL_RECOVERY});
static_assert(int{ACRF_NVML_LINK_CRC_FLIT} == int{NVML_NVLINK_ERROR_DL_CRC_FLIT});
static_assert(int{ACRF_NVML_LINK_CRC_DATA} == int{NVML_NVLINK_ERROR_DL_CRC_DATA});
static_assert(int{ACRF_NVML_VALUE_SIGNED_LONG_LONG} == int{NVML_VALUE_TYPE_SIGNED_LONG_LONG});
static_assert(ACRF_NVML_FIELD_CRC_FLIT_TOTAL == NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL);
static_assert(ACRF_NVML_FIELD_CRC_DATA_TOTAL == NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL);
static_assert(ACRF_NVML_FIELD_REPLAY_TOTAL == NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL);
static_assert(ACRF_NVML_FIELD_RECOVERY_TOTAL == NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL);
static_assert(ACRF_NVML_FIELD_MEMORY_TEMPERATURE == NVML_FI_DEV_MEMORY_TEMP);
// Newer than some headers that are still in use.
#ifdef NVML_FI_DEV_PCIE_COUNT_FATAL_ERROR
static_assert(ACRF_NVML_FIELD_PCIE_FATAL == NVML_FI_DEV_PCIE_COUNT_FATAL_ERROR);
#endif
#ifdef NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_FAILED_EVENTS
static_assert(ACRF_NVML_FIELD_LINK_RECOVERY_FAILED ==
              NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_FAILED_EVENTS);
static_assert(ACRF_NVML_FIELD_LINK_SYMBOL_ERRORS == NVML_FI_DEV_NVLINK_COUNT_SYMBOL_ERRORS);
#endif
#ifdef NVML_FI_DEV_GET_GPU_RECOVERY_ACTION
static_assert(ACRF_NVML_FIELD_RECOVERY_ACTION == NVML_FI_DEV_GET_GPU_RECOVERY_ACTION);
static_assert(sizeof(acrf_nvml_sram_status) == sizeof(nvmlEccSramErrorStatus_v1_t));
static_assert(offsetof(acrf_nvml_sram_status, threshold_exceeded) ==
              offsetof(nvmlEccSramErrorStatus_v1_t, bThresholdExceeded));
static_assert(sizeof(acrf_nvml_fabric_info_v2) == sizeof(nvmlGpuFabricInfo_v2_t));
static_assert(offsetof(acrf_nvml_fabric_info_v2, health_mask) ==
              offsetof(nvmlGpuFabricInfo_v2_t, healthMask));
#endif
static_assert(sizeof(acrf_nvml_field_value) == sizeof(nvmlFieldValue_t));
static_assert(offsetof(acrf_nvml_field_value, code) == offsetof(nvmlFieldValue_t, nvmlReturn));
static_assert(offsetof(acrf_nvml_field_value, value) == offsetof(nvmlFieldValue_t, value));
static_assert(sizeof(acrf_nvml_row_histogram) == sizeof(nvmlRowRemapperHistogramValues_t));
static_assert(sizeof(acrf_nvml_utilization) == sizeof(nvmlUtilization_t));
static_assert(sizeof(acrf_nvml_event) == sizeof(nvmlEventData_t));
static_assert(offsetof(acrf_nvml_event, data) == offsetof(nvmlEventData_t, eventData));
static_assert(ACRF_NVML_EVENT_XID == nvmlEventTypeXidCriticalError);
static_assert(ACRF_NVML_CLOCKS_HW_SLOWDOWN == nvmlClocksThrottleReasonHwSlowdown);
static_assert(ACRF_NVML_CLOCKS_HW_THERMAL == nvmlClocksThrottleReasonHwThermalSlowdown);
static_assert(ACRF_NVML_CLOCKS_HW_POWER_BRAKE == nvmlClocksThrottleReasonHwPowerBrakeSlowdown);
#else
// Without it, at least the sizes that NVML has documented.
static_assert(sizeof(acrf_nvml_pci_info) == 68);
static_assert(sizeof(acrf_nvml_field_value) == 40);
static_assert(sizeof(acrf_nvml_sram_status) == 104);
static_assert(sizeof(acrf_nvml_fabric_info) == 28);
static_assert(sizeof(acrf_nvml_fabric_info_v2) == 36);
static_assert(sizeof(acrf_nvml_event) == 32);
#endif
