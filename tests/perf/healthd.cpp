// SPDX-License-Identifier: GPL-2.0-or-later
// acrf-bench-healthd: what acrf-healthd costs a node with 8 (stand-in) GPUs when it looks at all of
// them and at the node once a second, how long a line takes to a verdict, and how fast the parser
// is; the measurement behind `contrib/bench healthd`.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <vector>

#include "classify_speed.h"
#include "common/arguments.h"
#include "common/file.h"
#include "core/text.h"
#include "fakegpu/state.h"

extern char** environ;

namespace acrf::perf {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kLines = 200;

struct Options {
  std::string root, healthd, nvml;
  int seconds = 60;
};

struct Usage {
  double daemon_s = 0, all_s = 0;
  double daemon_mb = 0, all_mb = 0;
};

// Of all threads, to the nanosecond: a clock tick is as much as a worker uses in a minute.
double processor_s(const std::filesystem::path& process) {
  double seconds = 0;
  std::error_code gone;
  for (const auto& task : std::filesystem::directory_iterator(process / "task", gone)) {
    const auto spent = read_file(task.path() / "schedstat");
    if (spent) seconds += std::strtod(spent->c_str(), nullptr) / 1e9;
  }
  return seconds;
}

// Of the daemon and its workers. Memory is the proportional share (PSS): the pages that all of them
// have in common, as those of the program itself, count once in the sum.
Usage usage_of(pid_t daemon) {
  Usage usage;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto pid = parse_unsigned(entry.path().filename().string());
    const auto stat = pid ? read_file(entry.path() / "stat") : Result<std::string>(Error{});
    if (!stat) continue;
    const auto fields = split(std::string_view(*stat).substr(stat->rfind(')') + 2), ' ');
    const bool is_daemon = *pid == static_cast<std::uint64_t>(daemon);
    const bool is_worker = parse_unsigned(fields[1]) == static_cast<std::uint64_t>(daemon);
    if (!is_daemon && !is_worker) continue;
    const double cpu_s = processor_s(entry.path());
    usage.all_s += cpu_s;
    if (is_daemon) usage.daemon_s = cpu_s;
    const auto memory = read_file(entry.path() / "smaps_rollup");
    const auto at = memory ? memory->find("\nPss:") : std::string::npos;
    if (at == std::string::npos) continue;
    const double mb = std::strtod(memory->c_str() + at + 5, nullptr) / 1024;
    usage.all_mb += mb;
    if (is_daemon) usage.daemon_mb = mb;
  }
  return usage;
}

class Node {
 public:
  explicit Node(const Options& options) : options_(options) {}
  ~Node() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
  }

  Status start() {
    std::filesystem::remove_all(options_.root);
    std::filesystem::create_directories(options_.root + "/state");
    const auto file = [&](const char* name) { return options_.root + "/" + name; };
    auto done = write_file(file("kmsg"), "");
    if (done)
      done = write_file(file("slurm.conf"),
                        "ClusterName=bench\nSlurmctldHost=localhost\nNodeName=n1\n"
                        "PartitionName=p Nodes=n1\n");
    auto gpus = fakegpu::healthy_state("n1", 8);
    for (auto& gpu : gpus.gpus) gpu.readings["wobble"] = 1;  // as sensors do: an easy job it is not
    if (done) done = fakegpu::save_state(file("gpus.json"), gpus);
    if (done)
      done = write_file(file("acrf.conf"),
                        fmt::format("KernelLog={0}/kmsg\nStateDir={0}/state\nNvmlLibrary={1}\n"
                                    "FakeGpuState={0}/gpus.json\nSampleInterval=1\n"
                                    "NodeCheckInterval=1\nFileSystems=/\n",
                                    options_.root, options_.nvml));
    if (!done) return done;
    std::vector<std::string> command = {options_.healthd, "-N", "n1", "-f", file("acrf.conf")};
    ::setenv("SLURM_CONF", file("slurm.conf").c_str(), 1);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, file("log").c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0600);
    const int code = ::posix_spawn(&pid_, options_.healthd.c_str(), &files, nullptr,
                                   pointers_to(command).data(), environ);
    posix_spawn_file_actions_destroy(&files);
    if (code != 0) return Error{ErrorCode::kSystem, "cannot start " + options_.healthd};
    ::sleep(3);
    return Done{};
  }

  pid_t pid() const { return pid_; }

  // Milliseconds from a line in the kernel log to the daemon's word on it; negative: none came.
  double line_to_verdict_ms(int number) {
    const auto gpu = fmt::format("{:04x}:1a:00", number + 1);
    const auto start = Clock::now();
    std::ofstream(options_.root + "/kmsg", std::ios::app) << fmt::format(
        "3,{},{},-;NVRM: Xid (PCI:{}): 48, pid=1, name=x, DBE\n", number + 1, number + 1, gpu);
    while (Clock::now() - start < std::chrono::seconds(5)) {
      const auto log = read_file(options_.root + "/log");
      if (log && log->find(gpu) != std::string::npos)
        return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
      ::usleep(100);
    }
    return -1;
  }

 private:
  const Options& options_;
  pid_t pid_ = 0;
};

Status run(const Options& options) {
  Node node(options);
  if (const auto started = node.start(); !started) return started;
  const auto before = usage_of(node.pid());
  ::sleep(static_cast<unsigned>(options.seconds));
  const auto after = usage_of(node.pid());
  const double share = 100 * (after.daemon_s - before.daemon_s) / options.seconds;
  const double all = 100 * (after.all_s - before.all_s) / options.seconds;
  std::vector<double> waits;
  for (int i = 0; i < kLines; ++i) {
    waits.push_back(node.line_to_verdict_ms(i));
    if (waits.back() < 0) return Error{ErrorCode::kUnavailable, "a line got no verdict"};
  }
  std::sort(waits.begin(), waits.end());
  const double speed = classify_mb_per_s(200);
  fmt::print("8 GPUs and the node, once a second, for {} s\n", options.seconds);
  fmt::print(
      "the daemon: {:.3f} % of a core, {:.1f} MB (PSS); with its workers and the stand-in "
      "library: {:.3f} %, {:.1f} MB\n",
      share, after.daemon_mb, all, after.all_mb);
  const double p50 = waits[waits.size() / 2], p99 = waits[waits.size() * 99 / 100];
  fmt::print("line to verdict, {} lines: p50 {:.2f} ms, p99 {:.2f} ms, max {:.2f} ms\n", kLines,
             p50, p99, waits.back());
  fmt::print("parser: {:.0f} MB/s of processor time\n", speed);
  fmt::print(
      "[{{\"daemon_percent\":{:.4f},\"all_percent\":{:.4f},\"daemon_mb\":{:.1f},\"all_mb\":{:.1f},"
      "\"line_ms_p50\":{:.3f},\"line_ms_p99\":{:.3f},\"parser_mb_per_s\":{:.0f}}}]\n",
      share, all, after.daemon_mb, after.all_mb, p50, p99, speed);
  return Done{};
}

}  // namespace
}  // namespace acrf::perf

int main(int argc, char** argv) {
  acrf::perf::Options options;
  CLI::App app("Measures acrf-healthd on a node with stand-in GPUs.", "acrf-bench-healthd");
  app.add_option("--root", options.root, "a directory of its own")->required();
  app.add_option("--healthd", options.healthd, "acrf-healthd")->required();
  app.add_option("--nvml", options.nvml, "the stand-in for NVML")->required();
  app.add_option("--seconds", options.seconds, "how long to watch (default: 60)");
  CLI11_PARSE(app, argc, argv);
  const auto done = acrf::perf::run(options);
  if (!done) fmt::print(stderr, "acrf-bench-healthd: {}\n", done.error().sentence);
  return done ? 0 : 1;
}
