// SPDX-License-Identifier: GPL-2.0-or-later
// DCGM's functions by name, as far as this version has them.
#pragma once

#include <string>

#include "common/dcgm_abi.h"
#include "core/result.h"

namespace acrf {

struct DcgmLibrary {
  // An Error when the functions that DCGM 3 and 4 have are missing.
  static Result<DcgmLibrary> open(const std::string& name);

  Error error(const char* doing, acrf_dcgm_return code) const;

  acrf_dcgm_init* init = nullptr;
  acrf_dcgm_error_string* error_string = nullptr;
  acrf_dcgm_connect* connect = nullptr;
  acrf_dcgm_start_embedded* start_embedded = nullptr;
  acrf_dcgm_stop* disconnect = nullptr;
  acrf_dcgm_stop* stop_embedded = nullptr;
  acrf_dcgm_devices* devices = nullptr;
  acrf_dcgm_latest_values* latest_values = nullptr;
  acrf_dcgm_health_set* health_set = nullptr;
  acrf_dcgm_health_check* health_check = nullptr;
  acrf_dcgm_group_create* group_create = nullptr;
  acrf_dcgm_group_add* group_add = nullptr;
  acrf_dcgm_policy_get* policy_get = nullptr;
  acrf_dcgm_policy_set* policy_set = nullptr;
  acrf_dcgm_policy_register* policy_register = nullptr;
};

}  // namespace acrf
