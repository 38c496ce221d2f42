// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/fault_history.h"

#include <algorithm>
#include <set>

#include "core/text.h"

namespace acrf {
namespace {

constexpr std::int64_t kDay = 24 * 3600;
constexpr std::int64_t kBurstGap = 180;
constexpr std::int64_t kAfterSpi = 5;
constexpr std::size_t kMostPlaces = 512;
constexpr std::size_t kMostPerPlace = 64;
constexpr std::size_t kManyGpus = 3;
constexpr int kSuspectRank = 57;

// Faults of programs that different jobs and users make the GPU's. 43 and 45 never are.
constexpr int kProgramXids[] = {13, 31, 68, 69, 137};

// Faults that say more when they come again: within `window_s`, at least `apart_s` apart.
struct RepeatRule {
  std::string_view label;
  std::size_t times;
  std::int64_t window_s, apart_s;
  Action action;
  int rank;
};

constexpr RepeatRule kRepeats[] = {
    {"xid 109", 2, kDay, kBurstGap, Action::kResetGpu, 50},
    {"xid 119", 2, kDay, kBurstGap, Action::kRebootNode, 80},
    {"xid 120", 2, kDay, kBurstGap, Action::kRebootNode, 80},
    {"amd_ring_hang", 2, kDay, kBurstGap, Action::kDrain, kSuspectRank},
    {"amd_vram_lost", 2, kDay, kBurstGap, Action::kDrain, kSuspectRank},
    {"intel_hang", 2, kDay, kBurstGap, Action::kDrain, kSuspectRank},
    {"intel_engine_reset", 2, kDay, kBurstGap, Action::kDrain, kSuspectRank},
    {"intel_mem_fault", 2, kDay, kBurstGap, Action::kDrain, kSuspectRank},
    {"nic_tx_hang", 3, 3600, 5, Action::kDrain, kSuspectRank},
    {"ib_flap", 5, kDay, 5, Action::kDrain, kSuspectRank},
};

std::string place_key(const Event& event) { return event.boot_id + "@" + place_of(event); }

std::string key_of(const Event& event) {
  return event.part.empty() && !event.gpu_uuid.empty() ? event.gpu_uuid : place_key(event);
}

bool is_program_fault(const Event& event) {
  return event.xid && std::find(std::begin(kProgramXids), std::end(kProgramXids), *event.xid) !=
                          std::end(kProgramXids);
}

bool is_bus_fault(const Event& event) {
  const auto& name = event.verdict.fault_class;
  return name == "pcie_fatal" || name == "pcie_nonfatal" || name == "pcie_surprise_down";
}

void strengthen(Event& event, Action action, int rank) {
  event.verdict.action = action;
  event.verdict.severity = std::max(event.verdict.severity, Severity::kCritical);
  if (event.verdict.scope == Scope::kProcess) event.verdict.scope = Scope::kGpu;
  event.rank = std::max(event.rank, rank);
}

void drop_oldest(std::map<std::string, std::int64_t>& times) {
  times.erase(std::min_element(times.begin(), times.end(),
                               [](const auto& a, const auto& b) { return a.second < b.second; }));
}

}  // namespace

void FaultHistory::judge(Event& event) {
  if (event.verdict.action == Action::kIgnore) return;
  adopt_place(event);
  record(event);
  if (is_bus_fault(event) || event.xid == 122 || event.xid == 123) {
    hardware_[key_of(event)] = event.unix_s;
    if (hardware_.size() > kMostPlaces) drop_oldest(hardware_);
  }
  if (event.ruled_by_site) return;
  if (is_program_fault(event) && event.verdict.action == Action::kRestartApp) {
    if (follows_hardware(event)) {
      event.verdict.fault_class = "pcie_secondary";
      strengthen(event, Action::kDrain, kSuspectRank);
    } else if (comes_from_many_users(event)) {
      event.verdict.fault_class = "gpu_suspect";
      strengthen(event, Action::kDrain, kSuspectRank);
    }
  }
  for (const auto& rule : kRepeats)
    if (label_of(event) == rule.label &&
        repeats(event, std::string(rule.label), rule.times, rule.window_s, rule.apart_s)) {
      event.verdict.at_job_end = event.verdict.scope == Scope::kNode;
      strengthen(event, rule.action, rule.rank);
    }
}

void FaultHistory::forget_old(Place& place, std::int64_t now) {
  while (!place.empty() && (place.front().unix_s < now - kDay || place.size() > kMostPerPlace))
    place.pop_front();
}

void FaultHistory::record(const Event& event) {
  auto& place = places_[key_of(event)];
  const auto label = label_of(event);
  // What one job does to one GPU within a burst is one event, however many lines it is.
  const bool is_echo = !place.empty() && place.back().label == label &&
                       place.back().location == event.location && place.back().job == event.job &&
                       event.unix_s - place.back().unix_s <= 5;
  if (!is_echo) place.push_back({event.unix_s, label, event.location, event.job, event.user});
  forget_old(place, event.unix_s);
  bound_places();
}

void FaultHistory::bound_places() {
  if (places_.size() <= kMostPlaces) return;
  places_.erase(std::min_element(places_.begin(), places_.end(), [](const auto& a, const auto& b) {
    const auto newest = [](const Place& past) { return past.empty() ? 0 : past.back().unix_s; };
    return newest(a.second) < newest(b.second);
  }));
}

// What was seen at the place before the GPU's UUID was known is the GPU's.
void FaultHistory::adopt_place(const Event& event) {
  const auto key = key_of(event), old = place_key(event);
  if (key == old) return;
  if (auto past = places_.extract(old)) {
    auto& place = places_[key];
    for (auto& one : past.mapped()) place.push_back(std::move(one));
    std::stable_sort(place.begin(), place.end(),
                     [](const Past& a, const Past& b) { return a.unix_s < b.unix_s; });
  }
  if (auto hardware = hardware_.extract(old)) {
    auto& last = hardware_[key];
    last = std::max(last, hardware.mapped());
  }
}

namespace {

std::string number_or_dash(std::optional<std::uint64_t> number) {
  return number ? std::to_string(*number) : "-";
}

}  // namespace

// "past KEY TIME LABEL LOCATION JOB USER", and "hardware KEY TIME"; words are encoded.
std::string FaultHistory::to_text() const {
  const auto word = [](const std::string& text) { return text.empty() ? "-" : encode_word(text); };
  std::string text;
  for (const auto& [key, place] : places_)
    for (const auto& past : place)
      text += "past " + word(key) + " " + std::to_string(past.unix_s) + " " + word(past.label) +
              " " + word(past.location) + " " + number_or_dash(past.job) + " " +
              number_or_dash(past.user) + "\n";
  for (const auto& [key, unix_s] : hardware_)
    text += "hardware " + word(key) + " " + std::to_string(unix_s) + "\n";
  return text;
}

void FaultHistory::take_text(std::string_view text) {
  for (const auto line : split(text, '\n')) {
    const auto words = split(line, ' ');
    if (words.size() < 3) continue;
    const auto key = decode_word(words[1]);
    const auto unix_s = parse_unsigned(words[2]);
    if (!key || !unix_s || *unix_s > INT64_MAX) continue;
    const auto at = static_cast<std::int64_t>(*unix_s);
    if (words[0] == "hardware" && words.size() == 3) hardware_[*key] = at;
    if (words[0] != "past" || words.size() != 7) continue;
    const auto label = decode_word(words[3]), location = decode_word(words[4]);
    if (!label || !location) continue;
    auto& place = places_[*key];
    // In the order of time, and no more than would have been kept.
    if (!place.empty() && place.back().unix_s > at) continue;
    place.push_back({at, *label, *location == "-" ? "" : *location, parse_unsigned(words[5]),
                     parse_unsigned(words[6])});
    if (place.size() > kMostPerPlace) place.pop_front();
    bound_places();
  }
  while (hardware_.size() > kMostPlaces) drop_oldest(hardware_);
}

const FaultHistory::Place* FaultHistory::place(const Event& event) const {
  const auto found = places_.find(key_of(event));
  return found == places_.end() ? nullptr : &found->second;
}

bool FaultHistory::job_is_on_many_gpus(std::uint64_t job, std::int64_t now) const {
  std::size_t gpus = 0;
  for (const auto& [key, past] : places_)
    gpus += std::any_of(past.begin(), past.end(), [&](const Past& one) {
      return one.job == job && one.unix_s >= now - kDay;
    });
  return gpus >= kManyGpus;
}

bool FaultHistory::comes_from_many_users(const Event& event) const {
  const auto* past = place(event);
  if (!past) return false;
  std::set<std::uint64_t> jobs, users;
  for (const auto& one : *past) {
    if (one.label != label_of(event) || !one.job || !one.user) continue;
    // An exception counts where it happened: other units are other programs' mistakes.
    if (event.xid == 13 && (event.location.empty() || one.location != event.location)) continue;
    if (job_is_on_many_gpus(*one.job, event.unix_s)) continue;
    jobs.insert(*one.job);
    users.insert(*one.user);
  }
  return jobs.size() >= 2 && users.size() >= 2;
}

bool FaultHistory::follows_hardware(const Event& event) const {
  const auto found = hardware_.find(key_of(event));
  if (found == hardware_.end()) return false;
  const auto since = event.unix_s - found->second;
  if (since < 0) return false;
  const auto* past = place(event);
  const bool was_spi =
      past && std::any_of(past->begin(), past->end(), [&](const Past& one) {
        return one.unix_s == found->second && (one.label == "xid 122" || one.label == "xid 123");
      });
  return since <= (was_spi ? kAfterSpi : kBurstGap);
}

bool FaultHistory::repeats(const Event& event, const std::string& label, std::size_t times,
                           std::int64_t window_s, std::int64_t apart_s) const {
  const auto* past = place(event);
  if (!past) return false;
  std::size_t count = 0;
  std::int64_t last = 0;
  std::optional<std::uint64_t> last_job;
  for (const auto& one : *past) {
    if (one.label != label || one.unix_s < event.unix_s - window_s) continue;
    if (count > 0 && one.unix_s - last <= apart_s) {
      last = one.unix_s;
      continue;
    }
    // The same job again is the same program again, and so may be one that nobody knows.
    const bool is_program = event.verdict.scope == Scope::kProcess;
    if (count > 0 && (one.job ? one.job == last_job : is_program)) continue;
    ++count;
    last = one.unix_s;
    last_job = one.job;
  }
  return count >= times;
}

}  // namespace acrf
