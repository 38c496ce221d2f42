/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of NVML's binary interface that ACRF uses, declared here because NVIDIA's header is not
 * free software and the library is opened at run time. tests/unit/nvml_abi.cpp compares every
 * declaration with the vendor's nvml.h where configure finds one.
 */
#pragma once

extern "C" {

typedef struct acrf_nvml_device* acrf_nvml_device_t;

enum acrf_nvml_return : int {
  ACRF_NVML_SUCCESS = 0,
  ACRF_NVML_ERROR_UNINITIALIZED = 1,
  ACRF_NVML_ERROR_INVALID_ARGUMENT = 2,
  ACRF_NVML_ERROR_NOT_SUPPORTED = 3,
  ACRF_NVML_ERROR_INSUFFICIENT_SIZE = 7,
  ACRF_NVML_ERROR_DRIVER_NOT_LOADED = 9,
  ACRF_NVML_ERROR_TIMEOUT = 10,
  ACRF_NVML_ERROR_GPU_IS_LOST = 15,
  ACRF_NVML_ERROR_RESET_REQUIRED = 16,
  ACRF_NVML_ERROR_UNKNOWN = 999,
};

enum acrf_nvml_temperature_sensor : int { ACRF_NVML_TEMPERATURE_GPU = 0 };
enum acrf_nvml_temperature_threshold : int {
  ACRF_NVML_THRESHOLD_SHUTDOWN = 0,
  ACRF_NVML_THRESHOLD_SLOWDOWN = 1,
  ACRF_NVML_THRESHOLD_MEMORY_MAX = 2,
};
enum acrf_nvml_enable_state : int { ACRF_NVML_DISABLED = 0, ACRF_NVML_ENABLED = 1 };
enum acrf_nvml_error_type : int { ACRF_NVML_CORRECTED = 0, ACRF_NVML_UNCORRECTED = 1 };
enum acrf_nvml_counter_type : int { ACRF_NVML_VOLATILE = 0, ACRF_NVML_AGGREGATE = 1 };
enum acrf_nvml_memory_location : int { ACRF_NVML_DRAM = 2, ACRF_NVML_SRAM = 7 };
enum acrf_nvml_retirement_cause : int {
  ACRF_NVML_RETIRED_SINGLE_BIT = 0,
  ACRF_NVML_RETIRED_DOUBLE_BIT = 1,
};
enum acrf_nvml_link_error : int {
  ACRF_NVML_LINK_REPLAY = 0,
  ACRF_NVML_LINK_RECOVERY = 1,
  ACRF_NVML_LINK_CRC_FLIT = 2,
  ACRF_NVML_LINK_CRC_DATA = 3,
};
enum acrf_nvml_value_type : int {
  ACRF_NVML_VALUE_DOUBLE = 0,
  ACRF_NVML_VALUE_UNSIGNED_INT = 1,
  ACRF_NVML_VALUE_UNSIGNED_LONG = 2,
  ACRF_NVML_VALUE_UNSIGNED_LONG_LONG = 3,
  ACRF_NVML_VALUE_SIGNED_LONG_LONG = 4,
  ACRF_NVML_VALUE_SIGNED_INT = 5,
};

// Field numbers of nvmlDeviceGetFieldValues.
enum acrf_nvml_field : unsigned {
  ACRF_NVML_FIELD_CRC_FLIT_TOTAL = 38,
  ACRF_NVML_FIELD_CRC_DATA_TOTAL = 45,
  ACRF_NVML_FIELD_REPLAY_TOTAL = 52,
  ACRF_NVML_FIELD_RECOVERY_TOTAL = 59,
  ACRF_NVML_FIELD_MEMORY_TEMPERATURE = 82,
  ACRF_NVML_FIELD_PCIE_FATAL = 180,
  ACRF_NVML_FIELD_LINK_RECOVERY_FAILED = 214,  // scope: the link
  ACRF_NVML_FIELD_LINK_SYMBOL_ERRORS = 221,    // scope: the link
  ACRF_NVML_FIELD_RECOVERY_ACTION = 230,
};

// Why the clocks are held down.
inline constexpr unsigned long long ACRF_NVML_CLOCKS_HW_SLOWDOWN = 0x08;
inline constexpr unsigned long long ACRF_NVML_CLOCKS_HW_THERMAL = 0x40;
inline constexpr unsigned long long ACRF_NVML_CLOCKS_HW_POWER_BRAKE = 0x80;

inline constexpr unsigned long long ACRF_NVML_EVENT_XID = 0x08;

struct acrf_nvml_pci_info {
  char bus_id_legacy[16];
  unsigned int domain;
  unsigned int bus;
  unsigned int device;
  unsigned int pci_device_id;
  unsigned int pci_subsystem_id;
  char bus_id[32];
};

struct acrf_nvml_utilization {
  unsigned int gpu;
  unsigned int memory;
};

struct acrf_nvml_row_histogram {
  unsigned int max;
  unsigned int high;
  unsigned int partial;
  unsigned int low;
  unsigned int none;
};

struct acrf_nvml_sram_status {
  unsigned int version;  // size | 1 << 24
  unsigned long long aggregate_uncorrected_parity;
  unsigned long long aggregate_uncorrected_secded;
  unsigned long long aggregate_corrected;
  unsigned long long volatile_uncorrected_parity;
  unsigned long long volatile_uncorrected_secded;
  unsigned long long volatile_corrected;
  unsigned long long bucket_l2;
  unsigned long long bucket_sm;
  unsigned long long bucket_pcie;
  unsigned long long bucket_mcu;
  unsigned long long bucket_other;
  unsigned int threshold_exceeded;
};

union acrf_nvml_value {
  double real;
  int signed_int;
  unsigned int unsigned_int;
  unsigned long unsigned_long;
  unsigned long long unsigned_long_long;
  signed long long signed_long_long;
};

struct acrf_nvml_field_value {
  unsigned int field;
  unsigned int scope;
  long long timestamp_us;
  long long latency_us;
  acrf_nvml_value_type type;
  acrf_nvml_return code;
  acrf_nvml_value value;
};

struct acrf_nvml_fabric_info {
  unsigned char cluster_uuid[16];
  acrf_nvml_return status;
  unsigned int clique;
  unsigned char state;
};

struct acrf_nvml_fabric_info_v2 {
  unsigned int version;  // size | 2 << 24
  unsigned char cluster_uuid[16];
  acrf_nvml_return status;
  unsigned int clique;
  unsigned char state;
  unsigned int health_mask;
};

typedef struct acrf_nvml_event_set* acrf_nvml_event_set_t;

struct acrf_nvml_event {
  acrf_nvml_device_t device;
  unsigned long long type;
  unsigned long long data;
  unsigned int gpu_instance;
  unsigned int compute_instance;
};

typedef acrf_nvml_return acrf_nvml_init(void);
typedef acrf_nvml_return acrf_nvml_shutdown(void);
typedef const char* acrf_nvml_error_string(acrf_nvml_return);
typedef acrf_nvml_return acrf_nvml_driver_version(char* text, unsigned int length);
typedef acrf_nvml_return acrf_nvml_count(unsigned int* count);
typedef acrf_nvml_return acrf_nvml_handle_by_index(unsigned int index, acrf_nvml_device_t* device);
typedef acrf_nvml_return acrf_nvml_device_text(acrf_nvml_device_t device, char* text,
                                               unsigned int length);
typedef acrf_nvml_return acrf_nvml_device_pci(acrf_nvml_device_t device, acrf_nvml_pci_info* pci);
typedef acrf_nvml_return acrf_nvml_device_temperature(acrf_nvml_device_t device,
                                                      acrf_nvml_temperature_sensor sensor,
                                                      unsigned int* celsius);
typedef acrf_nvml_return acrf_nvml_device_power(acrf_nvml_device_t device,
                                                unsigned int* milliwatts);
typedef acrf_nvml_return acrf_nvml_device_number(acrf_nvml_device_t device, unsigned int* value);
typedef acrf_nvml_return acrf_nvml_device_mask(acrf_nvml_device_t device,
                                               unsigned long long* value);
typedef acrf_nvml_return acrf_nvml_device_threshold(acrf_nvml_device_t device,
                                                    acrf_nvml_temperature_threshold which,
                                                    unsigned int* celsius);
typedef acrf_nvml_return acrf_nvml_device_state(acrf_nvml_device_t device,
                                                acrf_nvml_enable_state* state);
typedef acrf_nvml_return acrf_nvml_device_utilization(acrf_nvml_device_t device,
                                                      acrf_nvml_utilization* utilization);
typedef acrf_nvml_return acrf_nvml_device_memory_errors(acrf_nvml_device_t device,
                                                        acrf_nvml_error_type type,
                                                        acrf_nvml_counter_type counter,
                                                        acrf_nvml_memory_location location,
                                                        unsigned long long* count);
typedef acrf_nvml_return acrf_nvml_device_sram_status(acrf_nvml_device_t device,
                                                      acrf_nvml_sram_status* status);
typedef acrf_nvml_return acrf_nvml_device_remapped_rows(acrf_nvml_device_t device,
                                                        unsigned int* corrected,
                                                        unsigned int* uncorrected,
                                                        unsigned int* pending,
                                                        unsigned int* failure);
typedef acrf_nvml_return acrf_nvml_device_row_histogram(acrf_nvml_device_t device,
                                                        acrf_nvml_row_histogram* histogram);
typedef acrf_nvml_return acrf_nvml_device_retired_pages(acrf_nvml_device_t device,
                                                        acrf_nvml_retirement_cause cause,
                                                        unsigned int* count,
                                                        unsigned long long* addresses);
typedef acrf_nvml_return acrf_nvml_device_link_state(acrf_nvml_device_t device, unsigned int link,
                                                     acrf_nvml_enable_state* state);
typedef acrf_nvml_return acrf_nvml_device_link_remote(acrf_nvml_device_t device, unsigned int link,
                                                      acrf_nvml_pci_info* pci);
typedef acrf_nvml_return acrf_nvml_device_link_errors(acrf_nvml_device_t device, unsigned int link,
                                                      acrf_nvml_link_error which,
                                                      unsigned long long* count);
typedef acrf_nvml_return acrf_nvml_device_fields(acrf_nvml_device_t device, int count,
                                                 acrf_nvml_field_value* values);
typedef acrf_nvml_return acrf_nvml_device_fabric(acrf_nvml_device_t device,
                                                 acrf_nvml_fabric_info* info);
typedef acrf_nvml_return acrf_nvml_device_fabric_v(acrf_nvml_device_t device,
                                                   acrf_nvml_fabric_info_v2* info);
typedef acrf_nvml_return acrf_nvml_device_mig(acrf_nvml_device_t device, unsigned int* current,
                                              unsigned int* pending);
typedef acrf_nvml_return acrf_nvml_event_set_create(acrf_nvml_event_set_t* set);
typedef acrf_nvml_return acrf_nvml_register_events(acrf_nvml_device_t device,
                                                   unsigned long long types,
                                                   acrf_nvml_event_set_t set);
typedef acrf_nvml_return acrf_nvml_event_set_wait(acrf_nvml_event_set_t set, acrf_nvml_event* event,
                                                  unsigned int timeout_ms);
}
