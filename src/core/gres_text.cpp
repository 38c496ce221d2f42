// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/gres_text.h"

#include "core/text.h"

namespace acrf {
namespace {

constexpr std::uint64_t kMostGpus = 64;

// Calls `handle` with each "gpu[:TYPE]:COUNT[(...)]"; commas inside brackets separate nothing.
template <typename Handle>
void each_gpu_entry(std::string_view gres, Handle handle) {
  while (!gres.empty()) {
    std::size_t end = 0;
    for (int depth = 0; end < gres.size() && (gres[end] != ',' || depth > 0); ++end)
      depth += gres[end] == '(' ? 1 : gres[end] == ')' ? -1 : 0;
    const auto entry = gres.substr(0, end);
    if (starts_with(entry, "gpu:")) handle(entry);
    gres.remove_prefix(end < gres.size() ? end + 1 : end);
  }
}

}  // namespace

int gpus_in_gres(std::string_view gres) {
  std::uint64_t gpus = 0;
  each_gpu_entry(gres, [&](std::string_view entry) {
    const auto words = entry.substr(0, entry.find('('));
    gpus += parse_unsigned(words.substr(words.rfind(':') + 1)).value_or(0);
    gpus = gpus > kMostGpus ? kMostGpus : gpus;
  });
  return static_cast<int>(gpus);
}

GpuMask gpus_used_in_gres(std::string_view gres_used) {
  GpuMask used = 0;
  each_gpu_entry(gres_used, [&](std::string_view entry) {
    const auto at = entry.find("(IDX:");
    if (at == std::string_view::npos) return;
    const auto list = entry.substr(at + 5, entry.rfind(')') - at - 5);
    for (auto range : split(list, ',')) {
      const auto first = take_unsigned(range);
      const auto last = take_prefix(range, "-") ? take_unsigned(range) : first;
      for (auto gpu = first.value_or(1); first && last && gpu <= *last && gpu < kMostGpus; ++gpu)
        used |= GpuMask{1} << gpu;
    }
  });
  return used;
}

}  // namespace acrf
