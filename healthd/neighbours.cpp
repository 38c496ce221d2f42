// SPDX-License-Identifier: GPL-2.0-or-later
#include "neighbours.h"

#include <spdlog/spdlog.h>
#include <sys/eventfd.h>

namespace acrf {

Neighbours::Neighbours(std::string node, int silence_s)
    : node_(std::move(node)),
      silence_s_(silence_s),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void Neighbours::place(const Neighbourhood::Found& found) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return;
  self_ = found.self;
  if (found.self.healthd_port == found.self.slurmd_port) return;  // PeerPortOffset=0
  if (!watch_) {
    PeerWatch::Settings settings;
    settings.node = node_;
    settings.seals = munge_seals(found.munge_socket);
    settings.port = found.self.healthd_port;
    settings.times.silence_ms = settings.times.confirm_ms = silence_s_ * 1000;
    settings.alert_after = std::chrono::seconds(10 * silence_s_);
    watch_ = std::make_shared<PeerWatch>(std::move(settings), [this](const PeerNews& news) {
      const std::lock_guard news_lock(mutex_);
      news_.push_back(news);
      ::eventfd_write(wake_.get(), 1);
    });
    if (!watch_->problem().empty())
      spdlog::error("{}; neighbours can't ask this node", watch_->problem());
  }
  std::string names;
  for (const auto& peer : found.peers) names += (names.empty() ? "" : ", ") + peer.name;
  spdlog::info("watches neighbours: {}", names.empty() ? "none" : names);
  watch_->watch(found.peers);
}

bool Neighbours::is_dead(const std::string& node) const {
  const std::lock_guard lock(mutex_);
  return watch_ && watch_->is_dead(node);
}

void Neighbours::note_turn() {
  const std::lock_guard lock(mutex_);
  if (watch_) watch_->note_turn();
}

std::deque<PeerNews> Neighbours::take_news() {
  eventfd_t count = 0;
  ::eventfd_read(wake_.get(), &count);
  const std::lock_guard lock(mutex_);
  return std::exchange(news_, {});
}

std::optional<PeerPlace> Neighbours::self() const {
  const std::lock_guard lock(mutex_);
  return self_;
}

void Neighbours::stop() {
  std::shared_ptr<PeerWatch> watch;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    watch = std::exchange(watch_, nullptr);
  }
}

}  // namespace acrf
