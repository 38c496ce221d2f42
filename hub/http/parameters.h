// SPDX-License-Identifier: GPL-2.0-or-later
// A request's parameters, read strictly: a malformed one is an Error that names it.
#pragma once

#include <httplib.h>

#include <cstdint>
#include <optional>
#include <string>

#include "core/result.h"

namespace acrf::hub {

inline constexpr std::int64_t kMostItems = 1000;

class Parameters {
 public:
  explicit Parameters(const httplib::Request& request) : request_(request) {}

  // Empty: not given.
  std::string text(const char* name) const;
  // `missing` when it is not given.
  std::int64_t number(const char* name, std::int64_t least, std::int64_t most,
                      std::int64_t missing);
  // 1, true, yes or 0, false, no; nothing: not given.
  std::optional<bool> flag(const char* name);
  std::size_t limit() {
    return static_cast<std::size_t>(number("limit", 1, kMostItems, kMostItems));
  }
  // Milliseconds since 1970.
  std::int64_t time_ms(const char* name, std::int64_t missing) {
    return number(name, 0, INT64_MAX / 2, missing);
  }

  // Something wrong was found.
  void complain(const std::string& name, const std::string& sentence);
  Status status() const { return status_; }

 private:
  const httplib::Request& request_;
  Status status_ = Done{};
};

}  // namespace acrf::hub
