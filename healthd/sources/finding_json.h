// SPDX-License-Identifier: GPL-2.0-or-later
// What workers and the daemon say to each other, one line of JSON each.
#pragma once

#include <string>
#include <vector>

#include "core/check_rule.h"
#include "core/file_system_rule.h"
#include "core/node_verdict.h"
#include "core/result.h"

namespace acrf {

std::string findings_to_json(const std::vector<Finding>& findings);
Result<std::vector<Finding>> findings_from_json(const std::string& line);

std::string file_system_to_json(const FileSystemReading& reading);
Result<FileSystemReading> file_system_from_json(const std::string& line);

std::string check_result_to_json(const CheckResult& result);
Result<CheckResult> check_result_from_json(const std::string& line);

}  // namespace acrf
