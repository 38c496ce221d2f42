/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of ROCm SMI's binary interface that ACRF uses; the library is opened at run time.
 * tests/unit/rocm_smi_abi.cpp compares every declaration with AMD's header where configure finds
 * one.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

extern "C" {

enum acrf_rsmi_status : uint32_t {
  ACRF_RSMI_SUCCESS = 0,
  ACRF_RSMI_INVALID_ARGUMENTS = 1,
  ACRF_RSMI_NOT_SUPPORTED = 2,
  ACRF_RSMI_INIT_ERROR = 8,
  ACRF_RSMI_INSUFFICIENT_SIZE = 11,
};

enum acrf_rsmi_temperature_metric : uint32_t {
  ACRF_RSMI_TEMPERATURE_CURRENT = 0,
  ACRF_RSMI_TEMPERATURE_CRITICAL = 5,
};

enum acrf_rsmi_temperature_sensor : uint32_t {
  ACRF_RSMI_EDGE = 0,
  ACRF_RSMI_JUNCTION = 1,
  ACRF_RSMI_MEMORY = 2,
};

enum acrf_rsmi_xgmi_status : uint32_t { ACRF_RSMI_XGMI_NO_ERRORS = 0 };

enum acrf_rsmi_page_status : uint32_t {
  ACRF_RSMI_PAGE_RESERVED = 0,
  ACRF_RSMI_PAGE_PENDING = 1,
  ACRF_RSMI_PAGE_UNRESERVABLE = 2,
};

/* Blocks are bits, from UMC (1) on. */
typedef uint64_t acrf_rsmi_block;

struct acrf_rsmi_error_count {
  uint64_t corrected;
  uint64_t uncorrected;
  uint64_t room[2]; /* newer libraries write further counts */
};

struct acrf_rsmi_page {
  uint64_t address;
  uint64_t size;
  acrf_rsmi_page_status status;
};

typedef acrf_rsmi_status acrf_rsmi_init(uint64_t flags);
typedef acrf_rsmi_status acrf_rsmi_status_string(acrf_rsmi_status status, const char** text);
typedef acrf_rsmi_status acrf_rsmi_count(uint32_t* count);
typedef acrf_rsmi_status acrf_rsmi_device_number(uint32_t device, uint64_t* value);
typedef acrf_rsmi_status acrf_rsmi_device_percent(uint32_t device, uint32_t* percent);
typedef acrf_rsmi_status acrf_rsmi_device_name(uint32_t device, char* name, size_t length);
typedef acrf_rsmi_status acrf_rsmi_device_serial(uint32_t device, char* serial, uint32_t length);
typedef acrf_rsmi_status acrf_rsmi_device_power(uint32_t device, uint32_t sensor,
                                                uint64_t* microwatts);
typedef acrf_rsmi_status acrf_rsmi_device_temperature(uint32_t device, uint32_t sensor,
                                                      acrf_rsmi_temperature_metric metric,
                                                      int64_t* millidegrees);
typedef acrf_rsmi_status acrf_rsmi_device_errors(uint32_t device, acrf_rsmi_block block,
                                                 acrf_rsmi_error_count* count);
typedef acrf_rsmi_status acrf_rsmi_device_xgmi(uint32_t device, acrf_rsmi_xgmi_status* status);
typedef acrf_rsmi_status acrf_rsmi_device_pages(uint32_t device, uint32_t* count,
                                                acrf_rsmi_page* pages);
}
