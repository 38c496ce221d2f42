// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>

#include "core/gpu_rule.h"

namespace acrf {
namespace {

constexpr std::int64_t kDay = 86400;
constexpr std::uint64_t kSuspectRemaps = 512;        // DCGM
constexpr std::uint64_t kRetiredPagesLimit = 63;     // NVIDIA, before Ampere
constexpr std::uint64_t kRetiredPagesSuspect = 15;   // DCGM, with more than one in a week
constexpr std::uint64_t kCorrectedPerHour = 10'000;  // ours: watched only
constexpr std::size_t kErrorsKept = 100;

Verdict uncorrectable_verdict(std::size_t in_week, std::size_t in_month) {
  if (in_month >= 3)
    return {"ecc_uncorrectable_chronic", Severity::kCritical, Scope::kGpu, Action::kRma};
  if (in_week >= 2)
    return {"ecc_uncorrectable_repeated", Severity::kCritical, Scope::kGpu, Action::kDrain};
  return {"ecc_uncorrectable", Severity::kCritical, Scope::kGpu, Action::kResetGpu};
}

// The GPU serves on; the reset that it waits for can wait for its jobs.
Verdict at_job_end(const char* fault_class) {
  return {fault_class, Severity::kCritical, Scope::kGpu, Action::kResetGpu, true};
}

}  // namespace

void MemoryRule::remember_uncorrectable(std::int64_t unix_s) {
  if (uncorrectable_unix_s_.size() < kErrorsKept) uncorrectable_unix_s_.push_back(unix_s);
}

void MemoryRule::look(const GpuSample& sample, std::int64_t now_s, Charges& charges) {
  look_at_errors(sample, now_s, charges);
  look_at_spares(sample, now_s, charges);
}

void MemoryRule::look_at_errors(const GpuSample& sample, std::int64_t now_s, Charges& charges) {
  // The same error shows in both kinds of counter: it counts once.
  const auto uncorrected = std::max(sram_.increase(sample.aggregate_sram_uncorrected) +
                                        dram_.increase(sample.aggregate_dram_uncorrected),
                                    volatile_sram_.increase(sample.volatile_sram_uncorrected) +
                                        volatile_dram_.increase(sample.volatile_dram_uncorrected));
  std::erase_if(uncorrectable_unix_s_, [&](std::int64_t at) { return at <= now_s - 30 * kDay; });
  if (uncorrected > 0) {
    remember_uncorrectable(now_s);
    const auto in_week = static_cast<std::size_t>(
        std::count_if(uncorrectable_unix_s_.begin(), uncorrectable_unix_s_.end(),
                      [&](std::int64_t at) { return at > now_s - 7 * kDay; }));
    charges.push_back({uncorrectable_verdict(in_week, uncorrectable_unix_s_.size()),
                       std::to_string(uncorrected) +
                           " uncorrectable memory errors; times in 7 / "
                           "30 days: " +
                           std::to_string(in_week) + " / " +
                           std::to_string(uncorrectable_unix_s_.size())});
  }
  corrected_hours_.add(now_s, corrected_.increase(sample.aggregate_dram_corrected));
  if (corrected_hours_.reaching(kCorrectedPerHour) > 0)
    charges.push_back(
        {{"ecc_corrected_rate", Severity::kWarning, Scope::kGpu, Action::kWatch},
         "at least " + std::to_string(kCorrectedPerHour) + " corrected memory errors in an hour"});
  if (sample.sram_threshold_exceeded.value_or(0) != 0)
    charges.push_back({{"sram_ecc_exceeded", Severity::kCritical, Scope::kGpu, Action::kRma},
                       "the device's own threshold of SRAM errors is exceeded"});
}

void MemoryRule::look_at_spares(const GpuSample& sample, std::int64_t now_s, Charges& charges) {
  if (sample.remap_failure.value_or(0) != 0)
    charges.push_back({{"row_remap_failure", Severity::kCritical, Scope::kGpu, Action::kRma},
                       "a memory row could not be remapped"});
  if (sample.remap_pending.value_or(0) != 0)
    charges.push_back({at_job_end("row_remap_pending"), "a remapped row waits for a reset"});
  if (sample.remapped_uncorrected.value_or(0) >= kSuspectRemaps)
    charges.push_back({{"row_remap_many", Severity::kWarning, Scope::kGpu, Action::kWatch},
                       std::to_string(*sample.remapped_uncorrected) +
                           " rows remapped because of uncorrectable errors"});
  if (sample.remap_banks_without_spares.value_or(0) > 0)
    charges.push_back({{"row_remap_exhausted", Severity::kWarning, Scope::kGpu, Action::kWatch},
                       std::to_string(*sample.remap_banks_without_spares) +
                           " memory banks have no spare row left"});
  if (sample.vendor == "amd") return;  // its bad pages have limits of their own
  retired_days_.add(now_s, retired_.increase(sample.retired_pages));
  const auto retired = sample.retired_pages.value_or(0);
  if (retired >= kRetiredPagesLimit)
    charges.push_back({{"page_retirement_limit", Severity::kCritical, Scope::kGpu, Action::kRma},
                       std::to_string(retired) + " retired pages"});
  else if (retired > kRetiredPagesSuspect &&
           (retired_days_.reaching(2) > 0 || retired_days_.reaching(1) > 1))
    charges.push_back({{"page_retirement_rate", Severity::kCritical, Scope::kGpu, Action::kDrain},
                       std::to_string(retired) + " retired pages, more than one in a week"});
  if (sample.retired_pages_pending.value_or(0) != 0)
    charges.push_back(
        {at_job_end("page_retirement_pending"), "a page waits for a reset to be retired"});
}

}  // namespace acrf
