// SPDX-License-Identifier: GPL-2.0-or-later
// Our declarations against the vendor's, at compile time, where configure found dcgm_structs.h.
#include "common/dcgm_abi.h"

#include <cstddef>

#include "acrf_config.h"

#ifdef HAVE_DCGM_STRUCTS_H
#include <dcgm_fields.h>
#include <dcgm_structs.h>

static_assert(sizeof(acrf_dcgm_connect_params) == sizeof(dcgmConnectV2Params_v2));
static_assert(sizeof(acrf_dcgm_entity) == sizeof(dcgmGroupEntityPair_t));
static_assert(sizeof(acrf_dcgm_field_value) == sizeof(dcgmFieldValue_v2));
static_assert(offsetof(acrf_dcgm_field_value, value) == offsetof(dcgmFieldValue_v2, value));
static_assert(sizeof(acrf_dcgm_health_params) == sizeof(dcgmHealthSetParams_v2));
static_assert(sizeof(acrf_dcgm_incident) == sizeof(dcgmIncidentInfo_t));
static_assert(offsetof(acrf_dcgm_incident, entity) == offsetof(dcgmIncidentInfo_t, entityInfo));
#ifdef dcgmHealthResponse_version5
static_assert(ACRF_DCGM_VERSION(acrf_dcgm_health_v5, 5) == dcgmHealthResponse_version5);
#endif
#ifdef dcgmHealthResponse_version4
static_assert(ACRF_DCGM_VERSION(acrf_dcgm_health_v4, 4) == dcgmHealthResponse_version4);
#endif
static_assert(ACRF_DCGM_ENTITY_GPU == DCGM_FE_GPU);
static_assert(ACRF_DCGM_MODE_AUTO == DCGM_OPERATION_MODE_AUTO);
static_assert(ACRF_DCGM_MAX_GPUS == DCGM_MAX_NUM_DEVICES);
static_assert(ACRF_DCGM_RESULT_FAIL == DCGM_HEALTH_RESULT_FAIL);
static_assert(ACRF_DCGM_ALL_GPUS == DCGM_GROUP_ALL_GPUS);
static_assert(ACRF_DCGM_FIELD_SERIAL == DCGM_FI_DEV_SERIAL);
static_assert(ACRF_DCGM_FIELD_UUID == DCGM_FI_DEV_UUID);
static_assert(ACRF_DCGM_FIELD_PCI_BUS_ID == DCGM_FI_DEV_PCI_BUSID);
static_assert(ACRF_DCGM_FIELD_FABRIC_MANAGER == DCGM_FI_DEV_FABRIC_MANAGER_STATUS);
static_assert(ACRF_DCGM_FABRIC_SUCCESS == static_cast<int>(DcgmFMStatusSuccess));
static_assert(ACRF_DCGM_FABRIC_FAILURE == static_cast<int>(DcgmFMStatusFailure));
static_assert(ACRF_DCGM_FIELD_NVLINK_CRC_FLIT == DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL);
static_assert(ACRF_DCGM_FIELD_NVLINK_CRC_DATA == DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL);
static_assert(ACRF_DCGM_FIELD_NVLINK_REPLAY == DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL);
static_assert(ACRF_DCGM_FIELD_NVLINK_RECOVERY == DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL);
#ifdef DCGM_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS
static_assert(ACRF_DCGM_FIELD_NVLINK5_RECOVERY == DCGM_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS);
#endif
static_assert(ACRF_DCGM_TYPE_INTEGER == DCGM_FT_INT64 && ACRF_DCGM_BLANK == DCGM_INT64_BLANK);
static_assert(ACRF_DCGM_VERSION(acrf_dcgm_policy, 1) == dcgmPolicy_version1);
static_assert(offsetof(acrf_dcgm_policy, parameters) == offsetof(dcgmPolicy_v1, parms));
static_assert(ACRF_DCGM_POLICY_CONDITIONS == DCGM_POLICY_COND_MAX);
static_assert(ACRF_DCGM_POLICY_NVLINK == DCGM_POLICY_COND_NVLINK);
static_assert(ACRF_DCGM_POLICY_MANUAL == DCGM_POLICY_MODE_MANUAL);
static_assert(ACRF_DCGM_EMPTY_GROUP == DCGM_GROUP_EMPTY);
#ifdef dcgmPolicyCallbackResponse_version2
static_assert(ACRF_DCGM_VERSION(acrf_dcgm_violation, 2) == dcgmPolicyCallbackResponse_version2);
static_assert(offsetof(acrf_dcgm_violation, gpu) == offsetof(dcgmPolicyCallbackResponse_v2, gpuId));
#endif
#else
// Without it, at least the sizes that NVIDIA's published headers give.
static_assert(sizeof(acrf_dcgm_incident) == 1044);
static_assert(sizeof(acrf_dcgm_field_value) == 4128);
static_assert(sizeof(acrf_dcgm_health_params) == 40);
static_assert(offsetof(acrf_dcgm_health_v5, incidents) == 12);
static_assert(sizeof(acrf_dcgm_policy) == 144 && offsetof(acrf_dcgm_policy, parameters) == 32);
static_assert(sizeof(acrf_dcgm_violation) == 32 && offsetof(acrf_dcgm_violation, gpu) == 24);
#endif
