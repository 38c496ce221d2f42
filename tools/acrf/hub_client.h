// SPDX-License-Identifier: GPL-2.0-or-later
// Asks an acrf-hub. acrf-courier makes the requests: this program does without libcurl.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/result.h"

namespace acrf {

class HubClient {
 public:
  // `token` may be empty: the hub's own host may read without one.
  HubClient(std::string url, std::string token);

  const std::string& url() const { return url_; }
  // kNotFound and kDenied as the hub says it; kUnavailable when it does not answer.
  Result<nlohmann::json> get(const std::string& path) const;
  // With the token, or without one with a munge credential of this process's user.
  Result<nlohmann::json> act(const nlohmann::json& action) const;

 private:
  Result<nlohmann::json> ask(nlohmann::json request, const std::string& path) const;

  std::string url_, token_;
};

// A name as a part of a path or the value of a parameter.
std::string escaped(const std::string& text);

// A key that is missing, null or of another kind leaves what it was.
template <typename T>
T value_of(const nlohmann::json& object, std::string_view key, T otherwise = {}) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  if (found == object.end() || found->is_null()) return otherwise;
  try {
    return found->get<T>();
  } catch (const nlohmann::json::exception&) {
    return otherwise;
  }
}

}  // namespace acrf
