// SPDX-License-Identifier: GPL-2.0-or-later
// For libFuzzer, as fuzz_parsers.cpp; tests/fuzz/corpus/fault_catalog holds texts to start from.
#include <cstddef>
#include <cstdint>

#include "fuzz/parsers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  acrf::fuzz::feed_fault_catalog({reinterpret_cast<const char*>(data), size});
  return 0;
}
