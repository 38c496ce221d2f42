// SPDX-License-Identifier: GPL-2.0-or-later
// How long the choice of a checkpoint takes among 10,000 on a local disk: when the newest is
// complete, and when all but the oldest are half-written. The caches are warm.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/checkpoint_dir.h"
#include "unit/layouts.h"

namespace acrf {
namespace {

constexpr int kCheckpoints = 10'000, kRuns = 50;

std::string name_of_step(const std::string& layout, int step) {
  if (layout == "lightning") return "epoch=0-step=" + std::to_string(step) + ".ckpt";
  return (layout == "hf" ? "checkpoint-" : "step-") + std::to_string(step);
}

void write_checkpoint(const TemporaryDirectory& directory, const std::string& layout, int step,
                      bool complete) {
  const auto name = name_of_step(layout, step);
  if (layout == "lightning") {
    const auto archive = zip_archive("state");
    return directory.write(name, complete ? archive : archive.substr(0, archive.size() - 1));
  }
  if (layout == "torch-dcp") {
    write_dcp(directory, name, 4);
    if (!complete) remove(directory, name + "/__3_0.distcp");
  } else if (layout == "hf") {
    directory.write(name + "/model.safetensors", safetensors(64));
    if (complete)
      directory.write(name + "/trainer_state.json",
                      "{\"global_step\": " + std::to_string(step) + "}");
  } else {
    directory.write(name + "/weights", "0123456789");
    directory.write(name + "/acrf-manifest",
                    format_manifest({{complete ? 10u : 11u, "weights", {}}}));
  }
}

nlohmann::json measure(const std::string& layout, bool broken) {
  const TemporaryDirectory directory;
  for (int step = 1; step <= kCheckpoints; ++step)
    write_checkpoint(directory, layout, step, !broken || step == 1);
  const auto expected = directory.path(name_of_step(layout, broken ? 1 : kCheckpoints));
  std::vector<double> times;
  for (int run = 0; run < kRuns; ++run) {
    const auto start = std::chrono::steady_clock::now();
    const bool right = newest_checkpoint(directory.path()) == expected;
    const auto end = std::chrono::steady_clock::now();
    if (!right) std::exit(1);
    times.push_back(std::chrono::duration<double, std::milli>(end - start).count());
  }
  std::sort(times.begin(), times.end());
  return {{"layout", layout},
          {"checkpoints", kCheckpoints},
          {"broken", broken ? kCheckpoints - 1 : 0},
          {"ms_p50", times[kRuns / 2]},
          {"ms_max", times.back()},
          {"n", kRuns}};
}

}  // namespace
}  // namespace acrf

int main() {
  auto rows = nlohmann::json::array();
  std::printf("%-10s %12s %8s %9s %9s\n", "layout", "checkpoints", "broken", "p50 ms", "max ms");
  for (const bool broken : {false, true})
    for (const std::string layout : {"manifest", "torch-dcp", "hf", "lightning"}) {
      const auto row = acrf::measure(layout, broken);
      rows.push_back(row);
      std::printf("%-10s %12d %8d %9.2f %9.2f\n", layout.c_str(), row["checkpoints"].get<int>(),
                  row["broken"].get<int>(), row["ms_p50"].get<double>(),
                  row["ms_max"].get<double>());
    }
  std::printf("%s\n", rows.dump().c_str());
}
