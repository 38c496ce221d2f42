// SPDX-License-Identifier: GPL-2.0-or-later
#include "peers/peer_watch.h"

#include <spdlog/spdlog.h>
#include <sys/eventfd.h>

#include <algorithm>

namespace acrf {
namespace {

using std::chrono::milliseconds;

constexpr int kTurn_ms = 500;
constexpr milliseconds kLookAgain{1000};
// A slurmd that answers while acrf-healthd does not: each look is a line in its log.
constexpr milliseconds kLookAgainLater{30'000};
constexpr milliseconds kWitnessCounts{3000};
constexpr std::int64_t kStuck_ms = 10'000;

}  // namespace

std::int64_t PeerWatch::now_ms(Clock::time_point now) {
  return std::chrono::duration_cast<milliseconds>(now.time_since_epoch()).count();
}

PeerWatch::PeerWatch(Settings settings, std::function<void(const PeerNews&)> tell)
    : settings_(std::move(settings)),
      tell_(std::move(tell)),
      server_(settings_.node, settings_.seals,
              {[this] { return now_ms(Clock::now()) - last_turn_ms_ < kStuck_ms; },
               [this](const std::string& node) { return hears(node); },
               [this](const std::string& node) {
                 tell_({PeerNews::Kind::kGreeted, node, ""});
               }}),
      last_turn_ms_(now_ms(Clock::now())),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (const auto listens = server_.listen(settings_.port); !listens)
    problem_ = listens.error().sentence;
  thread_ = std::thread([this] { run(); });
}

PeerWatch::~PeerWatch() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ::eventfd_write(wake_.get(), 1);
  thread_.join();
  server_.say_bye();
}

void PeerWatch::watch(std::vector<PeerPlace> places) {
  {
    const std::lock_guard lock(mutex_);
    next_places_ = std::move(places);
  }
  ::eventfd_write(wake_.get(), 1);
}

bool PeerWatch::is_dead(const std::string& node) const {
  const std::lock_guard lock(mutex_);
  return dead_.contains(node);
}

void PeerWatch::run() {
  while (true) {
    wait();
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
    }
    take_places();
    const auto now = Clock::now();
    server_.step(now);
    for (auto& peer : peers_) look_at(peer, now);
    judge(now);
  }
}

void PeerWatch::wait() {
  std::vector<pollfd> fds = {{wake_.get(), POLLIN, 0}};
  server_.add_poll_fds(fds);
  for (const auto& peer : peers_) {
    if (const auto entry = peer.link.poll_entry()) fds.push_back(*entry);
    if (peer.look.is_under_way()) fds.push_back(peer.look.poll_entry());
  }
  ::poll(fds.data(), fds.size(), kTurn_ms);
  eventfd_t count = 0;
  ::eventfd_read(wake_.get(), &count);
}

void PeerWatch::take_places() {
  std::optional<std::vector<PeerPlace>> places;
  {
    const std::lock_guard lock(mutex_);
    places.swap(next_places_);
  }
  if (!places) return;
  heard_all_ = false;
  peers_.remove_if([&](const Peer& peer) {
    return std::find(places->begin(), places->end(), peer.link.place()) == places->end();
  });
  for (const auto& place : *places) {
    const bool known = std::any_of(peers_.begin(), peers_.end(),
                                   [&](const Peer& peer) { return peer.link.place() == place; });
    if (known) continue;
    peers_.push_back({PeerLink(settings_.node, place, settings_.seals,
                               [this](const std::string& node, const std::string& word) {
                                 note_witness(node, word);
                               }),
                      PeerRecord(settings_.times),
                      {}});
  }
}

void PeerWatch::look_at(Peer& peer, Clock::time_point now) {
  peer.link.step(now);
  PeerSigns signs;
  signs.at_ms = now_ms(now);
  signs.healthd_answers = peer.link.take_answer();
  signs.said_farewell = peer.link.said_farewell();
  signs.slurmd_answers = look_at_slurmd(peer, now);
  peer.verdict = peer.record.note(signs);
  if (peer.verdict == PeerVerdict::kAlive) peer.asked = false;
  if (signs.slurmd_answers && !*signs.slurmd_answers) {
    ask_others(peer);
    peer.asked = true;
  }
}

// Only of those whose acrf-healthd is silent.
std::optional<bool> PeerWatch::look_at_slurmd(Peer& peer, Clock::time_point now) {
  const bool wanted = peer.verdict == PeerVerdict::kSuspect || peer.verdict == PeerVerdict::kDead;
  const auto& place = peer.link.place();
  if (wanted && !peer.look.is_under_way() && now >= peer.next_look)
    peer.look.start(place.address, place.slurmd_port, now);
  if (!peer.look.is_under_way()) return std::nullopt;
  const auto serves = peer.look.step(now);
  if (serves) peer.next_look = now + (*serves ? kLookAgainLater : kLookAgain);
  return serves;
}

void PeerWatch::ask_others(const Peer& about) {
  for (auto& other : peers_)
    if (&other != &about) other.link.ask_about(about.link.place().name);
}

void PeerWatch::note_witness(const std::string& node, const std::string& word) {
  if (word != "yes") return;
  for (auto& peer : peers_)
    if (peer.link.place().name == node) peer.contradicted = Clock::now();
}

std::string PeerWatch::hears(const std::string& node) const {
  for (const auto& peer : peers_) {
    if (peer.link.place().name != node || peer.verdict == PeerVerdict::kUnheard) continue;
    return peer.verdict == PeerVerdict::kAlive ? "yes" : "no";
  }
  return "unknown";
}

// Said once: this node may be the one that is cut off, or all is well.
void PeerWatch::note_isolation(const std::vector<PeerVerdict>& verdicts) {
  const bool isolated = judge_peers(verdicts) != verdicts;
  if (isolated && !isolated_) {
    const auto unheard = std::count(verdicts.begin(), verdicts.end(), PeerVerdict::kUnheard);
    const auto alive = std::count(verdicts.begin(), verdicts.end(), PeerVerdict::kAlive);
    const auto heard = static_cast<std::ptrdiff_t>(verdicts.size()) - unheard;
    spdlog::warn("misses {} of {} neighbours: accuses none of them", heard - alive, heard);
  }
  isolated_ = isolated;
  const bool hears_all =
      !verdicts.empty() && std::count(verdicts.begin(), verdicts.end(), PeerVerdict::kAlive) ==
                               static_cast<std::ptrdiff_t>(verdicts.size());
  if (hears_all && !heard_all_) spdlog::info("hears all {} neighbours", verdicts.size());
  heard_all_ |= hears_all;
}

void PeerWatch::judge(Clock::time_point now) {
  std::vector<PeerVerdict> verdicts;
  for (const auto& peer : peers_) verdicts.push_back(peer.verdict);
  note_isolation(verdicts);
  if (isolated_)
    for (auto& peer : peers_) peer.record.forget_looks();
  verdicts = judge_peers(std::move(verdicts));
  std::set<std::string> dead;
  auto verdict = verdicts.begin();
  for (auto& peer : peers_) {
    const bool is_dead =
        *verdict++ == PeerVerdict::kDead && peer.asked && now - peer.contradicted > kWitnessCounts;
    if (!is_dead) peer.dead_since = {};
    if (is_dead && peer.dead_since == Clock::time_point{}) peer.dead_since = now;
    if (is_dead) dead.insert(peer.link.place().name);
  }
  {
    const std::lock_guard lock(mutex_);
    dead_ = std::move(dead);
  }
  for (auto& peer : peers_) follow(peer, now);
}

void PeerWatch::follow(Peer& peer, Clock::time_point now) {
  const auto& place = peer.link.place();
  const auto silent_s = peer.record.silent_ms(now_ms(now)) / 1000;
  const bool dead = peer.dead_since != Clock::time_point{};
  if (dead && !peer.told_dead && now - peer.dead_since >= place.rank * settings_.turn) {
    peer.told_dead = true;
    tell_({PeerNews::Kind::kDead, place.name,
           fmt::format("acrf-healthd has not answered for {} s, and slurmd does not either",
                       silent_s)});
  }
  const bool lone_silence =
      peer.record.only_slurmd_answers() && milliseconds(silent_s * 1000) >= settings_.alert_after;
  if (lone_silence && place.rank == 0 && !peer.told_silent) {
    peer.told_silent = true;
    tell_({PeerNews::Kind::kHealthdSilent, place.name,
           fmt::format("acrf-healthd has not answered for {} s; slurmd does", silent_s)});
  }
  if (peer.verdict != PeerVerdict::kAlive || !(peer.told_dead || peer.told_silent)) return;
  peer.told_dead = peer.told_silent = false;
  tell_({PeerNews::Kind::kHeard, place.name, "acrf-healthd answers again"});
}

}  // namespace acrf
