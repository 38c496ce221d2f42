// SPDX-License-Identifier: GPL-2.0-or-later
#include "options.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace acrf::sim {
namespace {

namespace fs = std::filesystem;

bool is_good_name(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '_' || c == '.';
  });
}

}  // namespace

Result<std::vector<JobType>> custom_types(const std::string& directory) {
  std::vector<JobType> types;
  std::error_code error;
  const auto absolute = fs::absolute(directory, error).lexically_normal();
  for (const auto& entry : fs::directory_iterator(absolute, error)) {
    const auto path = entry.path().string();
    const auto name = entry.path().stem().string();
    if (!entry.is_regular_file() || ::access(path.c_str(), X_OK) != 0) continue;
    if (!is_good_name(name))
      return Error{ErrorCode::kInvalid,
                   "--job-types: " + path + ": names of job types have letters, digits, '-', '_'"};
    types.push_back({name, 1, "runs " + path, path});
  }
  if (error) return Error{ErrorCode::kInvalid, "--job-types " + directory + ": " + error.message()};
  if (types.empty())
    return Error{ErrorCode::kInvalid, "--job-types " + directory + ": has no executable file"};
  std::sort(types.begin(), types.end(),
            [](const JobType& a, const JobType& b) { return a.name < b.name; });
  for (const auto& type : built_in_types())
    for (const auto& custom : types)
      if (type.name == custom.name)
        return Error{ErrorCode::kInvalid,
                     "--job-types: " + custom.program + ": there is a type of that name already"};
  return types;
}

}  // namespace acrf::sim
