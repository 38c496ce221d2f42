// SPDX-License-Identifier: GPL-2.0-or-later
// Records that processes hand to each other or leave in files: whoever wrote them may have been cut
// off, or be another version.
#include "advice.h"
#include "common/incident_store.h"
#include "core/gpu_rules.h"
#include "core/json_scan.h"
#include "core/manifest.h"
#include "fuzz/targets.h"
#include "sources/finding_json.h"
#include "sources/sample_json.h"

namespace acrf::fuzz {

// What was decoded encodes to a text that decodes to the same.
void feed_samples(std::string_view text) {
  GpuRules rules;
  rules.take_text(text, "boot");
  const auto samples = parse_samples(std::string(text));
  if (!samples) return;
  for (int second = 0; second < 3; ++second) (void)rules.look("fuzz", *samples, second * 40);
  const ProbeAnswer answer{"", *samples};
  const auto encoded = encode_answer(answer);
  const auto again = parse_samples(encoded);
  require(again && again->size() <= samples->size());
  (void)parse_samples(std::string(text), *samples);
  GpuRules copy;
  copy.take_text(rules.to_text("boot"), "boot");
  require(copy.to_text("boot") == rules.to_text("boot"));
}

void feed_records(std::string_view text) {
  const std::string line(text);
  if (const auto findings = findings_from_json(line)) {
    const auto encoded = findings_to_json(*findings);
    const auto again = findings_from_json(encoded);
    require(again && findings_to_json(*again) == encoded);
  }
  if (const auto reading = file_system_from_json(line))
    require(file_system_from_json(file_system_to_json(*reading)).ok());
  if (const auto result = check_result_from_json(line))
    require(check_result_from_json(check_result_to_json(*result)).ok());
  if (const auto incident = incident_from_json(line)) {
    const auto encoded = to_json(*incident);
    const auto again = incident_from_json(encoded);
    require(again && to_json(*again) == encoded);
  }
  for (const char* api : {"openai", "anthropic"})
    if (const auto advice = parse_advice(api, line)) require(advice->reason.size() <= 200);
}

void feed_checkpoint(std::string_view text) {
  (void)is_json_object(text);
  (void)json_number(text, "step");
  (void)json_pairs(text, "data_offsets");
  (void)json_strings(text, ".safetensors");
  const auto files = parse_manifest(text);
  if (!files) return;
  const auto again = parse_manifest(format_manifest(*files));
  require(again && again->size() == files->size());
}

}  // namespace acrf::fuzz
