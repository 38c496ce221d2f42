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
#include <map>
#include <vector>

#include "classify_speed.h"
#include "common/arguments.h"
#include "common/file.h"
#include "core/text.h"
#include "fakegpu/state.h"
#include "stand_in_cost.h"

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
  double cpu_s = 0, mb = 0;
};
// The daemon's watching thread, "daemon+" for its others, and each worker by what it looks at.
using Usages = std::map<std::string, Usage>;

// To the nanosecond: a clock tick is as much as a worker uses in a minute.
double processor_s(const std::filesystem::path& thread) {
  const auto spent = read_file(thread / "schedstat");
  return spent ? std::strtod(spent->c_str(), nullptr) / 1e9 : 0;
}

// What a worker looks at, by its arguments.
std::string role_of(const std::filesystem::path& process) {
  const auto arguments = read_file(process / "cmdline");
  if (!arguments) return "gone";
  const auto words = split(*arguments, '\0');
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "--probe" && i + 1 < words.size()) return std::string(words[i + 1]);
    for (const std::string_view role : {"node", "fs", "job", "slurmd"})
      if (words[i] == fmt::format("--{}-probe", role)) return std::string(role);
  }
  return "other";
}

// Memory is the proportional share (PSS): the pages that several have in common, as those of the
// program itself, count once in the sum.
double memory_mb(const std::filesystem::path& process) {
  const auto memory = read_file(process / "smaps_rollup");
  const auto at = memory ? memory->find("\nPss:") : std::string::npos;
  return at == std::string::npos ? 0 : std::strtod(memory->c_str() + at + 5, nullptr) / 1024;
}

Usages usage_of(pid_t daemon) {
  Usages all;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto pid = parse_unsigned(entry.path().filename().string());
    const auto stat = pid ? read_file(entry.path() / "stat") : Result<std::string>(Error{});
    if (!stat) continue;
    const auto fields = split(std::string_view(*stat).substr(stat->rfind(')') + 2), ' ');
    const bool is_daemon = *pid == static_cast<std::uint64_t>(daemon);
    if (!is_daemon && parse_unsigned(fields[1]) != static_cast<std::uint64_t>(daemon)) continue;
    const std::string role = is_daemon ? "daemon" : role_of(entry.path());
    all[role].mb += memory_mb(entry.path());
    std::error_code gone;
    for (const auto& thread : std::filesystem::directory_iterator(entry.path() / "task", gone)) {
      const bool is_first = thread.path().filename() == entry.path().filename();
      all[is_first ? role : role + "+"].cpu_s += processor_s(thread.path());
    }
  }
  return all;
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
  std::string gpus() const { return options_.root + "/gpus.json"; }

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

// Lines to verdicts, sorted; an Error when one got none.
Result<std::vector<double>> measure_lines(Node& node) {
  std::vector<double> waits;
  for (int i = 0; i < kLines; ++i) {
    waits.push_back(node.line_to_verdict_ms(i));
    if (waits.back() < 0) return Error{ErrorCode::kUnavailable, "a line got no verdict"};
  }
  std::sort(waits.begin(), waits.end());
  return waits;
}

// Percent of a core and MB of each process and of all; gives them as members of a JSON object. What
// looks for the slurmctld that is not there is no part of a look at the node.
std::string print_usage(const Usages& before, const Usages& after, int seconds) {
  std::string members;
  double look = 0, all = 0, mb = 0;
  const auto print = [&](const std::string& name, const char* what, double percent) {
    fmt::print("  {:<8} {:.4f} %  {}\n", name, percent, what);
    members += fmt::format("\"{}_percent\":{:.4f},", name, percent);
  };
  for (const auto& [name, usage] : after) {
    const auto earlier = before.find(name);
    const double spent_s = usage.cpu_s - (earlier == before.end() ? 0 : earlier->second.cpu_s);
    const bool is_look = name != "daemon+" && name != "job" && name != "slurmd";
    print(name, is_look ? "" : "looks for a slurmctld, and there is none here",
          100 * spent_s / seconds);
    all += spent_s;
    look += is_look ? spent_s : 0;
    mb += usage.mb;
  }
  print("look", "all that takes part in a look", 100 * look / seconds);
  print("all", "", 100 * all / seconds);
  fmt::print("  memory   {:.1f} MB, of which the daemon {:.1f}\n", mb, after.at("daemon").mb);
  return members +
         fmt::format("\"all_mb\":{:.1f},\"daemon_mb\":{:.1f},", mb, after.at("daemon").mb);
}

Status run(const Options& options) {
  Node node(options);
  if (const auto started = node.start(); !started) return started;
  const auto before = usage_of(node.pid());
  ::sleep(static_cast<unsigned>(options.seconds));
  const auto after = usage_of(node.pid());
  const auto waits = measure_lines(node);
  if (!waits) return waits.error();
  fmt::print("8 GPUs and the node, once a second, for {} s: share of a core, and memory (PSS)\n",
             options.seconds);
  const auto members = print_usage(before, after, options.seconds);
  const auto stand_in = stand_in_us_per_pass(options.nvml, node.gpus());
  if (!stand_in) return stand_in.error();
  fmt::print("  of nvml's, the stand-in library: {:.4f} %\n", *stand_in / 10'000);
  const double p50 = (*waits)[waits->size() / 2], p99 = (*waits)[waits->size() * 99 / 100];
  fmt::print("line to verdict, {} lines: p50 {:.2f} ms, p99 {:.2f} ms, max {:.2f} ms\n", kLines,
             p50, p99, waits->back());
  const double speed = classify_mb_per_s(200);
  fmt::print("parser: {:.0f} MB/s of processor time\n", speed);
  fmt::print(
      "[{{{}\"stand_in_percent\":{:.4f},\"line_ms_p50\":{:.3f},\"line_ms_p99\":{:.3f},"
      "\"parser_mb_per_s\":{:.0f}}}]\n",
      members, *stand_in / 10'000, p50, p99, speed);
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
