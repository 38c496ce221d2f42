/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of DCGM's binary interface that ACRF uses, of DCGM 3 and 4; the library is opened at run
 * time. tests/unit/dcgm_abi.cpp compares every declaration with NVIDIA's header where configure
 * finds one.
 */
#pragma once

#include <stdint.h>

extern "C" {

typedef uintptr_t acrf_dcgm_handle_t;
typedef uintptr_t acrf_dcgm_group_t;
typedef int acrf_dcgm_return; /* 0 or a negative code */

#define ACRF_DCGM_ALL_GPUS 0x7fffffffu
#define ACRF_DCGM_ENTITY_GPU 1u
#define ACRF_DCGM_MODE_AUTO 1u
#define ACRF_DCGM_LIVE_DATA 1u
#define ACRF_DCGM_MAX_GPUS 32
#define ACRF_DCGM_RESULT_WARN 10u
#define ACRF_DCGM_RESULT_FAIL 20u

/* Every structure opens with its size and version. */
#define ACRF_DCGM_VERSION(type, number) static_cast<unsigned>(sizeof(type) | (number) << 24)

enum acrf_dcgm_field : unsigned short {
  ACRF_DCGM_FIELD_NAME = 50,
  ACRF_DCGM_FIELD_SERIAL = 53,
  ACRF_DCGM_FIELD_UUID = 54,
  ACRF_DCGM_FIELD_PCI_BUS_ID = 57,
  // Whole numbers. What this GPU or driver does not tell is blank.
  ACRF_DCGM_FIELD_FABRIC_MANAGER = 170,
  // Sums over all links. NVLink 5 has the last in place of the others; DCGM 3 does not know it.
  ACRF_DCGM_FIELD_NVLINK_CRC_FLIT = 409,
  ACRF_DCGM_FIELD_NVLINK_CRC_DATA = 419,
  ACRF_DCGM_FIELD_NVLINK_REPLAY = 429,
  ACRF_DCGM_FIELD_NVLINK_RECOVERY = 439,
  ACRF_DCGM_FIELD_NVLINK5_RECOVERY = 1213,
};

#define ACRF_DCGM_TYPE_INTEGER 'i'
/* From here on a whole number is no reading but the reason why there is none. */
#define ACRF_DCGM_BLANK INT64_C(0x7ffffffffffffff0)

enum acrf_dcgm_fabric_manager : int {
  ACRF_DCGM_FABRIC_NOT_STARTED = 1,
  ACRF_DCGM_FABRIC_IN_PROGRESS = 2,
  ACRF_DCGM_FABRIC_SUCCESS = 3,
  ACRF_DCGM_FABRIC_FAILURE = 4,
};

struct acrf_dcgm_connect_params { /* version 2 */
  unsigned version;
  unsigned persist_after_disconnect;
  unsigned timeout_ms;
  unsigned address_is_socket;
};

struct acrf_dcgm_entity {
  unsigned group;
  unsigned id;
};

struct acrf_dcgm_field_value { /* version 2 */
  unsigned version;
  unsigned entity_group;
  unsigned entity;
  unsigned short field;
  unsigned short type;
  int status;
  unsigned unused;
  int64_t timestamp_us;
  union {
    int64_t integer;
    double real;
    char text[256];
    char blob[4096];
  } value;
};

struct acrf_dcgm_health_params { /* version 2 */
  unsigned version;
  acrf_dcgm_group_t group;
  unsigned systems;
  long long update_interval_us;
  double max_keep_age_s;
};

struct acrf_dcgm_incident {
  unsigned system;
  unsigned health;
  struct {
    char message[1024];
    unsigned code;
  } error;
  acrf_dcgm_entity entity;
};

/* Version 4 has room for 64 incidents, version 5, of DCGM 4, for 1024. */
struct acrf_dcgm_health_v4 {
  unsigned version;
  unsigned overall;
  unsigned count;
  acrf_dcgm_incident incidents[64];
};
struct acrf_dcgm_health_v5 {
  unsigned version;
  unsigned overall;
  unsigned count;
  acrf_dcgm_incident incidents[1024];
};

/* What a policy may watch; each has its own place among the parameters. */
enum acrf_dcgm_condition : unsigned {
  ACRF_DCGM_POLICY_DBE = 0x01,
  ACRF_DCGM_POLICY_PCI = 0x02,
  ACRF_DCGM_POLICY_PAGES = 0x04,
  ACRF_DCGM_POLICY_THERMAL = 0x08,
  ACRF_DCGM_POLICY_POWER = 0x10,
  ACRF_DCGM_POLICY_NVLINK = 0x20,
  ACRF_DCGM_POLICY_XID = 0x40,
};
#define ACRF_DCGM_POLICY_CONDITIONS 7

struct acrf_dcgm_policy_parameter {
  enum : int { ACRF_DCGM_BOOLEAN, ACRF_DCGM_NUMBER } kind;
  union {
    unsigned boolean;
    unsigned long long number;
  } value;
};

struct acrf_dcgm_policy { /* version 1 */
  unsigned version;
  unsigned conditions;
  int mode;
  int isolation;
  int action;
  int validation;
  int response;
  acrf_dcgm_policy_parameter parameters[ACRF_DCGM_POLICY_CONDITIONS];
};
#define ACRF_DCGM_POLICY_MANUAL 1

union acrf_dcgm_violation_detail {
  struct {
    int location;
    unsigned errors;
  } dbe;
  struct {
    unsigned single_bit;
    unsigned double_bit;
  } pages;
  struct {
    unsigned short field;
    unsigned counter;
  } nvlink;
  unsigned number; /* PCI replays, degrees, watts, Xid */
};

/* Version 1 ends before `gpu`. */
struct acrf_dcgm_violation { /* version 2 */
  unsigned version;
  unsigned condition;
  long long timestamp_us;
  acrf_dcgm_violation_detail detail;
  unsigned gpu;
};

typedef uintptr_t acrf_dcgm_status_t;
#define ACRF_DCGM_EMPTY_GROUP 1

typedef acrf_dcgm_return acrf_dcgm_group_create(acrf_dcgm_handle_t handle, int type,
                                                const char* name, acrf_dcgm_group_t* group);
typedef acrf_dcgm_return acrf_dcgm_group_add(acrf_dcgm_handle_t handle, acrf_dcgm_group_t group,
                                             unsigned entity_group, unsigned entity);
typedef acrf_dcgm_return acrf_dcgm_policy_get(acrf_dcgm_handle_t handle, acrf_dcgm_group_t group,
                                              int count, acrf_dcgm_policy* policies,
                                              acrf_dcgm_status_t status);
typedef acrf_dcgm_return acrf_dcgm_policy_set(acrf_dcgm_handle_t handle, acrf_dcgm_group_t group,
                                              acrf_dcgm_policy* policy, acrf_dcgm_status_t status);
typedef int acrf_dcgm_violation_callback(acrf_dcgm_violation* violation, uint64_t user_data);
typedef acrf_dcgm_return acrf_dcgm_policy_register(acrf_dcgm_handle_t handle,
                                                   acrf_dcgm_group_t group, unsigned conditions,
                                                   acrf_dcgm_violation_callback* callback,
                                                   uint64_t user_data);

typedef acrf_dcgm_return acrf_dcgm_init(void);
typedef const char* acrf_dcgm_error_string(acrf_dcgm_return code);
typedef acrf_dcgm_return acrf_dcgm_connect(const char* address, acrf_dcgm_connect_params* params,
                                           acrf_dcgm_handle_t* handle);
typedef acrf_dcgm_return acrf_dcgm_start_embedded(unsigned mode, acrf_dcgm_handle_t* handle);
typedef acrf_dcgm_return acrf_dcgm_stop(acrf_dcgm_handle_t handle);
typedef acrf_dcgm_return acrf_dcgm_devices(acrf_dcgm_handle_t handle,
                                           unsigned gpus[ACRF_DCGM_MAX_GPUS], int* count);
typedef acrf_dcgm_return acrf_dcgm_latest_values(acrf_dcgm_handle_t handle,
                                                 acrf_dcgm_entity entities[], unsigned entity_count,
                                                 unsigned short fields[], unsigned field_count,
                                                 unsigned flags, acrf_dcgm_field_value values[]);
typedef acrf_dcgm_return acrf_dcgm_health_set(acrf_dcgm_handle_t handle,
                                              acrf_dcgm_health_params* params);
typedef acrf_dcgm_return acrf_dcgm_health_check(acrf_dcgm_handle_t handle, acrf_dcgm_group_t group,
                                                void* response);
}
