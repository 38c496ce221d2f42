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
#else
// Without it, at least the size that NVML has documented since version 3 of this structure.
static_assert(sizeof(acrf_nvml_pci_info) == 68);
#endif
