// SPDX-License-Identifier: GPL-2.0-or-later
#include "selftest.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "advice.h"
#include "common/file.h"
#include "core/text.h"
#include "fakegpu/state.h"
#include "sources/finding_json.h"
#include "sources/kernel_log_reader.h"
#include "sources/node_readings.h"
#include "sources/probe.h"
#include "sources/sample_json.h"

namespace acrf {
namespace {

using Tests = std::vector<SourceTest>;

constexpr CheckStatus kAbsent = CheckStatus::kUnknown;

// One answer of a worker, or what kept it from answering.
Result<std::string> ask(std::vector<std::string> command, std::vector<std::string> environment,
                        int timeout_s) {
  Probe probe(std::move(command), std::move(environment));
  const auto deadline = Probe::Clock::now() + std::chrono::seconds(timeout_s);
  if (const auto asked = probe.request(deadline); !asked) return asked.error();
  while (Probe::Clock::now() < deadline) {
    pollfd fd = {probe.poll_fd(), POLLIN, 0};
    ::poll(&fd, 1, 100);
    auto answer = probe.take_answer();
    if (!answer) return answer.error();
    if (*answer) return **answer;
  }
  return Error{ErrorCode::kUnavailable, "no answer within " + std::to_string(timeout_s) + " s"};
}

SourceTest test_kernel_log(const std::string& path) {
  if (path == "journal") {
    const auto journal = read_kernel_journal("", "0", {});
    if (!journal) return {"kernel log", CheckStatus::kCritical, journal.error().sentence};
    return {"kernel log", CheckStatus::kOk, "the journal"};
  }
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  char buffer[8192];
  if (!fd || (::read(fd.get(), buffer, sizeof buffer) < 0 && errno != EAGAIN && errno != EPIPE))
    return {"kernel log", CheckStatus::kCritical, system_error("read " + path).sentence};
  return {"kernel log", CheckStatus::kOk, path};
}

SourceTest test_state_dir(const std::string& path) {
  if (::access(path.c_str(), W_OK | X_OK) == 0) return {"state", CheckStatus::kOk, path};
  return {"state", CheckStatus::kCritical, system_error("write to " + path).sentence};
}

SourceTest test_library(const Config& config, const std::string& program, const char* name,
                        const std::string& library) {
  if (library.empty()) return {name, kAbsent, "no library is configured"};
  std::vector<std::string> environment;
  if (!config.fake_gpu_state.empty())
    environment.push_back(std::string(fakegpu::kStateVariable) + "=" + config.fake_gpu_state);
  const auto answer =
      ask({program, "--probe", name, library, "/sys"}, environment, config.probe_timeout_s);
  if (!answer) return {name, CheckStatus::kWarning, answer.error().sentence};
  const auto samples = parse_samples(*answer);
  if (!samples) return {name, CheckStatus::kWarning, samples.error().sentence};
  return {name, CheckStatus::kOk, fmt::format("{} GPUs", samples->size())};
}

SourceTest counted(const char* source, std::size_t count, const char* what, const char* where) {
  if (count > 0) return {source, CheckStatus::kOk, fmt::format("{} {}", count, what)};
  return {source, kAbsent, fmt::format("none in {}", where)};
}

SourceTest test_gpu_count(const GpuCountReading& gpus, const std::string& gres_conf) {
  if (!gpus.expected) return {"gpu count", kAbsent, gres_conf + " names no GPUs of this node"};
  if (!gpus.on_bus) return {"gpu count", CheckStatus::kWarning, "the PCI bus cannot be read"};
  const bool fits = *gpus.on_bus >= *gpus.expected && gpus.missing_files.empty();
  return {"gpu count", fits ? CheckStatus::kOk : CheckStatus::kWarning,
          fmt::format("{} in {}, {} on the bus, {} device files missing", *gpus.expected, gres_conf,
                      *gpus.on_bus, gpus.missing_files.size())};
}

void test_node(const Config& config, const std::string& node, const std::string& gres_conf,
               Tests& tests) {
  const auto readings = NodeReader({config.node_root, node, gres_conf}).read(0);
  tests.push_back(counted("infiniband", readings.ports.size(), "ports", "/sys/class/infiniband"));
  tests.push_back(counted("edac", readings.memory_controllers.size(), "memory controllers",
                          "/sys/devices/system/edac/mc"));
  tests.push_back(
      counted("pcie aer", readings.pcie.size(), "devices with counters", "/sys/bus/pci/devices"));
  tests.push_back(test_gpu_count(readings.gpus, gres_conf));
  tests.push_back(
      {"nvswitch", readings.has_nvswitches.value_or(false) ? CheckStatus::kOk : kAbsent,
       readings.has_nvswitches.value_or(false)
           ? (*readings.fabric_manager_runs ? "fabric manager runs" : "fabric manager does not run")
           : "none in /proc/driver/nvidia-nvswitch"});
  const bool has_memory = readings.memory.total_kb && readings.memory.available_kb;
  tests.push_back({"memory", has_memory ? CheckStatus::kOk : CheckStatus::kWarning,
                   has_memory ? "/proc/meminfo" : "/proc/meminfo cannot be read"});
  tests.push_back({"processes", readings.slurmd_runs ? CheckStatus::kOk : CheckStatus::kWarning,
                   !readings.slurmd_runs   ? "/proc cannot be read"
                   : *readings.slurmd_runs ? "slurmd runs"
                                           : "slurmd does not run"});
  tests.push_back({"clock", readings.clock_synchronized ? CheckStatus::kOk : kAbsent,
                   !readings.clock_synchronized   ? "the kernel does not say"
                   : *readings.clock_synchronized ? "synchronized"
                                                  : "not synchronized"});
}

void test_file_systems(const Config& config, const std::string& program, Tests& tests) {
  for (const auto word : split(config.file_systems, ',')) {
    const std::string path(trim(word));
    if (path.empty()) continue;
    const auto answer = ask({program, "--fs-probe", path}, {}, config.probe_timeout_s);
    const auto reading = answer ? file_system_from_json(*answer) : answer.error();
    const bool works = reading && reading->mounted.value_or(false) && reading->writable;
    tests.push_back({"file system " + path, works ? CheckStatus::kOk : CheckStatus::kWarning,
                     !reading ? reading.error().sentence
                     : works
                         ? (reading->type.empty() ? "type unknown: watched only" : reading->type)
                         : "not mounted, or not to be read"});
  }
}

void test_checks(const Config& config, Tests& tests) {
  for (const auto& rule : config.checks) {
    const bool runs = ::access(rule.program.front().c_str(), X_OK) == 0;
    tests.push_back({"check " + rule.name, runs ? CheckStatus::kOk : CheckStatus::kWarning,
                     runs ? "Mode=" + std::string(name_of(rule.mode))
                          : system_error("run " + rule.program.front()).sentence});
  }
}

}  // namespace

std::vector<SourceTest> test_sources(const Config& config, const std::string& program,
                                     const std::string& node, const std::string& gres_conf) {
  Tests tests = {test_kernel_log(config.kernel_log),
                 test_state_dir(config.state_dir),
                 test_library(config, program, "nvml", config.nvml_library),
                 test_library(config, program, "dcgm", config.dcgm_library),
                 test_library(config, program, "rocm-smi", config.rocm_smi_library),
                 test_library(config, program, "level-zero", config.level_zero_library)};
  test_node(config, node, gres_conf, tests);
  test_file_systems(config, program, tests);
  test_checks(config, tests);
  const auto advice = check_advice_settings(advice_settings(config));
  tests.push_back({"advice",
                   config.advice_url.empty() ? kAbsent
                   : advice                  ? CheckStatus::kOk
                                             : CheckStatus::kWarning,
                   config.advice_url.empty() ? "AdviceUrl is empty"
                   : advice                  ? config.advice_url
                                             : advice.error().sentence});
  return tests;
}

CheckStatus overall(const std::vector<SourceTest>& tests) {
  CheckStatus worst = CheckStatus::kOk;
  for (const auto& test : tests)
    if (test.status != kAbsent) worst = std::max(worst, test.status);
  return worst;
}

int print_tests(const std::vector<SourceTest>& tests, bool as_json) {
  const auto name = [](CheckStatus status) {
    return status == kAbsent ? std::string("absent") : std::string(name_of(status));
  };
  nlohmann::ordered_json all = {{"status", name_of(overall(tests))}};
  auto& sources = all["sources"] = nlohmann::ordered_json::array();
  for (const auto& test : tests) {
    if (!as_json) fmt::print("{:<9} {:<20} {}\n", name(test.status), test.source, test.detail);
    sources.push_back(
        {{"source", test.source}, {"status", name(test.status)}, {"detail", test.detail}});
  }
  if (as_json)
    fmt::print("{}\n", all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  return static_cast<int>(overall(tests));
}

}  // namespace acrf
