// SPDX-License-Identifier: GPL-2.0-or-later
#include "actions/power_caps.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "common/file.h"
#include "core/brakes.h"
#include "core/maintenance.h"
#include "core/text.h"
#include "core/undo.h"

namespace acrf {
namespace {

using std::chrono::seconds;

constexpr seconds kStep{1};
constexpr seconds kAskEvery{30};
constexpr std::int64_t kMarkAnew_s = kHotLives_s / 2;
constexpr int kCoolTimes =
    2;  // HeatTime, before a limit is given back: heat that hovers is one heat
constexpr char kClass[] = "temperature_limit";

}  // namespace

PowerCaps::PowerCaps(Parts parts)
    : parts_(std::move(parts)),
      path_(power_caps_path(parts_.config.state_dir)),
      program_("/proc/self/exe", parts_.node) {
  if (const auto text = read_file(path_)) caps_ = parse_power_caps(*text);
  for (const auto& cap : caps_)
    spdlog::info("GPU {}: its power limit was lowered to {} W by an earlier run; taken up again",
                 cap.uuid, cap.capped_w);
}

PowerCaps::Clock::time_point PowerCaps::step(Clock::time_point now) {
  const auto heat = parts_.signs.heat();
  if (heat.empty()) return caps_.empty() ? Clock::time_point::max() : now + kStep;
  take_program_end(now);
  take_lifted();
  note_heat(heat, now);
  for (const auto& gpu : heat) treat(gpu, now);
  const bool is_to_be_unmarked = marked_.value_or(true) && enforces_anywhere(parts_.config);
  const bool has_more = !hot_.empty() || !caps_.empty() || is_to_be_unmarked;
  return has_more ? now + kStep : Clock::time_point::max();
}

// Asks when there is news of heat, and again now and then while it lasts.
void PowerCaps::note_heat(const std::vector<GpuHeat>& heat, Clock::time_point now) {
  std::set<std::string> hot;
  for (const auto& gpu : heat)
    if (gpu.hot) hot.insert(gpu.uuid);
  if (hot_.empty() && !hot.empty()) {
    Event event;
    event.verdict = {kClass, Severity::kWarning, Scope::kNode, Action::kWatch};
    event.part = "node";
    event.source = "heat";
    event.unix_s = std::time(nullptr);
    event.discriminator = std::to_string(event.unix_s);
    incident_ = incident_of(parts_.node, event);
    told_.clear();
  }
  if (hot != hot_) next_ask_ = now;
  hot_ = std::move(hot);
  if (!enforces_anywhere(parts_.config)) {
    word_ = Word::kObserve;
    if (!hot_.empty()) say_what_would_be_done();
    return;
  }
  const bool is_marked_right = marked_ == !hot_.empty();
  if (now < next_ask_ || (hot_.empty() && is_marked_right)) return;
  next_ask_ = now + kAskEvery;
  if (hot_.empty())
    mark(false, 0);
  else
    word_ = ask();
}

// The mark is written before the others' are read: of two nodes, one sees both.
PowerCaps::Word PowerCaps::ask() {
  auto fleet = parts_.slurm.fleet(parts_.topology_dir);
  const auto* node = fleet ? fleet->find(parts_.node) : nullptr;
  if (!node) return Word::kUnknown;
  if (mode_for_node(parts_.config, node->partitions) == Mode::kObserve) {
    say_what_would_be_done();
    return Word::kObserve;
  }
  mark(true, fleet->now_unix_s);
  if (marked_ != true) return Word::kUnknown;
  fleet = parts_.slurm.fleet(parts_.topology_dir);
  node = fleet ? fleet->find(parts_.node) : nullptr;
  if (!node) return Word::kUnknown;
  if (node->maintenance ||
      maintenance_of(parts_.config.maintenance, parts_.node, kClass, fleet->now_unix_s)) {
    hold("maintenance", "the node is under maintenance");
    return Word::kHeld;
  }
  if (const auto shared = shared_heat(parts_.config, *fleet, *node)) {
    hold("shared", sentence_of(*shared));
    return Word::kHeld;
  }
  return Word::kFree;
}

// Told once for each heat.
void PowerCaps::hold(const std::string& kind, const std::string& why) {
  if (told_ == kind) return;
  told_ = kind;
  spdlog::error("incident {}: {} GPUs are too hot, nothing is done: {}", incident_.id, hot_.size(),
                why);
  AuditEntry entry;
  entry.node = entry.subject = parts_.node;
  entry.incident = incident_.id;
  entry.what = "hold";
  entry.decided_by = kClass;
  entry.mode = Mode::kEnforce;
  entry.evidence = fmt::format("{} GPUs are too hot", hot_.size());
  parts_.audit.record(std::move(entry), AuditResult::skipped(why));
  parts_.tell(incident_, "held", why);
}

void PowerCaps::say_what_would_be_done() {
  if (!told_.empty() || parts_.config.power_cap_percent == 0) return;
  told_ = "observed";
  spdlog::warn("incident {}: {} GPUs are too hot; Mode=observe: would lower their power limits",
               incident_.id, hot_.size());
  AuditEntry entry;
  entry.node = entry.subject = parts_.node;
  entry.incident = incident_.id;
  entry.what = "power_cap";
  entry.decided_by = kClass;
  parts_.audit.record(std::move(entry), AuditResult::skipped("Mode=observe"));
}

// By slurmctld's clock: the node's may be off.
void PowerCaps::mark(bool hot, std::int64_t unix_s) {
  const auto now_s = static_cast<std::int64_t>(std::time(nullptr));
  if (marked_ == hot && (!hot || now_s - marked_s_ < kMarkAnew_s)) return;
  const auto written = parts_.slurm.change_token(
      parts_.node, [&](NodeToken& token) { token.hot_unix_s = hot ? unix_s : 0; });
  if (!written)
    return spdlog::warn("node {}: {}; trying again", parts_.node, written.error().sentence);
  marked_ = hot;
  marked_s_ = now_s;
}

// People want a limit back: it stays so until the GPU has been cool.
void PowerCaps::take_lifted() {
  const auto path = power_caps_lift_path(parts_.config.state_dir);
  if (caps_.empty() || !std::filesystem::exists(path)) return;
  const auto text = read_file(path);
  if (!text) return;
  for (auto& cap : caps_)
    for (const auto uuid : split(*text, '\n'))
      if (uuid == cap.uuid) cap.lifted = true;
  if (!save()) return;
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
}

void PowerCaps::treat(const GpuHeat& gpu, Clock::time_point now) {
  if (!program_.is_free() || !running_.empty()) return;
  const auto path = site_program(parts_.config, parts_.config.power_cap_program, "power-cap");
  if (path.empty()) return;
  const auto cap = std::find_if(caps_.begin(), caps_.end(),
                                [&](const PowerCap& other) { return other.uuid == gpu.uuid; });
  if (cap == caps_.end()) {
    if (gpu.hot && word_ == Word::kFree) lower(gpu, path, now);
    return;
  }
  const auto step = next_cap_step(*cap, gpu, std::time(nullptr),
                                  kCoolTimes * std::int64_t{parts_.config.heat_time_s});
  switch (step) {
    case CapStep::kNothing: return;
    case CapStep::kForget:
      if (cap->is_others)
        spdlog::info("GPU {}: its power limit is another's now and stays as it is", cap->uuid);
      caps_.erase(cap);
      save();
      return;
    case CapStep::kLower:
      if (word_ != Word::kFree) return;
      note_try(*cap, step, std::time(nullptr));
      if (save()) run(*cap, true, path, now);
      return;
    case CapStep::kRestore:
      note_try(*cap, step, std::time(nullptr));
      save();
      run(*cap, false, path, now);
  }
}

// Recorded first. A limit that could not be recorded is not lowered: nobody would give it back.
void PowerCaps::lower(const GpuHeat& gpu, const std::string& path, Clock::time_point now) {
  auto cap = plan_cap(gpu, parts_.config.power_cap_percent, incident_.id);
  if (cap.capped_w == 0) return;
  cap.hot_s = std::time(nullptr);
  note_try(cap, CapStep::kLower, cap.hot_s);
  caps_.push_back(std::move(cap));
  if (!save()) return caps_.pop_back();
  run(caps_.back(), true, path, now);
}

void PowerCaps::run(PowerCap& cap, bool lowers, const std::string& path, Clock::time_point now) {
  const auto watts = lowers ? cap.capped_w : cap.before_w;
  AuditEntry entry;
  entry.node = parts_.node;
  entry.incident = cap.incident;
  entry.kind = AuditKind::kProgram;
  entry.what = lowers ? "power_cap" : "power_restore";
  entry.subject = cap.uuid;
  entry.decided_by = kClass;
  entry.mode = Mode::kEnforce;
  entry.evidence =
      fmt::format("{} {} W, had {} W", path, watts, lowers ? cap.before_w : cap.capped_w);
  if (lowers) entry.undo = to_text(Undo{Undo::Kind::kUncap, parts_.node, 0, cap.uuid, {}});
  program_audit_ = parts_.audit.begin(std::move(entry));
  spdlog::warn("incident {}: GPU {} is {}: its power limit goes from {} to {} W", cap.incident,
               cap.uuid, lowers ? "too hot" : "no longer too hot",
               lowers ? cap.before_w : cap.capped_w, watts);
  running_ = cap.uuid;
  const auto started = program_.start(cap.uuid,
                                      {path, parts_.node, cap.uuid, to_string(cap.address), kClass,
                                       cap.incident, std::to_string(watts)},
                                      parts_.config.reset_time_limit_s, now);
  if (!started) spdlog::error("GPU {}: {}", cap.uuid, started.error().sentence);
}

void PowerCaps::take_program_end(Clock::time_point now) {
  if (running_.empty()) return;
  const auto state = program_.state(running_, now);
  if (state == ProgramState::kRunning) return;
  const bool passed = state == ProgramState::kPassed;
  if (!passed)
    spdlog::error("GPU {}: its power limit was not set: {}", running_, program_.output());
  parts_.audit.finish(program_audit_, passed ? AuditResult::done(program_.output())
                                             : AuditResult::failed(program_.output()));
  for (auto& cap : caps_)
    if (cap.uuid == running_) cap.tried_s = std::time(nullptr);  // looks after this one count
  save();
  program_.forget(running_);
  running_.clear();
}

bool PowerCaps::save() {
  const auto saved = write_file(path_, to_text(caps_));
  problem_.note(saved);
  return saved.ok();
}

}  // namespace acrf
