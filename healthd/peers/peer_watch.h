// SPDX-License-Identifier: GPL-2.0-or-later
// The thread in which this node watches its neighbours (core/peer_watch.h) and is watched by them.
// It never asks slurmctld, and nothing that it does waits.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/peer_watch.h"
#include "peers/peer_link.h"
#include "peers/peer_server.h"
#include "peers/slurmd_look.h"

namespace acrf {

struct PeerNews {
  enum class Kind {
    kDead,           // by two signs, and no other watcher hears it
    kHeard,          // again, after one of the others
    kHealthdSilent,  // but its slurmd answers: unknown, for people
    kGreeted,        // it has begun to watch this node (again)
  };
  Kind kind = Kind::kHeard;
  std::string node;
  std::string evidence;
};

class PeerWatch {
 public:
  using Clock = std::chrono::steady_clock;

  struct Settings {
    std::string node;
    Seals seals;
    int port = 0;  // 0: any
    PeerTimes times;
    std::chrono::milliseconds turn{1000};           // what each goes behind the one before it
    std::chrono::milliseconds alert_after{30'000};  // of a silent acrf-healthd
  };

  // `tell` is called in this thread.
  PeerWatch(Settings settings, std::function<void(const PeerNews&)> tell);
  // Tells the neighbours that this is an orderly end.
  ~PeerWatch();

  // Why nobody can ask this node; empty: they can.
  const std::string& problem() const { return problem_; }
  int port() const { return server_.port(); }

  // Those who were watched before and still are keep their connection.
  void watch(std::vector<PeerPlace> places);
  // The daemon's own loop turns.
  void note_turn() { last_turn_ms_ = now_ms(Clock::now()); }
  // Still so, right now.
  bool is_dead(const std::string& node) const;

 private:
  struct Peer {
    PeerLink link;
    PeerRecord record;
    SlurmdLook look;
    Clock::time_point next_look{};
    PeerVerdict verdict = PeerVerdict::kUnheard;
    Clock::time_point dead_since{};
    Clock::time_point contradicted{};  // when another watcher last said that it hears it
    bool asked = false;                // the other watchers, since it is silent
    bool told_dead = false;
    bool told_silent = false;
  };

  static std::int64_t now_ms(Clock::time_point now);
  void run();
  void wait();
  void take_places();
  void look_at(Peer& peer, Clock::time_point now);
  std::optional<bool> look_at_slurmd(Peer& peer, Clock::time_point now);
  void ask_others(const Peer& about);
  void judge(Clock::time_point now);
  void note_isolation(const std::vector<PeerVerdict>& verdicts);
  void follow(Peer& peer, Clock::time_point now);
  std::string hears(const std::string& node) const;
  void note_witness(const std::string& node, const std::string& word);

  Settings settings_;
  std::function<void(const PeerNews&)> tell_;
  PeerServer server_;
  std::string problem_;
  std::list<Peer> peers_;
  std::atomic<std::int64_t> last_turn_ms_;
  mutable std::mutex mutex_;
  std::optional<std::vector<PeerPlace>> next_places_;
  std::set<std::string> dead_;
  bool stopping_ = false;
  bool isolated_ = false;
  bool heard_all_ = false;  // since the last time it was told whom to watch
  UniqueFd wake_;
  std::thread thread_;
};

}  // namespace acrf
