// SPDX-License-Identifier: GPL-2.0-or-later
// A vendor library opened at run time. A function that it lacks stays null, and what that function
// would tell is unknown.
#pragma once

#include <dlfcn.h>

#include <string>

#include "core/result.h"

namespace acrf {

class SharedLibrary {
 public:
  // The library stays open until the process ends: vendors' unload code is not to be trusted.
  static Result<SharedLibrary> open(const std::string& name) {
    void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) return Error{ErrorCode::kUnavailable, ::dlerror()};
    return SharedLibrary(handle);
  }

  template <typename Function>
  void load(const char* name, Function*& function) const {
    function = reinterpret_cast<Function*>(::dlsym(handle_, name));
  }

 private:
  explicit SharedLibrary(void* handle) : handle_(handle) {}
  void* handle_;
};

}  // namespace acrf
