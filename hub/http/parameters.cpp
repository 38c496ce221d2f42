// SPDX-License-Identifier: GPL-2.0-or-later
#include "hub/http/parameters.h"

#include "core/text.h"

namespace acrf::hub {

std::string Parameters::text(const char* name) const {
  return request_.has_param(name) ? request_.get_param_value(name) : "";
}

std::int64_t Parameters::number(const char* name, std::int64_t least, std::int64_t most,
                                std::int64_t missing) {
  const auto given = text(name);
  if (given.empty()) return missing;
  const auto value = parse_unsigned(given);
  const bool fits = value && *value <= static_cast<std::uint64_t>(most) &&
                    static_cast<std::int64_t>(*value) >= least;
  if (fits) return static_cast<std::int64_t>(*value);
  complain(name,
           "must be a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  return missing;
}

std::optional<bool> Parameters::flag(const char* name) {
  const auto given = text(name);
  if (given.empty()) return std::nullopt;
  if (given == "1" || given == "true" || given == "yes") return true;
  if (given != "0" && given != "false" && given != "no") complain(name, "must be true or false");
  return false;
}

void Parameters::complain(const std::string& name, const std::string& sentence) {
  if (status_.ok()) status_ = Error{ErrorCode::kInvalid, name + ": " + sentence};
}

}  // namespace acrf::hub
