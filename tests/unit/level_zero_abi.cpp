// SPDX-License-Identifier: GPL-2.0-or-later
// Our declarations against the vendor's, at compile time, where configure found zes_api.h.
#include "common/level_zero_abi.h"
#include "acrf_config.h"

#ifdef HAVE_ZES_API_H
#include <level_zero/zes_api.h>

#include <cstddef>
#include <type_traits>

static_assert(unsigned{ACRF_ZE_DEVICE_LOST} == unsigned{ZE_RESULT_ERROR_DEVICE_LOST});
static_assert(unsigned{ACRF_ZE_UNSUPPORTED} == unsigned{ZE_RESULT_ERROR_UNSUPPORTED_FEATURE});
static_assert(unsigned{ACRF_ZES_DEVICE_PROPERTIES} ==
              unsigned{ZES_STRUCTURE_TYPE_DEVICE_PROPERTIES});
static_assert(unsigned{ACRF_ZES_PCI_PROPERTIES} == unsigned{ZES_STRUCTURE_TYPE_PCI_PROPERTIES});
static_assert(unsigned{ACRF_ZES_RAS_PROPERTIES} == unsigned{ZES_STRUCTURE_TYPE_RAS_PROPERTIES});
static_assert(unsigned{ACRF_ZES_TEMPERATURE_PROPERTIES} ==
              unsigned{ZES_STRUCTURE_TYPE_TEMP_PROPERTIES});
static_assert(unsigned{ACRF_ZES_DEVICE_STATE} == unsigned{ZES_STRUCTURE_TYPE_DEVICE_STATE});
static_assert(unsigned{ACRF_ZES_FREQUENCY_STATE} == unsigned{ZES_STRUCTURE_TYPE_FREQ_STATE});
static_assert(unsigned{ACRF_ZES_MEMORY_STATE} == unsigned{ZES_STRUCTURE_TYPE_MEM_STATE});
static_assert(unsigned{ACRF_ZES_RAS_STATE} == unsigned{ZES_STRUCTURE_TYPE_RAS_STATE});
static_assert(unsigned{ACRF_ZE_CORE_PROPERTIES} == unsigned{ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES});
static_assert(unsigned{ACRF_ZES_UNCORRECTABLE} == unsigned{ZES_RAS_ERROR_TYPE_UNCORRECTABLE});
static_assert(unsigned{ACRF_ZES_SENSOR_MEMORY} == unsigned{ZES_TEMP_SENSORS_MEMORY});
static_assert(ACRF_ZES_RAS_CATEGORIES == ZES_MAX_RAS_ERROR_CATEGORY_COUNT);
static_assert(ACRF_ZES_RESET_WEDGED == unsigned{ZES_RESET_REASON_FLAG_WEDGED});
static_assert(ACRF_ZES_RESET_REPAIR == unsigned{ZES_RESET_REASON_FLAG_REPAIR});
static_assert(ACRF_ZES_THROTTLE_THERMAL == unsigned{ZES_FREQ_THROTTLE_REASON_FLAG_THERMAL_LIMIT});
static_assert(ACRF_ZES_THROTTLE_POWER_SUPPLY == unsigned{ZES_FREQ_THROTTLE_REASON_FLAG_PSU_ALERT});
static_assert(ACRF_ZE_TYPE_GPU == unsigned{ZE_DEVICE_TYPE_GPU});
static_assert(sizeof(acrf_ze_core_properties) == sizeof(ze_device_properties_t));
static_assert(offsetof(acrf_ze_core_properties, uuid) == offsetof(ze_device_properties_t, uuid));
static_assert(sizeof(acrf_zes_device_properties) == sizeof(zes_device_properties_t));
static_assert(offsetof(acrf_zes_device_properties, serial) ==
              offsetof(zes_device_properties_t, serialNumber));
static_assert(sizeof(acrf_zes_pci_properties) == sizeof(zes_pci_properties_t));
static_assert(offsetof(acrf_zes_pci_properties, have_replays) ==
              offsetof(zes_pci_properties_t, haveReplayCounters));
static_assert(sizeof(acrf_zes_device_state) == sizeof(zes_device_state_t));
static_assert(sizeof(acrf_zes_ras_properties) == sizeof(zes_ras_properties_t));
static_assert(sizeof(acrf_zes_ras_state) == sizeof(zes_ras_state_t));
static_assert(sizeof(acrf_zes_temperature_properties) == sizeof(zes_temp_properties_t));
static_assert(offsetof(acrf_zes_temperature_properties, max_c) ==
              offsetof(zes_temp_properties_t, maxTemperature));
static_assert(sizeof(acrf_zes_frequency_state) == sizeof(zes_freq_state_t));
static_assert(offsetof(acrf_zes_frequency_state, throttle_reasons) ==
              offsetof(zes_freq_state_t, throttleReasons));
static_assert(sizeof(acrf_zes_memory_state) == sizeof(zes_mem_state_t));
static_assert(std::is_same_v<decltype(zesRasGetState),
                             ze_result_t(zes_ras_handle_t, ze_bool_t, zes_ras_state_t*)>);
static_assert(sizeof(ze_bool_t) == 1);
#endif
