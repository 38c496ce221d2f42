// SPDX-License-Identifier: GPL-2.0-or-later
// For libFuzzer: answers of the vendor probes, decoded and judged. What was decoded encodes to a
// text that decodes to the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "core/gpu_rules.h"
#include "sources/sample_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  acrf::GpuRules rules;
  rules.take_text(text, "boot");
  const auto samples = acrf::parse_samples(text);
  if (!samples) return 0;
  for (int second = 0; second < 3; ++second) (void)rules.look("fuzz", *samples, second * 40);
  const auto again = acrf::parse_samples(acrf::encode_answer(acrf::ProbeAnswer{"", *samples}));
  if (!again || again->size() > samples->size()) std::abort();
  acrf::GpuRules copy;
  copy.take_text(rules.to_text("boot"), "boot");
  return 0;
}
