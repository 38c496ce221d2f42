// SPDX-License-Identifier: GPL-2.0-or-later
#include "terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace acrf {
namespace {

// The second screen, no wrapping, no cursor; and back.
constexpr char kEnter[] = "\033[?1049h\033[?7l\033[?25l";
constexpr char kLeave[] = "\033[0m\033[?25h\033[?7h\033[?1049l";

// For the handler of fatal signals, which can reach nothing else.
termios saved_settings{};
bool has_settings = false;
volatile sig_atomic_t is_entered = 0;
int saved_errors = -1;

bool write_all(const char* bytes, std::size_t size) {
  while (size > 0) {
    const auto n = ::write(STDOUT_FILENO, bytes, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

// Only calls that a signal handler may make.
void give_back() {
  if (!is_entered) return;
  is_entered = 0;
  write_all(kLeave, sizeof kLeave - 1);
  if (has_settings) ::tcsetattr(STDIN_FILENO, TCSANOW, &saved_settings);
  if (saved_errors >= 0) ::dup2(saved_errors, STDERR_FILENO);
}

void give_back_and_die(int signal) {
  give_back();
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

constexpr std::array kFatal = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};

Key key_of(std::string_view sequence) {
  if (sequence == "A") return Key::kUp;
  if (sequence == "B") return Key::kDown;
  if (sequence == "H" || sequence == "1~" || sequence == "7~") return Key::kHome;
  if (sequence == "F" || sequence == "4~" || sequence == "8~") return Key::kEnd;
  if (sequence == "5~") return Key::kPageUp;
  return sequence == "6~" ? Key::kPageDown : Key::kNone;
}

}  // namespace

std::vector<Stroke> strokes_in(const std::string& bytes) {
  std::vector<Stroke> strokes;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const bool begins_sequence =
        bytes[i] == '\033' && i + 1 < bytes.size() && (bytes[i + 1] == '[' || bytes[i + 1] == 'O');
    if (!begins_sequence) {
      strokes.push_back({bytes[i], Key::kNone});
      continue;
    }
    // Up to the letter or tilde that ends it.
    auto end = i + 2;
    while (end < bytes.size() && (bytes[end] < '@' || bytes[end] > '~')) ++end;
    strokes.push_back({0, key_of(std::string_view(bytes).substr(i + 2, end - i - 1))});
    i = end;
  }
  return strokes;
}

bool can_draw() {
  const char* term = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && term && *term && std::strcmp(term, "dumb") != 0;
}

Terminal::Terminal() {
  has_settings = ::isatty(STDIN_FILENO) == 1 && ::tcgetattr(STDIN_FILENO, &saved_settings) == 0;
  saved_errors = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  for (const int signal : kFatal) ::signal(signal, give_back_and_die);
  enter();
}

Terminal::~Terminal() {
  leave();
  for (const int signal : kFatal) ::signal(signal, SIG_DFL);
  if (saved_errors >= 0) ::close(saved_errors);
  saved_errors = -1;
}

// What libraries complain of on standard error would stand in the middle of the picture.
void Terminal::enter() {
  if (has_settings) {
    auto settings = saved_settings;
    settings.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    settings.c_cc[VMIN] = 1;
    settings.c_cc[VTIME] = 0;
    ::tcsetattr(STDIN_FILENO, TCSANOW, &settings);
  }
  if (const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC); null >= 0) {
    ::dup2(null, STDERR_FILENO);
    ::close(null);
  }
  is_entered = 1;
  write_all(kEnter, sizeof kEnter - 1);
}

void Terminal::leave() { give_back(); }

void Terminal::stop_here() {
  leave();
  ::raise(SIGSTOP);
  enter();
}

TerminalSize Terminal::size() const {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0)
    return {};
  return {size.ws_row, size.ws_col};
}

bool Terminal::draw(const std::vector<std::string>& lines) {
  std::string text = "\033[H";
  for (std::size_t i = 0; i < lines.size(); ++i)
    text += (i == 0 ? "" : "\r\n") + lines[i] + "\033[K";
  text += "\033[J";
  return write_all(text.data(), text.size());
}

int Terminal::input() const { return has_settings ? STDIN_FILENO : -1; }

}  // namespace acrf
