// SPDX-License-Identifier: GPL-2.0-or-later
// acrf top: the cluster on a terminal, again and again. slurmctld or a hub is asked in a thread of
// its own, for an answer may take tens of seconds and keys must work meanwhile.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <mutex>
#include <thread>

#include "cluster_commands.h"
#include "cluster_source.h"
#include "common/unique_fd.h"
#include "terminal.h"
#include "top_view.h"

namespace acrf {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr double kShortest_s = 0.5, kLongest_s = 60;

struct TopOptions {
  SourceOptions source;
  StatusLimits limits;
  double interval_s = 2;
  int count = 0;  // frames; 0: until somebody ends it, or one where nobody can
  bool jobs = false;
};

// What is new, or what was before and why it is not new.
void refresh(ClusterSource& source, const StatusLimits& limits, TopPage page, TopData& data) {
  const auto take = [&]() -> Status {
    auto facts = source.status();
    if (!facts) return facts.error();
    if (page == TopPage::kNodes) {
      auto nodes = source.nodes();
      if (!nodes) return nodes.error();
      data.nodes = std::move(*nodes);
    } else {
      auto jobs = source.jobs();
      if (!jobs) return jobs.error();
      data.jobs = std::move(*jobs);
    }
    data.judgement = judge_status(*facts, limits);
    data.facts = std::move(*facts);
    data.time = fmt::format("{:%H:%M:%S}", fmt::localtime(std::time(nullptr)));
    return Done{};
  };
  const auto taken = take();
  data.problem = taken ? "" : taken.error().sentence;
  if (!taken && data.time.empty()) data.judgement = {CheckStatus::kUnknown, "no answer yet"};
  sort_for_top(data);
}

// Asks in a thread. It is never joined: the process ends while it may still wait for an answer.
class Asker {
 public:
  Asker(ClusterSource& source, StatusLimits limits, TopPage page, double interval_s)
      : source_(source), limits_(limits), page_(page), interval_s_(interval_s) {
    data_.judgement = {CheckStatus::kUnknown, "no answer yet"};
    std::thread([this] { run(); }).detach();
  }

  int news() const { return news_.get(); }
  TopData data() {
    std::uint64_t count = 0;
    static_cast<void>(!::read(news_.get(), &count, sizeof count));
    const std::lock_guard lock(mutex_);
    return data_;
  }
  void want(TopPage page, double interval_s) {
    const std::lock_guard lock(mutex_);
    page_ = page;
    interval_s_ = interval_s;
    wanted_ = true;
    wake_.notify_all();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      auto data = data_;
      const auto page = page_;
      lock.unlock();
      refresh(source_, limits_, page, data);
      lock.lock();
      data_ = std::move(data);
      const std::uint64_t one = 1;
      static_cast<void>(!::write(news_.get(), &one, sizeof one));
      wake_.wait_for(lock, Seconds(interval_s_), [this] { return wanted_; });
      wanted_ = false;
    }
  }

  ClusterSource& source_;
  const StatusLimits limits_;
  UniqueFd news_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::mutex mutex_;
  std::condition_variable wake_;
  TopPage page_;
  double interval_s_;
  bool wanted_ = false;
  TopData data_;
};

UniqueFd take_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH})
    sigaddset(&signals, signal);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  return UniqueFd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

class Top {
 public:
  Top(Asker& asker, int signals, const TopOptions& options)
      : asker_(asker),
        signals_(signals),
        interval_s_(options.interval_s),
        frames_left_(options.count) {
    frame_.page = options.jobs ? TopPage::kJobs : TopPage::kNodes;
    frame_.colours = !std::getenv("NO_COLOR");
    frame_.keys = terminal_.input() >= 0;
  }

  void run() {
    while (!ended_) {
      draw();
      pollfd waits[] = {
          {signals_, POLLIN, 0}, {asker_.news(), POLLIN, 0}, {terminal_.input(), POLLIN, 0}};
      if (ended_ || (::poll(waits, 3, -1) < 0 && errno != EINTR)) return;
      if (waits[0].revents) take_signal();
      if (waits[1].revents) {
        data_ = asker_.data();
        ended_ = ended_ || (frames_left_ > 0 && --frames_left_ == 0);
        if (ended_) draw();
      }
      if (waits[2].revents) take_keys();
    }
  }

 private:
  void draw() {
    const auto size = terminal_.size();
    frame_.lines = size.lines;
    frame_.columns = size.columns;
    if (!terminal_.draw(top_lines(data_, frame_))) ended_ = true;
  }

  void take_signal() {
    signalfd_siginfo info{};
    while (::read(signals_, &info, sizeof info) == sizeof info) {
      if (info.ssi_signo == SIGTSTP)
        terminal_.stop_here();
      else if (info.ssi_signo != SIGWINCH)
        ended_ = true;
    }
  }

  void take_keys() {
    char bytes[256];
    const auto n = ::read(terminal_.input(), bytes, sizeof bytes);
    if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) ended_ = true;
    if (n <= 0) return;
    for (const auto& stroke : strokes_in({bytes, static_cast<std::size_t>(n)}))
      stroke.key == Key::kNone ? take_character(stroke.character) : scroll(stroke.key);
  }

  void take_character(char c) {
    switch (c) {
      case 'q':
      case 'Q': ended_ = true; return;
      case 'n': return turn_to(TopPage::kNodes);
      case 'j': return turn_to(TopPage::kJobs);
      case ' ': return asker_.want(frame_.page, interval_s_);
      case '+': return set_pace(interval_s_ / 2);
      case '-': return set_pace(interval_s_ * 2);
      default: return;
    }
  }

  void turn_to(TopPage page) {
    frame_.page = page;
    frame_.first = 0;
    asker_.want(page, interval_s_);
  }

  void set_pace(double interval_s) {
    interval_s_ = std::clamp(interval_s, kShortest_s, kLongest_s);
    asker_.want(frame_.page, interval_s_);
  }

  void scroll(Key key) {
    const auto page = std::max<std::size_t>(1, rows_that_fit(data_, frame_));
    auto& first = frame_.first;
    switch (key) {
      case Key::kUp: first -= std::min<std::size_t>(first, 1); return;
      case Key::kDown: ++first; return;
      case Key::kPageUp: first -= std::min(first, page); return;
      case Key::kPageDown: first += page; return;
      case Key::kHome: first = 0; return;
      case Key::kEnd: first = data_.nodes.size() + data_.jobs.size(); return;
      case Key::kNone: return;
    }
  }

  Asker& asker_;
  const int signals_;
  Terminal terminal_;
  TopFrame frame_;
  double interval_s_;
  int frames_left_;
  bool ended_ = false;
  TopData data_;
};

nlohmann::ordered_json to_json(const TopData& data, TopPage page) {
  auto all = status_json(data.facts, data.judgement);
  if (!data.problem.empty()) all["problem"] = data.problem;
  auto& rows = all[page == TopPage::kNodes ? "node_list" : "job_list"] =
      nlohmann::ordered_json::array();
  if (page == TopPage::kNodes)
    for (const auto& node : data.nodes) rows.push_back(to_json(node));
  else
    for (const auto& job : data.jobs) rows.push_back(to_json(job));
  return all;
}

// Frames one below the other, for a file or a pipe; as JSON each is a line.
int print_frames(ClusterSource& source, const TopOptions& options, bool json) {
  TopData data;
  TopFrame frame;
  frame.page = options.jobs ? TopPage::kJobs : TopPage::kNodes;
  frame.lines = frame.columns = SIZE_MAX / 2;
  for (int i = 0; i < std::max(1, options.count); ++i) {
    if (i > 0) {
      if (!json) fmt::print("\n");
      std::this_thread::sleep_for(Seconds(options.interval_s));
    }
    refresh(source, options.limits, frame.page, data);
    if (json)
      print_json(to_json(data, frame.page));
    else
      for (const auto& line : top_lines(data, frame)) fmt::print("{}\n", line);
    std::fflush(stdout);
  }
  return data.problem.empty() ? 0 : static_cast<int>(CheckStatus::kUnknown);
}

void show_top(CommandLine& line, const TopOptions& options) {
  const auto source = open_source(line, options.source);
  if (!source) return fail_check(line, source.error());
  if (line.json || !can_draw()) {
    line.status = print_frames(**source, options, line.json);
    return;
  }
  // Blocked before there is a second thread, so that no signal ends the process in between.
  const auto signals = take_signals();
  Asker asker(**source, options.limits, options.jobs ? TopPage::kJobs : TopPage::kNodes,
              options.interval_s);
  Top(asker, signals.get(), options).run();
  // The asker may still wait for an answer, which nothing may be torn down under.
  ::_exit(0);
}

}  // namespace

void add_top_command(CommandLine& line) {
  auto* command = line.app.add_subcommand("top", "the cluster on this terminal, as it changes");
  command->fallthrough();
  const auto options = std::make_shared<TopOptions>();
  add_source_options(command, options->source);
  command->add_option("-d,--interval", options->interval_s, "seconds between two looks (2)")
      ->check(CLI::Range(kShortest_s, kLongest_s));
  command->add_option("-n,--count", options->count, "end after so many looks")
      ->check(CLI::Range(1, 1'000'000));
  command->add_flag("--jobs", options->jobs, "begin with the jobs");
  command->callback([&line, options] { show_top(line, *options); });
}

}  // namespace acrf
