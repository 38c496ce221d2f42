// SPDX-License-Identifier: GPL-2.0-or-later
#include "peers/peer_link.h"

#include <sys/random.h>

#include "core/text.h"
#include "peers/greeting.h"

namespace acrf {
namespace {

constexpr std::chrono::milliseconds kPing{1000};
constexpr std::chrono::seconds kRetry{1};
constexpr std::chrono::seconds kConnect{2};
// A connection whose other end has gone without a word is made anew.
constexpr std::chrono::seconds kStale{5};

std::string make_nonce() {
  unsigned char bytes[16] = {};
  if (::getrandom(bytes, sizeof bytes, GRND_NONBLOCK) != sizeof bytes) return "";
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const auto byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace

std::optional<pollfd> PeerLink::poll_entry() const {
  if (state_ == State::kConnecting) return pollfd{connecting_.get(), POLLOUT, 0};
  if (socket_.is_open()) return socket_.poll_entry();
  return std::nullopt;
}

void PeerLink::connect(Clock::time_point now) {
  auto fd = begin_connect(place_.address, place_.healthd_port);
  if (!fd) return drop(now);
  connecting_ = std::move(*fd);
  state_ = State::kConnecting;
  last_answer_ = now;
}

void PeerLink::greet(Clock::time_point now) {
  nonce_ = make_nonce();
  const auto words = hello(seals_, self_, place_.name, nonce_);
  if (!words || nonce_.empty()) return drop(now);
  socket_ = LineSocket(std::move(connecting_));
  socket_.send(*words);
  state_ = State::kGreeting;
}

void PeerLink::drop(Clock::time_point now) {
  socket_.close();
  connecting_.reset();
  state_ = State::kDown;
  next_try_ = now + kRetry;
}

void PeerLink::step(Clock::time_point now) {
  if (state_ == State::kDown && now >= next_try_) connect(now);
  if (state_ == State::kConnecting) {
    pollfd entry = {connecting_.get(), POLLOUT, 0};
    if (::poll(&entry, 1, 0) == 1) {
      if (connect_result(connecting_.get()) != 0) return drop(now);
      greet(now);
    } else if (now - last_answer_ > kConnect) {
      drop(now);
    }
  }
  if (state_ == State::kGreeting || state_ == State::kUp) take_lines(now);
}

void PeerLink::take_lines(Clock::time_point now) {
  socket_.pump();
  while (const auto line = socket_.take_line()) {
    take_line(*line);
    if (answered_) last_answer_ = now;
  }
  if (!socket_.is_open() || now - last_answer_ > kStale) return drop(now);
  if (state_ != State::kUp || now < next_ping_) return;
  next_ping_ = now + kPing;
  socket_.send("ping");
}

void PeerLink::take_line(const std::string& line) {
  std::string_view word = line;
  if (state_ == State::kGreeting) {
    if (!is_welcome(seals_, line, self_, place_.name, nonce_)) return socket_.close();
    state_ = State::kUp;
    next_ping_ = {};
    farewell_ = false;
    answered_ = true;
  } else if (word == "alive") {
    answered_ = true;
  } else if (word == "bye") {
    farewell_ = true;
  } else if (take_prefix(word, "heard ")) {
    const auto words = split(word, ' ');
    if (words.size() == 2) witness_(std::string(words[0]), std::string(words[1]));
  }
}

void PeerLink::ask_about(const std::string& node) {
  if (is_up()) socket_.send("hear " + node);
}

}  // namespace acrf
