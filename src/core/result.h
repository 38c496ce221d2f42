// SPDX-License-Identifier: GPL-2.0-or-later
// Result<T>: a value, or an Error that carries one sentence for a person.
// ACRF's own code does not throw; "no room" or "nothing found" is an answer (std::optional), not an
// Error.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace acrf {

enum class ErrorCode {
  kInvalid,      // the input is wrong; the same call will fail again
  kNotFound,     // what was named does not exist
  kUnavailable,  // a peer did not answer; worth another try
  kDenied,       // not permitted
  kSystem,       // the operating system refused
};

struct Error {
  ErrorCode code;
  std::string sentence;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Error error) : state_(std::move(error)) {}

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }

  const T& value() const& { return std::get<T>(state_); }
  T& value() & { return std::get<T>(state_); }
  T&& value() && { return std::get<T>(std::move(state_)); }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

  const Error& error() const { return std::get<Error>(state_); }

 private:
  std::variant<T, Error> state_;
};

struct Done {};
using Status = Result<Done>;

}  // namespace acrf
