// SPDX-License-Identifier: GPL-2.0-or-later
#include "screen.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>

#include "common/file.h"

namespace acrf::sim {
namespace {

constexpr std::int64_t kWithoutTerminal_ms = 10'000;

std::string coloured(const char* colour, const std::string& text, bool colours) {
  return colours ? fmt::format("\033[{}m{}\033[0m", colour, text) : text;
}

std::string seconds_or_dash(const std::optional<double>& value) {
  return value ? fmt::format("{:.1f} s", *value) : "-";
}

}  // namespace

std::string progress_line(std::int64_t now_ms, const Figures& figures, const Options& options,
                          bool colours) {
  const auto seconds = now_ms / 1000;
  std::string line = fmt::format("{:02}:{:02}", seconds / 60, seconds % 60);
  if (options.seconds > 0)
    line += fmt::format("/{:02}:{:02}", options.seconds / 60, options.seconds % 60);
  line += "  jobs " + coloured("32", fmt::format("{} done", figures.completed), colours);
  line += fmt::format(" {} running {} waiting", figures.running, figures.pending);
  if (figures.failed > 0)
    line += " " + coloured("31", fmt::format("{} failed", figures.failed), colours);
  line += "  faults " + coloured("33", std::to_string(figures.injected), colours);
  line += fmt::format(" repaired {}", figures.repaired);
  line += "  recovered " + coloured("36", std::to_string(figures.recovered), colours) + " (p50 " +
          seconds_or_dash(figures.recover_p50_s) + ")";
  line += fmt::format("  GPUs {:.0f} %", 100 * figures.gpu_share);
  if (figures.ettr) line += fmt::format("  ETTR {:.2f}", *figures.ettr);
  if (!figures.wrongs.empty())
    line += "  " + coloured("1;31", fmt::format("{} WRONG", figures.wrongs.size()), colours);
  return line;
}

Screen::Screen()
    : terminal_(::isatty(STDOUT_FILENO) == 1), colours_(terminal_ && !std::getenv("NO_COLOR")) {}

void Screen::log_to(const std::string& path) {
  log_ = path;
  if (const auto made = replace_file(path, "", 0644); !made) complain(made.error().sentence);
}

void Screen::clear_line() {
  if (line_is_up_) fmt::print("\r\033[K");
  line_is_up_ = false;
}

void Screen::say(const std::string& text) {
  clear_line();
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

void Screen::complain(const std::string& text) {
  clear_line();
  std::fflush(stdout);
  fmt::print(stderr, "acrf-sim: {}\n", text);
}

void Screen::note(std::int64_t now_ms, const std::string& what) {
  if (log_.empty()) return;
  const auto now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &local);
  (void)append_file(log_, fmt::format("{} {:8.2f} s  {}\n", text, double(now_ms) / 1000, what));
}

void Screen::show(std::int64_t now_ms, const Figures& figures, const Options& options) {
  if (!terminal_ && now_ms - shown_ms_ < kWithoutTerminal_ms) return;
  shown_ms_ = now_ms;
  const auto line = progress_line(now_ms, figures, options, colours_);
  if (!terminal_) return say(line);
  // No wrapping: a line of two rows could not be written over.
  fmt::print("\r\033[?7l{}\033[K\033[?7h", line);
  std::fflush(stdout);
  line_is_up_ = true;
}

void Screen::end_with(const Figures& figures) {
  say("");
  say(
      fmt::format("jobs        {} submitted, {} completed, {} failed, {} unfinished; {} requeued "
                  "runs, {} retries",
                  figures.submitted, figures.completed, figures.failed,
                  figures.pending + figures.running, figures.requeued, figures.retried));
  say(fmt::format("faults      {} injected, {} parts repaired and returned, {} under repair",
                  figures.injected, figures.repaired, figures.under_repair));
  say(fmt::format("recovered   {} times; fault to running again p50 {}, p99 {}, largest {}",
                  figures.recovered, seconds_or_dash(figures.recover_p50_s),
                  seconds_or_dash(figures.recover_p99_s), seconds_or_dash(figures.recover_max_s)));
  say(fmt::format("waiting     p50 {}, p99 {};  GPUs allocated {:.0f} %;  ETTR {}",
                  seconds_or_dash(figures.waiting_p50_s), seconds_or_dash(figures.waiting_p99_s),
                  100 * figures.gpu_share,
                  figures.ettr ? fmt::format("{:.3f}", *figures.ettr) : std::string("-")));
  for (const auto& wrong : figures.wrongs) complain(wrong);
  if (figures.wrongs.empty()) say("No job was lost, none ran twice.");
}

}  // namespace acrf::sim
