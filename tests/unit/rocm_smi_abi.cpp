// SPDX-License-Identifier: GPL-2.0-or-later
// Our declarations against the vendor's, at compile time, where configure found rocm_smi.h.
#include "common/rocm_smi_abi.h"
#include "acrf_config.h"

#ifdef HAVE_ROCM_SMI_H
#include <rocm_smi/rocm_smi.h>

#include <cstddef>
#include <type_traits>

static_assert(sizeof(acrf_rsmi_status) == sizeof(rsmi_status_t));
static_assert(unsigned{ACRF_RSMI_NOT_SUPPORTED} == unsigned{RSMI_STATUS_NOT_SUPPORTED});
static_assert(unsigned{ACRF_RSMI_INIT_ERROR} == unsigned{RSMI_STATUS_INIT_ERROR});
static_assert(unsigned{ACRF_RSMI_INSUFFICIENT_SIZE} == unsigned{RSMI_STATUS_INSUFFICIENT_SIZE});
static_assert(unsigned{ACRF_RSMI_TEMPERATURE_CRITICAL} == unsigned{RSMI_TEMP_CRITICAL});
static_assert(unsigned{ACRF_RSMI_JUNCTION} == unsigned{RSMI_TEMP_TYPE_JUNCTION});
static_assert(unsigned{ACRF_RSMI_MEMORY} == unsigned{RSMI_TEMP_TYPE_MEMORY});
static_assert(sizeof(acrf_rsmi_xgmi_status) == sizeof(rsmi_xgmi_status_t));
static_assert(unsigned{ACRF_RSMI_PAGE_PENDING} == unsigned{RSMI_MEM_PAGE_STATUS_PENDING});
static_assert(unsigned{ACRF_RSMI_PAGE_UNRESERVABLE} == unsigned{RSMI_MEM_PAGE_STATUS_UNRESERVABLE});
static_assert(sizeof(acrf_rsmi_page) == sizeof(rsmi_retired_page_record_t));
static_assert(offsetof(acrf_rsmi_page, status) == offsetof(rsmi_retired_page_record_t, status));
static_assert(sizeof(acrf_rsmi_error_count) >= sizeof(rsmi_error_count_t));
static_assert(offsetof(acrf_rsmi_error_count, uncorrected) ==
              offsetof(rsmi_error_count_t, uncorrectable_err));
static_assert(sizeof(acrf_rsmi_block) == sizeof(rsmi_gpu_block_t));
static_assert(RSMI_GPU_BLOCK_UMC == 1 && RSMI_GPU_BLOCK_FUSE == 1 << 13);
static_assert(
    std::is_same_v<decltype(rsmi_dev_serial_number_get), rsmi_status_t(uint32_t, char*, uint32_t)>);
static_assert(std::is_same_v<decltype(rsmi_dev_name_get), rsmi_status_t(uint32_t, char*, size_t)>);
static_assert(
    std::is_same_v<decltype(rsmi_dev_power_ave_get), rsmi_status_t(uint32_t, uint32_t, uint64_t*)>);
static_assert(std::is_same_v<decltype(rsmi_dev_pci_id_get), rsmi_status_t(uint32_t, uint64_t*)>);
#endif
