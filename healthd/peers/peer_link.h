// SPDX-License-Identifier: GPL-2.0-or-later
// The watching side of one neighbour: keeps a connection to its acrf-healthd and asks every second.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "common/munge.h"
#include "peers/line_socket.h"

namespace acrf {

// Where a node's daemons are; addresses are numeric.
struct PeerPlace {
  std::string name;
  std::string address;
  int healthd_port = 0;
  int slurmd_port = 0;
  int rank = 0;  // how many others go before this node when it is dead
  bool operator==(const PeerPlace&) const = default;
};

class PeerLink {
 public:
  using Clock = std::chrono::steady_clock;

  // `say` gets the answers to ask_about().
  using Witness = std::function<void(const std::string& node, const std::string& word)>;
  PeerLink(std::string self, PeerPlace place, Seals seals, Witness witness)
      : self_(std::move(self)),
        place_(std::move(place)),
        seals_(std::move(seals)),
        witness_(std::move(witness)) {}

  const PeerPlace& place() const { return place_; }
  std::optional<pollfd> poll_entry() const;

  void step(Clock::time_point now);
  // Whether it has answered since the last call.
  bool take_answer() { return std::exchange(answered_, false); }
  bool said_farewell() const { return farewell_; }
  bool is_up() const { return state_ == State::kUp; }

  // "hear NODE": what this neighbour knows of another.
  void ask_about(const std::string& node);

 private:
  enum class State { kDown, kConnecting, kGreeting, kUp };

  void connect(Clock::time_point now);
  void greet(Clock::time_point now);
  void take_lines(Clock::time_point now);
  void take_line(const std::string& line);
  void drop(Clock::time_point now);

  std::string self_;
  PeerPlace place_;
  Seals seals_;
  Witness witness_;
  State state_ = State::kDown;
  UniqueFd connecting_;
  LineSocket socket_;
  std::string nonce_;
  Clock::time_point next_try_;
  Clock::time_point next_ping_;
  Clock::time_point last_answer_;
  bool answered_ = false;
  bool farewell_ = false;
};

}  // namespace acrf
