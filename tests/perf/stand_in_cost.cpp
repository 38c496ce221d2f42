// SPDX-License-Identifier: GPL-2.0-or-later
// Each function of the library is put behind one that times it; what the timing itself takes is
// measured with a function that does nothing, and taken off.
#include "stand_in_cost.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "fakegpu/state.h"
#include "sources/nvml_library.h"
#include "sources/nvml_readings.h"

namespace acrf::perf {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPasses = 2000;
Clock::duration spent{};
std::uint64_t calls = 0;

template <typename Call>
auto timed(const Call& call) {
  const auto start = Clock::now();
  const auto result = call();
  spent += Clock::now() - start;
  ++calls;
  return result;
}

template <auto kFunction>
struct Timed;
template <typename... Arguments, acrf_nvml_return (*NvmlLibrary::*kFunction)(Arguments...)>
struct Timed<kFunction> {
  static inline acrf_nvml_return (*real)(Arguments...) = nullptr;
  static acrf_nvml_return call(Arguments... arguments) {
    return timed([&] { return real(arguments...); });
  }
  static void wrap(NvmlLibrary& nvml) {
    real = nvml.*kFunction;
    if (real) nvml.*kFunction = &call;
  }
};

template <auto... kFunctions>
void wrap(NvmlLibrary& nvml) {
  (Timed<kFunctions>::wrap(nvml), ...);
}

void wrap_all(NvmlLibrary& nvml) {
  using Nvml = NvmlLibrary;
  wrap<&Nvml::count, &Nvml::temperature, &Nvml::power, &Nvml::power_limit, &Nvml::utilization,
       &Nvml::clock_reasons, &Nvml::memory_errors, &Nvml::sram_status, &Nvml::remapped_rows,
       &Nvml::row_histogram, &Nvml::retired_pages, &Nvml::retired_pages_pending,
       &Nvml::pcie_replays, &Nvml::pcie_generation, &Nvml::pcie_width, &Nvml::link_state,
       &Nvml::link_errors, &Nvml::fields, &Nvml::fabric, &Nvml::fabric_v, &Nvml::persistence,
       &Nvml::mig>(nvml);
}

double microseconds(Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

// A run in which another program had the core says nothing.
double median(std::vector<double>& runs) {
  const auto middle = runs.begin() + static_cast<std::ptrdiff_t>(runs.size() / 2);
  std::nth_element(runs.begin(), middle, runs.end());
  return *middle;
}

// Of one call.
double timing_us() {
  std::vector<double> runs;
  constexpr int kCalls = 1000;
  for (int run = 0; run < kPasses; ++run) {
    spent = {};
    for (int i = 0; i < kCalls; ++i) timed([] { return 0; });
    runs.push_back(microseconds(spent) / kCalls);
  }
  return median(runs);
}

}  // namespace

Result<double> stand_in_us_per_pass(const std::string& library, const std::string& state_file) {
  ::setenv(fakegpu::kStateVariable, state_file.c_str(), 1);
  auto nvml = NvmlLibrary::open(library);
  if (!nvml) return nvml.error();
  const double timing = timing_us();
  unsigned count = 0;
  if (nvml->init() != ACRF_NVML_SUCCESS || nvml->count(&count) != ACRF_NVML_SUCCESS || count == 0)
    return Error{ErrorCode::kUnavailable, library + " lists no GPUs"};
  std::vector<acrf_nvml_device_t> gpus(count);
  for (unsigned i = 0; i < count; ++i) (void)nvml->handle_by_index(i, &gpus[i]);
  wrap_all(*nvml);
  std::vector<std::vector<std::uint64_t>> totals(count);
  std::vector<double> passes;
  for (int pass = 0; pass < kPasses; ++pass) {
    spent = {};
    calls = 0;
    (void)nvml->count(&count);
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      GpuSample sample;
      (void)read_nvml(*nvml, gpus[i], totals[i], sample);
    }
    passes.push_back(microseconds(spent) - timing * static_cast<double>(calls));
  }
  return median(passes);
}

}  // namespace acrf::perf
