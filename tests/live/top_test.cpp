// SPDX-License-Identifier: GPL-2.0-or-later
// acrf top on a terminal of its own: it draws, obeys keys and sizes, and gives the terminal back.
#include <gmock/gmock.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>

#include <algorithm>

#include "common/arguments.h"
#include "common/unique_fd.h"
#include "live_cluster.h"

namespace acrf::minicluster {
namespace {

using testing::HasSubstr;

constexpr char kLeft[] = "\033[?1049l";  // the second screen

// A program on a terminal that the test has the other end of.
class OnTerminal {
 public:
  OnTerminal(std::vector<std::string> words, std::vector<std::string> environment) {
    int ends[2] = {-1, -1};
    winsize size{24, 80, 0, 0};
    EXPECT_EQ(::openpty(&ends[0], &ends[1], nullptr, nullptr, &size), 0);
    ours_.reset(ends[0]);
    theirs_.reset(ends[1]);
    environment.insert(environment.begin(), "TERM=xterm");
    words.insert(words.begin(), "env");  // which looks in the cluster's PATH
    const auto arguments = pointers_to(words);
    const auto variables = pointers_to(environment);
    child_ = ::fork();
    if (child_ != 0) return;
    ::login_tty(ends[1]);
    ::execvpe(arguments[0], arguments.data(), variables.data());
    ::_exit(127);
  }
  ~OnTerminal() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }

  bool shows(const std::function<bool(const std::string&)>& wanted) {
    return wait_until([&] {
      read_more();
      return wanted(text_);
    });
  }
  bool shows(const std::string& text) {
    return shows([&](const std::string& all) { return all.find(text) != std::string::npos; });
  }
  void forget() { text_.clear(); }
  void type(const std::string& keys) {
    EXPECT_EQ(::write(ours_.get(), keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }
  void resize(unsigned short lines, unsigned short columns) {
    winsize size{lines, columns, 0, 0};
    EXPECT_EQ(::ioctl(ours_.get(), TIOCSWINSZ, &size), 0);
  }
  void signal(int signal) { ::kill(child_, signal); }
  // 128+N for signal N; -1: it goes on.
  int status() {
    int status = -1;
    const bool ended = wait_until([&] {
      read_more();
      return ::waitpid(child_, &status, WNOHANG) == child_;
    });
    if (!ended) return -1;
    child_ = -1;
    read_more();
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  bool takes_lines() const {
    termios settings{};
    ::tcgetattr(theirs_.get(), &settings);
    return (settings.c_lflag & ICANON) != 0 && (settings.c_lflag & ECHO) != 0;
  }
  const std::string& text() const { return text_; }

 private:
  void read_more() {
    char buffer[4096];
    for (pollfd readable{ours_.get(), POLLIN, 0}; ::poll(&readable, 1, 0) == 1;) {
      const auto n = ::read(ours_.get(), buffer, sizeof buffer);
      if (n <= 0) return;
      text_.append(buffer, static_cast<std::size_t>(n));
    }
  }

  UniqueFd ours_, theirs_;
  pid_t child_ = -1;
  std::string text_;
};

// Lines of the last whole frame.
std::ptrdiff_t lines_drawn(const std::string& text) {
  const auto end = text.rfind("\033[J");
  const auto begin = text.rfind("\033[H", end);
  if (end == std::string::npos || begin == std::string::npos) return -1;
  return 1 + std::count(text.begin() + static_cast<std::ptrdiff_t>(begin),
                        text.begin() + static_cast<std::ptrdiff_t>(end), '\n');
}

class TopLive : public LiveCluster {
 protected:
  OnTerminal top() {
    return OnTerminal({"acrf", "top", "--interval", "0.5"}, cluster().environment());
  }
};

TEST_F(TopLive, GivesTheTerminalBackHoweverItEnds) {
  start(small());
  struct {
    const char* name;
    std::function<void(OnTerminal&)> end;
    int status;
  } const ways[] = {
      {"a key", [](OnTerminal& one) { one.type("q"); }, 0},
      {"Ctrl-C", [](OnTerminal& one) { one.type("\003"); }, 0},
      {"SIGTERM", [](OnTerminal& one) { one.signal(SIGTERM); }, 0},
      {"SIGHUP", [](OnTerminal& one) { one.signal(SIGHUP); }, 0},
      {"a crash", [](OnTerminal& one) { one.signal(SIGSEGV); }, 128 + SIGSEGV},
  };
  for (const auto& way : ways) {
    auto one = top();
    ASSERT_TRUE(one.shows("n4")) << one.text();
    EXPECT_FALSE(one.takes_lines());
    way.end(one);
    EXPECT_EQ(one.status(), way.status) << way.name;
    EXPECT_THAT(one.text(), HasSubstr(kLeft)) << way.name;
    EXPECT_TRUE(one.takes_lines()) << way.name;
  }
}

TEST_F(TopLive, ObeysKeysAndTheTerminalsSize) {
  start(small());
  auto one = top();
  ASSERT_TRUE(one.shows("n4")) << one.text();
  EXPECT_THAT(one.text(), HasSubstr("\033[7mNODE"));  // colours: it is a terminal
  one.type("j");
  EXPECT_TRUE(one.shows("RESTARTS"));
  one.forget();
  one.resize(7, 40);
  EXPECT_TRUE(one.shows([](const std::string& text) { return lines_drawn(text) == 7; }))
      << one.text();
  one.type("q");
  EXPECT_EQ(one.status(), 0);
}

TEST_F(TopLive, IsStoppedAndGoesOn) {
  start(small());
  auto one = top();
  ASSERT_TRUE(one.shows("n4"));
  one.forget();
  one.signal(SIGTSTP);
  EXPECT_TRUE(one.shows(kLeft));
  EXPECT_TRUE(wait_until([&] { return one.takes_lines(); }));
  one.forget();
  one.signal(SIGCONT);
  EXPECT_TRUE(one.shows("n4")) << one.text();
  one.type("q");
  EXPECT_EQ(one.status(), 0);
}

TEST_F(TopLive, GoesOnWithoutSlurmctldAndSaysSo) {
  start(small());
  auto one = top();
  ASSERT_TRUE(one.shows("n4"));
  ASSERT_TRUE(cluster().kill("slurmctld").ok());
  EXPECT_TRUE(one.shows("not new: ")) << one.text();
  one.type("q");  // at once, whatever the call to slurmctld is waiting for
  EXPECT_EQ(one.status(), 0);
}

}  // namespace
}  // namespace acrf::minicluster
