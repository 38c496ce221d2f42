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
  ACRF_NVML_ERROR_GPU_IS_LOST = 15,
  ACRF_NVML_ERROR_UNKNOWN = 999,
};

enum acrf_nvml_temperature_sensor : int { ACRF_NVML_TEMPERATURE_GPU = 0 };

struct acrf_nvml_pci_info {
  char bus_id_legacy[16];
  unsigned int domain;
  unsigned int bus;
  unsigned int device;
  unsigned int pci_device_id;
  unsigned int pci_subsystem_id;
  char bus_id[32];
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
}
