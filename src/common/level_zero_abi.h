/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of Level Zero's Sysman interface that ACRF uses; the loader is opened at run time.
 * tests/unit/level_zero_abi.cpp compares every declaration with the headers where configure finds
 * them.
 */
#pragma once

#include <stdint.h>

extern "C" {

typedef struct acrf_ze_driver* acrf_ze_driver_t;
typedef struct acrf_ze_device* acrf_ze_device_t;
typedef struct acrf_ze_part* acrf_ze_part_t; /* a sensor, an error set, a memory, a clock */

enum acrf_ze_result : uint32_t {
  ACRF_ZE_SUCCESS = 0,
  ACRF_ZE_DEVICE_LOST = 0x70000001,
  ACRF_ZE_UNINITIALIZED = 0x78000001,
  ACRF_ZE_UNSUPPORTED = 0x78000003,
};

enum acrf_zes_structure : uint32_t {
  ACRF_ZES_DEVICE_PROPERTIES = 0x1,
  ACRF_ZES_PCI_PROPERTIES = 0x2,
  ACRF_ZES_RAS_PROPERTIES = 0xf,
  ACRF_ZES_TEMPERATURE_PROPERTIES = 0x14,
  ACRF_ZES_DEVICE_STATE = 0x15,
  ACRF_ZES_FREQUENCY_STATE = 0x1b,
  ACRF_ZES_MEMORY_STATE = 0x1e,
  ACRF_ZES_RAS_STATE = 0x22,
};
enum acrf_ze_structure : uint32_t { ACRF_ZE_CORE_PROPERTIES = 0x3 };

enum acrf_zes_ras_type : uint32_t { ACRF_ZES_CORRECTABLE = 0, ACRF_ZES_UNCORRECTABLE = 1 };
enum acrf_zes_sensor : uint32_t {
  ACRF_ZES_SENSOR_GLOBAL = 0,
  ACRF_ZES_SENSOR_GPU = 1,
  ACRF_ZES_SENSOR_MEMORY = 2,
};

#define ACRF_ZES_RAS_CATEGORIES 7
#define ACRF_ZES_RESET_WEDGED 1u
#define ACRF_ZES_RESET_REPAIR 2u
#define ACRF_ZES_THROTTLE_THERMAL 8u
#define ACRF_ZES_THROTTLE_POWER_SUPPLY 16u
#define ACRF_ZE_TYPE_GPU 1u

struct acrf_ze_core_properties {
  acrf_ze_structure type;
  void* next;
  uint32_t device_type;
  uint32_t vendor;
  uint32_t device;
  uint32_t flags;
  uint32_t subdevice;
  uint32_t clock;
  uint64_t max_allocation;
  uint32_t contexts;
  uint32_t priorities;
  uint32_t threads_per_eu;
  uint32_t simd_width;
  uint32_t eus_per_subslice;
  uint32_t subslices_per_slice;
  uint32_t slices;
  uint64_t timer_resolution;
  uint32_t timestamp_bits;
  uint32_t kernel_timestamp_bits;
  uint8_t uuid[16];
  char name[256];
};

struct acrf_zes_device_properties {
  acrf_zes_structure type;
  void* next;
  acrf_ze_core_properties core;
  uint32_t subdevices;
  char serial[64];
  char board[64];
  char brand[64];
  char model[64];
  char vendor[64];
  char driver[64];
};

struct acrf_zes_pci_properties {
  acrf_zes_structure type;
  void* next;
  uint32_t domain;
  uint32_t bus;
  uint32_t device;
  uint32_t function;
  int32_t max_generation;
  int32_t max_width;
  int64_t max_bandwidth;
  uint8_t have_bandwidth;
  uint8_t have_packets;
  uint8_t have_replays;
};

struct acrf_zes_device_state {
  acrf_zes_structure type;
  const void* next;
  uint32_t reset;
  uint32_t repaired;
};

struct acrf_zes_ras_properties {
  acrf_zes_structure type;
  void* next;
  acrf_zes_ras_type kind;
  uint8_t on_subdevice;
  uint32_t subdevice;
};

struct acrf_zes_ras_state {
  acrf_zes_structure type;
  const void* next;
  uint64_t category[ACRF_ZES_RAS_CATEGORIES];
};

struct acrf_zes_temperature_properties {
  acrf_zes_structure type;
  void* next;
  acrf_zes_sensor sensor;
  uint8_t on_subdevice;
  uint32_t subdevice;
  double max_c;
  uint8_t critical_supported;
  uint8_t threshold1_supported;
  uint8_t threshold2_supported;
};

struct acrf_zes_frequency_state {
  acrf_zes_structure type;
  const void* next;
  double voltage;
  double request;
  double tdp;
  double efficient;
  double actual;
  uint32_t throttle_reasons;
};

struct acrf_zes_memory_state {
  acrf_zes_structure type;
  const void* next;
  uint32_t health;
  uint64_t free;
  uint64_t size;
};

typedef acrf_ze_result acrf_ze_init(uint32_t flags);
typedef acrf_ze_result acrf_ze_driver_get(uint32_t* count, acrf_ze_driver_t* drivers);
typedef acrf_ze_result acrf_ze_device_get(acrf_ze_driver_t driver, uint32_t* count,
                                          acrf_ze_device_t* devices);
typedef acrf_ze_result acrf_zes_get_properties(acrf_ze_device_t device,
                                               acrf_zes_device_properties* properties);
typedef acrf_ze_result acrf_zes_get_pci(acrf_ze_device_t device,
                                        acrf_zes_pci_properties* properties);
typedef acrf_ze_result acrf_zes_get_state(acrf_ze_device_t device, acrf_zes_device_state* state);
typedef acrf_ze_result acrf_zes_enumerate(acrf_ze_device_t device, uint32_t* count,
                                          acrf_ze_part_t* parts);
typedef acrf_ze_result acrf_zes_ras_get_properties(acrf_ze_part_t set,
                                                   acrf_zes_ras_properties* properties);
typedef acrf_ze_result acrf_zes_ras_get_state(acrf_ze_part_t set, uint8_t clear,
                                              acrf_zes_ras_state* state);
typedef acrf_ze_result acrf_zes_temperature_get_properties(
    acrf_ze_part_t sensor, acrf_zes_temperature_properties* properties);
typedef acrf_ze_result acrf_zes_temperature_get(acrf_ze_part_t sensor, double* celsius);
typedef acrf_ze_result acrf_zes_frequency_get(acrf_ze_part_t clock,
                                              acrf_zes_frequency_state* state);
typedef acrf_ze_result acrf_zes_memory_get(acrf_ze_part_t memory, acrf_zes_memory_state* state);
}
