// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/slurmd_watch.h"

#include <fcntl.h>
#include <slurm/slurm.h>
#include <sys/prctl.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iostream>

namespace acrf {
namespace {

constexpr std::chrono::seconds kAskEvery{10};
constexpr std::chrono::seconds kAnswerTakes{3};
constexpr std::chrono::seconds kLookAgain{1};
constexpr int kLooks = 3;

}  // namespace

// SLURMD_NODENAME tells libslurm whose slurmd is meant where a machine has several.
SlurmdWatch::SlurmdWatch(const std::string& program, const std::string& node, int silence_s)
    : silence_s_(silence_s), next_ask_(Clock::now() + kAskEvery) {
  if (silence_s > 0)
    probe_ = std::make_unique<Probe>(std::vector<std::string>{program, "--slurmd-probe"},
                                     std::vector<std::string>{"SLURMD_NODENAME=" + node});
}

void SlurmdWatch::add_poll_fds(std::vector<pollfd>& fds) const {
  if (probe_ && probe_->waiting()) fds.push_back({probe_->poll_fd(), POLLIN, 0});
  if (look_.is_under_way()) fds.push_back(look_.poll_entry());
}

SlurmdWatch::Clock::time_point SlurmdWatch::next_wake() const {
  if (!probe_) return Clock::time_point::max();
  if (look_.is_under_way()) return look_.deadline();
  return probe_->deadline().value_or(next_ask_);
}

std::optional<SlurmdWatch::News> SlurmdWatch::step(Clock::time_point now,
                                                   const std::optional<PeerPlace>& self) {
  if (!probe_) return std::nullopt;
  if (!self) {  // where slurmd is, slurmctld has not said yet
    next_ask_ = std::max(next_ask_, now + kLookAgain);
    return std::nullopt;
  }
  if (!is_silent_) {
    const auto answers = ask(now);
    if (answers && *answers) return News::kAnswers;
    is_silent_ = answers.has_value();
    return std::nullopt;
  }
  if (!look_.is_under_way() && now >= next_ask_) look_.start(self->address, self->slurmd_port, now);
  if (!look_.is_under_way()) return std::nullopt;
  const auto serves = look_.step(now);
  if (!serves) return std::nullopt;
  next_ask_ = now + kLookAgain;
  return note_look(*serves || look_.was_refused(), now);
}

// By Slurm's own call.
std::optional<bool> SlurmdWatch::ask(Clock::time_point now) {
  std::optional<bool> answers;
  if (probe_->waiting()) {
    const auto answer = probe_->take_answer();
    if (answer && *answer) {
      answers = **answer == "yes";
    } else if (!answer || now >= *probe_->deadline()) {
      probe_->stop();
      answers = false;
    }
    if (answers) next_ask_ = *answers ? now + kAskEvery : now;
  } else if (now >= next_ask_) {
    next_ask_ = now + kAskEvery;
    (void)probe_->request(now + kAnswerTakes);
  }
  return answers;
}

std::optional<SlurmdWatch::News> SlurmdWatch::note_look(bool serves, Clock::time_point now) {
  const auto at = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
  silence_.note(serves, at.count());
  const bool hung = silence_.holds(silence_s_ * 1000, kLooks);
  if (serves) is_silent_ = false;  // Slurm's call is asked again, in its own time
  if (serves) next_ask_ = now + kAskEvery;
  const bool is_news = hung && !hung_;
  hung_ = hung;
  return is_news ? std::optional(News::kHung) : std::nullopt;
}

int run_slurmd_probe() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const UniqueFd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  ::dup2(nowhere.get(), STDERR_FILENO);
  slurm_init(nullptr);
  for (std::string request; std::getline(std::cin, request);) {
    slurmd_status_t* status = nullptr;
    const bool answers = slurm_load_slurmd_status(&status) == SLURM_SUCCESS;
    if (answers) slurm_free_slurmd_status(status);
    std::printf("%s\n", answers ? "yes" : "no");
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace acrf
