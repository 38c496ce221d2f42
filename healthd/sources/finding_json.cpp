// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/finding_json.h"

#include <exception>
#include <nlohmann/json.hpp>

namespace acrf {
namespace {

using nlohmann::json;

std::string dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// The enumerations begin at 0 and have no gaps.
template <typename Enum>
Enum enum_of(const json& value, Enum last) {
  for (int i = 0; i <= static_cast<int>(last); ++i)
    if (value == name_of(static_cast<Enum>(i))) return static_cast<Enum>(i);
  return std::optional<Enum>().value();  // told apart from the rest by guarded()
}

// Own code does not throw; what the library throws ends here.
template <typename Value, typename Convert>
Result<Value> guarded(const std::string& line, const Convert& convert) {
  try {
    return convert(json::parse(line));
  } catch (const std::exception&) {
    return Error{ErrorCode::kInvalid, "unreadable answer: " + line.substr(0, 100)};
  }
}

json to_json(const Finding& finding) {
  const auto& verdict = finding.verdict;
  return {{"class", verdict.fault_class},     {"severity", name_of(verdict.severity)},
          {"scope", name_of(verdict.scope)},  {"action", name_of(verdict.action)},
          {"at_job_end", verdict.at_job_end}, {"where", finding.where},
          {"evidence", finding.evidence}};
}

template <typename Value>
json or_null(const std::optional<Value>& value) {
  return value ? json(*value) : json();
}

template <typename Value>
std::optional<Value> optional_at(const json& record, const char* name) {
  const auto& value = record.at(name);
  return value.is_null() ? std::nullopt : std::optional<Value>(value.get<Value>());
}

}  // namespace

std::string findings_to_json(const std::vector<Finding>& findings) {
  json all = json::array();
  for (const auto& finding : findings) all.push_back(to_json(finding));
  return dump(all);
}

Result<std::vector<Finding>> findings_from_json(const std::string& line) {
  return guarded<std::vector<Finding>>(line, [](const json& all) {
    std::vector<Finding> findings;
    for (const auto& record : all)
      findings.push_back(
          {{record.at("class"), enum_of(record.at("severity"), Severity::kFatal),
            enum_of(record.at("scope"), Scope::kFabric),
            enum_of(record.at("action"), Action::kCheckFabric), record.at("at_job_end")},
           record.at("where"),
           record.at("evidence")});
    return findings;
  });
}

std::string file_system_to_json(const FileSystemReading& reading) {
  return dump({{"type", reading.type},
               {"mounted", or_null(reading.mounted)},
               {"writable", or_null(reading.writable)},
               {"used", or_null(reading.used_percent)},
               {"inodes", or_null(reading.used_inodes_percent)}});
}

Result<FileSystemReading> file_system_from_json(const std::string& line) {
  return guarded<FileSystemReading>(line, [](const json& record) {
    return FileSystemReading{false,
                             optional_at<bool>(record, "mounted"),
                             optional_at<bool>(record, "writable"),
                             optional_at<int>(record, "used"),
                             optional_at<int>(record, "inodes"),
                             record.at("type")};
  });
}

std::string check_result_to_json(const CheckResult& result) {
  return dump({{"exit", or_null(result.exit_code)},
               {"text", result.text},
               {"output", result.output},
               {"late", result.late}});
}

Result<CheckResult> check_result_from_json(const std::string& line) {
  return guarded<CheckResult>(line, [](const json& record) {
    return CheckResult{optional_at<int>(record, "exit"), record.at("text"),
                       record.value("output", ""), record.value("late", false)};
  });
}

}  // namespace acrf
