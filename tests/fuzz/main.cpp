// SPDX-License-Identifier: GPL-2.0-or-later
// For libFuzzer: `make fuzz` builds it with clang, `tests/fuzz/fuzz TARGET [CORPUS...]` runs it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "fuzz/targets.h"

namespace {

const acrf::fuzz::Target* chosen = nullptr;

}  // namespace

// libFuzzer takes what is left of the arguments.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  for (const auto& target : acrf::fuzz::targets())
    if (*argc > 1 && target.name == (*argv)[1]) chosen = &target;
  if (!chosen) {
    std::fprintf(stderr, "usage: fuzz TARGET [libFuzzer's arguments]; targets:\n");
    for (const auto& target : acrf::fuzz::targets())
      std::fprintf(stderr, "%s\n", target.name.data());
    std::exit(2);
  }
  std::rotate(*argv + 1, *argv + 2, *argv + *argc);
  --*argc;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  chosen->feed({reinterpret_cast<const char*>(data), size});
  return 0;
}
