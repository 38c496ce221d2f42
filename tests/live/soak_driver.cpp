// SPDX-License-Identifier: GPL-2.0-or-later
// The soak's course and its looks at the books.
#include "soak_driver.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>

#include <algorithm>
#include <ctime>
#include <fstream>

#include "core/text.h"

namespace acrf::minicluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kStableLooks = 5;

Seconds now() { return static_cast<Seconds>(std::time(nullptr)); }

}  // namespace

enum class SoakDriver::Card : int {
  kSubmit,
  kCancel,
  kRequeue,
  kHold,
  kRelease,
  kSuspend,
  kResume,
  kShrink,
  kHasten,
  kDrain,
  kFail,
  kBringBack,
  kHealth,
  kSlurmd,
  kReconfigure,
  kRestart,
  kReserve,
  kUnreserve,
  kLook,
  kLookClosely,
};

// As in a deck of cards, each event has its share within a few dozen jobs: a short soak sees all.
std::vector<SoakDriver::Card> SoakDriver::shuffled_deck() {
  static constexpr std::pair<Card, int> kShares[] = {
      {Card::kSubmit, 44}, {Card::kCancel, 5},    {Card::kRequeue, 4},     {Card::kHold, 3},
      {Card::kRelease, 4}, {Card::kSuspend, 4},   {Card::kResume, 4},      {Card::kShrink, 4},
      {Card::kHasten, 3},  {Card::kDrain, 3},     {Card::kFail, 2},        {Card::kBringBack, 5},
      {Card::kHealth, 8},  {Card::kSlurmd, 1},    {Card::kReconfigure, 1}, {Card::kRestart, 1},
      {Card::kReserve, 2}, {Card::kUnreserve, 2}, {Card::kLook, 12},       {Card::kLookClosely, 4},
  };
  std::vector<Card> deck;
  for (const auto& [card, share] : kShares) deck.insert(deck.end(), std::size_t(share), card);
  for (std::size_t left = deck.size(); left > 1; --left)
    std::swap(deck[left - 1], deck[static_cast<std::size_t>(random_.below(int(left)))]);
  return deck;
}

void SoakDriver::play(Card card) {
  switch (card) {
    case Card::kSubmit: return submit();
    case Card::kCancel: return cancel_one();
    case Card::kRequeue: return requeue_one();
    case Card::kHold: return hold_one();
    case Card::kRelease: return release_one();
    case Card::kSuspend: return suspend_one();
    case Card::kResume: return resume_one();
    case Card::kShrink: return shrink_one();
    case Card::kHasten: return hasten_one();
    case Card::kDrain: return drain_one();
    case Card::kFail: return fail_one();
    case Card::kBringBack: return bring_one_back();
    case Card::kHealth: return change_health();
    case Card::kSlurmd: return restart_slurmd();
    case Card::kReconfigure: run_command({"scontrol", "reconfigure"}); return;
    case Card::kRestart: return restart_slurmctld(++restarts_ % 2 ? SIGTERM : SIGKILL);
    case Card::kReserve: return reserve();
    case Card::kUnreserve: return unreserve();
    case Card::kLook: look(); return;
    case Card::kLookClosely: return look_closely();
  }
}

void SoakDriver::run(int jobs) {
  while (accepted_ < jobs && complaints_.size() < 20) {
    for (const auto card : shuffled_deck()) {
      if (accepted_ >= jobs) break;
      play(card);
      if (card == Card::kSubmit) keep_queue_short();
    }
    check_daemons();
  }
}

void SoakDriver::settle() {
  bring_all_back();
  for (const auto& job : queued("SUSPENDED")) run_command({"scontrol", "resume", job});
  for (const auto& job : queued("PENDING")) run_command({"scontrol", "release", job});
  const auto are_gone = [&](const char* states) {
    look();
    return queued(states).empty();
  };
  wait_until([&] { return are_gone("PENDING,RUNNING"); }, seconds(5), milliseconds(500));
  run_command({"scancel", "--user=root"});
  if (!wait_until([&] { return are_gone("PENDING,RUNNING,SUSPENDED,COMPLETING"); }, seconds(60),
                  milliseconds(300)))
    complain("jobs do not end");
  delete_reservations();
  if (!wait_until([&] { return bring_all_back(); }, seconds(60), milliseconds(300)))
    complain("not all nodes become idle");
  check_daemons();
}

// --- Looks -----------------------------------------------------------------------------------

std::vector<JobRecord> SoakDriver::jobs() {
  const auto shown =
      run_command({"env", "SLURM_TIME_FORMAT=%s", "scontrol", "-d", "-o", "show", "job"});
  return read_jobs(shown.output);
}

std::vector<NodeRecord> SoakDriver::nodes() {
  return read_nodes(run_command({"scontrol", "-d", "-o", "show", "node"}).output);
}

std::vector<JobRecord> SoakDriver::look() {
  const auto asked = now();
  auto seen = jobs();
  books_.see(seen, asked);
  return seen;
}

// Jobs and nodes come in two answers: only when the jobs are the same before and after do they
// belong together. All jobs count, also those without GPUs: a job may start and end in between, and
// the record of an ended one does not name its GPUs; of one that was requeued it counts the starts.
void SoakDriver::look_closely() {
  const auto states = [](const std::vector<JobRecord>& all) {
    std::vector<std::string> lines;
    for (const auto& job : all)
      lines.push_back(job.state == "PENDING"
                          ? fmt::format("{} {}", job.id, job.restarts)
                          : fmt::format("{} {} {} since {}: {}", job.id, job.restarts, job.state,
                                        job.start, job.gpus));
    return lines;
  };
  for (int round = 0; round < kStableLooks; ++round) {
    const auto seen = look();
    const auto shown = nodes();
    const auto before = states(seen);
    if (states(look()) != before) continue;
    ++counts_["compared books"];
    const auto wrongs = compare_books(seen, shown);
    for (const auto& wrong : wrongs) complain(wrong);
    if (!wrongs.empty()) note(fmt::format("{}", fmt::join(before, "; ")));
    return;
  }
}

void SoakDriver::check_daemons() {
  const auto ended = cluster_.ended("slurmctld");
  if (!ended || ended->has_value())
    complain(fmt::format("slurmctld has ended with status {}", ended ? **ended : -1));
}

std::vector<std::string> SoakDriver::wrongs() const {
  auto all = complaints_;
  all.insert(all.end(), books_.wrongs().begin(), books_.wrongs().end());
  return all;
}

int SoakDriver::healthy_gpus() const {
  int gpus = 0;
  for (const auto& node : cluster_.nodes())
    gpus += cluster_.options().gpus_per_node - __builtin_popcountll(books_.quarantined(node));
  return gpus;
}

std::string SoakDriver::summary() const {
  return fmt::format("{} jobs accepted, {} refused, {} runs with GPUs seen; {}", accepted_,
                     refused_, books_.runs_seen(), fmt::join(counts_, ", "));
}

void SoakDriver::complain(const std::string& what) {
  note("WRONG: " + what);
  complaints_.push_back(what);
}

// Beside slurmctld's own log, and with times like its.
void SoakDriver::note(const std::string& what) {
  const auto clock = std::chrono::system_clock::now().time_since_epoch();
  const std::time_t time = std::chrono::duration_cast<seconds>(clock).count();
  std::tm local{};
  char text[32];
  std::strftime(text, sizeof text, "%FT%T", ::localtime_r(&time, &local));
  std::ofstream(cluster_.path("log/soak.log"), std::ios::app)
      << fmt::format("[{}.{:03}] {}\n", text,
                     std::chrono::duration_cast<milliseconds>(clock).count() % 1000, what);
}

CommandResult SoakDriver::run_command(const std::vector<std::string>& words) {
  auto result = cluster_.run(words);
  if (words[0] != "squeue" && words[0] != "env" && words.back() != "node")
    note(fmt::format("{} -> {} {}", fmt::join(words, " "), result.status,
                     trim(result.ok() ? result.output : result.errors)));
  for (const char* trouble : {"Unable to contact", "Connection refused", "timed out"})
    if (result.errors.find(trouble) != std::string::npos)
      complain(fmt::format("{}: {}", fmt::join(words, " "), result.errors));
  return result;
}

}  // namespace acrf::minicluster
