// SPDX-License-Identifier: GPL-2.0-or-later
// For libFuzzer: `make fuzz` builds it with clang, tests/fuzz/fuzz_parsers CORPUS runs it.
#include <cstddef>
#include <cstdint>

#include "fuzz/parsers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  acrf::fuzz::feed_parsers({reinterpret_cast<const char*>(data), size});
  return 0;
}
