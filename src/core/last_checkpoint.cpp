// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/last_checkpoint.h"

#include <algorithm>

#include "core/text.h"

namespace acrf {
namespace {

constexpr std::string_view kSignals[] = {"USR1", "USR2", "TERM", "INT", "HUP", "CONT"};

// The part is to be replaced or reset soon, and what it computes until then is right: it has run
// out of spare rows or pages, corrects more than it should, is too warm, or a link has errors that
// are sent again. Nothing here has lost data or stopped answering.
constexpr std::string_view kDegraded[] = {"row_remap_failure",    "page_retirement_limit",
                                          "page_retirement_rate", "sram_ecc_exceeded",
                                          "memory_replace",       "amd_bad_pages",
                                          "bad_page_failed",      "dimm_ce_storm",
                                          "pcie_nonfatal",        "power",
                                          "nvswitch_thermal",     "recovery_drain_p2p",
                                          "recovery_drain_reset"};

// Trends and predictions, whatever they are about.
constexpr std::string_view kTrends[] = {"temperature_", "thermal", "hw_slowdown", "predicted_"};

}  // namespace

bool is_checkpoint_signal(std::string_view name) {
  return std::find(std::begin(kSignals), std::end(kSignals), name) != std::end(kSignals);
}

bool allows_last_checkpoint(const Verdict& verdict) {
  const std::string_view name = verdict.fault_class;
  return std::find(std::begin(kDegraded), std::end(kDegraded), name) != std::end(kDegraded) ||
         std::any_of(std::begin(kTrends), std::end(kTrends),
                     [&](std::string_view trend) { return starts_with(name, trend); });
}

int last_checkpoint_s(const JobPolicy& policy, int site_s) {
  if (!policy.comes_back() || policy.checkpoint_dir.empty()) return 0;
  if (policy.last_checkpoint_s) return *policy.last_checkpoint_s;
  return policy.workload == Workload::kTraining ? site_s : 0;
}

}  // namespace acrf
