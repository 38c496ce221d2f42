// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/dcgm_library.h"

#include <fmt/format.h>

#include "sources/shared_library.h"

namespace acrf {

Result<DcgmLibrary> DcgmLibrary::open(const std::string& name) {
  const auto library = SharedLibrary::open(name);
  if (!library) return library.error();
  DcgmLibrary dcgm;
  library->load("dcgmInit", dcgm.init);
  library->load("errorString", dcgm.error_string);
  library->load("dcgmConnect_v2", dcgm.connect);
  library->load("dcgmStartEmbedded", dcgm.start_embedded);
  library->load("dcgmDisconnect", dcgm.disconnect);
  library->load("dcgmStopEmbedded", dcgm.stop_embedded);
  library->load("dcgmGetAllSupportedDevices", dcgm.devices);
  library->load("dcgmEntitiesGetLatestValues", dcgm.latest_values);
  library->load("dcgmHealthSet_v2", dcgm.health_set);
  library->load("dcgmHealthCheck", dcgm.health_check);
  library->load("dcgmGroupCreate", dcgm.group_create);
  library->load("dcgmGroupAddEntity", dcgm.group_add);
  library->load("dcgmPolicyGet", dcgm.policy_get);
  library->load("dcgmPolicySet", dcgm.policy_set);
  library->load("dcgmPolicyRegister_v2", dcgm.policy_register);
  if (dcgm.init && dcgm.devices && dcgm.latest_values && dcgm.health_set && dcgm.health_check)
    return dcgm;
  return Error{ErrorCode::kUnavailable, name + " lacks the functions of DCGM 3 or 4"};
}

Error DcgmLibrary::error(const char* doing, acrf_dcgm_return code) const {
  const char* text = error_string ? error_string(code) : nullptr;
  return {ErrorCode::kUnavailable, fmt::format("{}: {}", doing, text ? text : "unknown error")};
}

}  // namespace acrf
