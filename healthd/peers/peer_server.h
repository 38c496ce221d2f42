// SPDX-License-Identifier: GPL-2.0-or-later
// The side that is watched: answers those neighbours who have shown who they are.
//
//   ping       -> alive, or stuck while the daemon's own loop does not turn
//   hear NODE  -> heard NODE yes|no|unknown
//   (at an orderly stop) bye
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <string>
#include <vector>

#include "common/munge.h"
#include "peers/line_socket.h"

namespace acrf {

class PeerServer {
 public:
  using Clock = std::chrono::steady_clock;

  struct Answers {
    std::function<bool()> is_alive;
    std::function<std::string(const std::string& node)> hears;  // yes, no or unknown
    std::function<void(const std::string& node)> when_greeted;
  };

  PeerServer(std::string node, Seals seals, Answers answers)
      : node_(std::move(node)), seals_(std::move(seals)), answers_(std::move(answers)) {}

  // Port 0: any; port() says which.
  Status listen(int port);
  int port() const;

  void add_poll_fds(std::vector<pollfd>& fds) const;
  void step(Clock::time_point now);
  void say_bye();

 private:
  struct Visitor {
    LineSocket socket;
    std::string name;  // empty: has not said hello yet
    Clock::time_point last_word;
  };

  void accept_all(Clock::time_point now);
  void answer(Visitor& visitor, const std::string& line, Clock::time_point now);
  void greet(Visitor& visitor, const std::string& line, Clock::time_point now);

  std::string node_;
  Seals seals_;
  Answers answers_;
  UniqueFd listener_;
  std::list<Visitor> visitors_;
  Clock::time_point no_greeting_before_;  // munged does not answer: the others must not wait for it
};

}  // namespace acrf
