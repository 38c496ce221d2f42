// SPDX-License-Identifier: GPL-2.0-or-later
#include "work.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <thread>

#include "common/checkpoint_publish.h"
#include "common/file.h"
#include "common/unique_fd.h"
#include "core/text.h"
#include "run_line.h"

namespace acrf::sim {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
using What = RunLine::What;

constexpr milliseconds kPause{50};  // between two pieces of arithmetic: many jobs share few cores
constexpr double kStepSeconds = 0.5;
constexpr int kStepsPerCheckpoint = 4;
constexpr std::chrono::hours kLongest{24};

std::string variable(const char* name, const std::string& otherwise = "") {
  const char* value = std::getenv(name);
  return value ? value : otherwise;
}

int number(const char* name) {
  return static_cast<int>(parse_unsigned(variable(name)).value_or(0));
}

std::int64_t unix_ms() {
  return std::chrono::duration_cast<milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// Every entry of the product has a closed form, so that a wrong one is seen.
bool multiply_matrices() {
  constexpr int n = 64;
  static double a[n][n], b[n][n], c[n][n];
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) a[i][j] = i + j, b[i][j] = i - j, c[i][j] = 0;
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j) c[i][j] += a[i][k] * b[k][j];
  constexpr double sum = n * (n - 1) / 2.0, squares = (n - 1) * n * (2 * n - 1) / 6.0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      if (c[i][j] != squares + (i - j) * sum - double(n) * i * j) return false;
  return true;
}

bool count_primes() {
  constexpr int kBelow = 20'000, kPrimes = 2262;
  std::vector<bool> composite(kBelow, false);
  int primes = 0;
  for (int i = 2; i < kBelow; ++i) {
    if (composite[std::size_t(i)]) continue;
    ++primes;
    for (int j = 2 * i; j < kBelow; j += i) composite[std::size_t(j)] = true;
  }
  return primes == kPrimes;
}

class Worker {
 public:
  int run() {
    if (directory_.empty()) return fail("SIM_DIR is not set: this is for the simulator's jobs");
    if (number("SLURM_PROCID") != 0) return wait_for_first_task();
    const UniqueFd lock(::open((directory_ + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    if (lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) say(What::kTwice);
    say(What::kBegin, "", variable("SLURM_JOB_NODELIST"));
    const auto wrong = do_work();
    if (wrong == kFenced) return EXIT_FAILURE;  // a later run has the job
    if (!wrong.empty()) return fail(wrong);
    say(What::kEnd);
    (void)replace_file(done_file(), "", 0644);
    return EXIT_SUCCESS;
  }

 private:
  static constexpr char kFenced[] = "fenced off";

  void say(What what, const std::string& text = "", const std::string& hosts = "") const {
    RunLine line;
    line.what = what;
    line.restart = restart_;
    line.at_ms = unix_ms();
    line.text = text;
    (void)append_file(directory_ + "/" + kRunFile, to_text(line, hosts));
  }

  int fail(const std::string& sentence) const {
    fmt::print(stderr, "acrf-sim work: {}\n", sentence);
    if (!directory_.empty()) say(What::kFail, sentence);
    return EXIT_FAILURE;
  }

  std::string done_file() const { return fmt::format("{}/done-{}", directory_, restart_); }

  int wait_for_first_task() const {
    const auto until = Clock::now() + kLongest;
    while (::access(done_file().c_str(), F_OK) != 0 && Clock::now() < until)
      std::this_thread::sleep_for(4 * kPause);
    return EXIT_SUCCESS;
  }

  // A sentence when something is wrong.
  std::string do_work() {
    const auto type = variable("SIM_TYPE");
    if (const auto program = variable("SIM_PROGRAM"); !program.empty()) return run_program(program);
    if (type == "sleep") return repeat(seconds_, [] { return true; });
    if (type == "compute") return repeat(seconds_, count_primes);
    if (type == "matrix") return repeat(seconds_, multiply_matrices);
    if (type == "training") return train();
    if (type == "fault") return break_own_gpu();
    return "SIM_TYPE: no such type of job: " + type;
  }

  static std::string repeat(double seconds, bool (*piece)()) {
    const auto until = Clock::now() + std::chrono::duration<double>(seconds);
    do {
      if (!piece()) return "the arithmetic went wrong";
      std::this_thread::sleep_for(kPause);
    } while (Clock::now() < until);
    return "";
  }

  static std::string run_program(const std::string& program) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::execl(program.c_str(), program.c_str(), nullptr);
      ::_exit(127);
    }
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child) return program + ": cannot be started";
    if (status == 0) return "";
    return WIFSIGNALED(status) ? fmt::format("{}: ended by signal {}", program, WTERMSIG(status))
                               : fmt::format("{}: status {}", program, WEXITSTATUS(status));
  }

  // The sum of all steps is the work: what was lost or done twice shows in it.
  std::string train() {
    const int steps = std::max(1, int(std::ceil(seconds_ / kStepSeconds)));
    std::uint64_t step = 0, sum = 0;
    if (const auto from = variable("ACRF_RESUME_FROM"); !from.empty()) {
      const auto text = read_file(from + "/work");
      if (!text) return text.error().sentence;
      const auto words = split(trim(*text), ' ');
      step = parse_unsigned(words.front()).value_or(0);
      sum = parse_unsigned(words.back()).value_or(0);
    }
    while (step < std::uint64_t(steps)) {
      if (const auto wrong = repeat(kStepSeconds, multiply_matrices); !wrong.empty()) return wrong;
      sum += ++step;
      if (step % kStepsPerCheckpoint != 0 && step != std::uint64_t(steps)) continue;
      if (const auto wrong = save(step, sum); !wrong.empty()) return wrong;
    }
    return sum == step * (step + 1) / 2 ? "" : "steps were lost or done twice";
  }

  std::string save(std::uint64_t step, std::uint64_t sum) const {
    const auto directory = variable("ACRF_CHECKPOINT_DIR");
    const auto draft = fmt::format("{}/.draft-{}-{}", directory, restart_, step);
    if (::mkdir(draft.c_str(), 0755) != 0) return draft + " cannot be made";
    const auto written = replace_file(draft + "/work", fmt::format("{} {}\n", step, sum), 0644);
    if (!written) return written.error().sentence;
    Publication publication;
    publication.checkpoint = draft;
    publication.directory = directory;
    publication.name = fmt::format("step-{}", step);
    if (const auto fence = parse_fence(variable("ACRF_FENCE"))) publication.fence = *fence;
    const auto published = publish_checkpoint(publication);
    if (published) return "";
    return published.error().code == ErrorCode::kDenied ? kFenced : published.error().sentence;
  }

  std::string break_own_gpu() {
    auto wrong = repeat(seconds_ / 2, [] { return true; });
    if (restart_ > 0 || !wrong.empty()) return wrong;
    const auto node = variable("SLURMD_NODENAME");
    const auto gpus = variable("SLURM_JOB_GPUS", "0");
    const auto command =
        fmt::format("acrf inject --node '{}' --gpu {} --xid 79", node,
                    parse_unsigned(gpus.substr(0, gpus.find_first_of(",-"))).value_or(0));
    say(What::kFault, node);
    if (std::system(command.c_str()) != 0) return "acrf inject failed";
    return repeat(seconds_ / 2, [] { return true; });
  }

  const std::string directory_ = variable("SIM_DIR");
  const int restart_ = number("SLURM_RESTART_COUNT");
  const double seconds_ = std::strtod(variable("SIM_SECONDS", "1").c_str(), nullptr);
};

}  // namespace

int work() { return Worker().run(); }

}  // namespace acrf::sim
