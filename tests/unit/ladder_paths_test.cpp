// SPDX-License-Identifier: GPL-2.0-or-later
// Every path through the ladder. A world around one part: its node among others in slurmctld's
// table, the brakes, programs, people, time, and a daemon that may die before or after each act.
// From every state, any sequence of a few events and crashes is walked, and long random ones too.
// On no path is anything returned unproven, treated twice, taken from the jobs past a brake or
// touched while it is another's; and wherever a path leads, what lasts ends there or comes to
// people.
#include <gtest/gtest.h>

#include <cstdlib>
#include <unordered_set>
#include <utility>

#include "core/brakes.h"
#include "core/ladder.h"
#include "unit/fleet_fixture.h"
#include "unit/random.h"

namespace acrf {
namespace {

constexpr std::int64_t kDay = 86400;
constexpr char kClass[] = "ecc_uncorrectable";
constexpr int kBudget = 2;  // nodes that may be taken from the jobs

enum class Event {
  kSecond,
  kMinutes,  // longer than it takes to see that no reboot comes
  kHours,    // longer than any program may take
  kDays,     // longer than jobs, probation and the memory of remedies last
  kJobComes,
  kJobEnds,
  kFault,
  kFaultGone,
  kNobodyLooks,
  kBoot,
  kGpuMissing,
  kGpusThere,
  kControllerSilent,
  kControllerAnswers,
  kControllerForgets,
  kAdminDrains,
  kAdminResumes,
  kGpuSwapped,
  kRelapse,
  kNodeFault,     // of the same GPU, and its node can't serve on
  kBudgetUsedUp,  // other nodes were taken from the jobs
  kProgramPasses,
  kProgramFails,
  kProgramLate,
  kProgramMissing,
};
constexpr int kEvents = static_cast<int>(Event::kProgramMissing) + 1;

// When the daemon dies in a turn, and whether slurmctld does what it is told.
enum class Luck { kGood, kDiesBeforeAct, kDiesAfterAct, kRefused };
constexpr int kLucks = 4;

std::int64_t seconds_of(Event event) {
  switch (event) {
    case Event::kMinutes: return 600;
    case Event::kHours: return 7200;
    case Event::kDays: return 8 * kDay;
    default: return 1;
  }
}

Config budget() {
  Config config;
  config.max_drains_per_hour = config.max_drained = {kBudget, false};
  config.common_cause_nodes = 0;
  config.min_healthy = {0, true};
  return config;
}

// What slurmctld knows of the part's node.
struct Record {
  enum class Drain { kNone, kOurs, kAdmins };
  Drain drain = Drain::kNone;
  bool gpu_hidden = false;
  std::int64_t acted_s = 0;
  std::int64_t others_acted_s = 0;  // nodes n2 and n3 were drained then
};

class World {
 public:
  World(CaseState state, bool whole_node, Action asked, bool program_started, bool contained) {
    sick_.id = "n1-1";
    sick_.gpu_uuid = "GPU-a";
    sick_.since_s = kNow - 10;
    sick_.boot_id = boot();
    sick_.faults_s = {kNow - 20};
    sick_.whole_node = whole_node;
    sick_.state = state;
    sick_.asked = asked;
    sick_.program_started = program_started;
    if (program_started && state == CaseState::kResetting) tried_before(Remedy::kReset);
    if (program_started && state == CaseState::kRebooting) tried_before(Remedy::kReboot);
    if (program_started) program_ = ProgramState::kRunning;  // its end is an event, so is a crash
    if (state == CaseState::kProbation) proven_boot_ = boots_;
    if (!contained) return;  // on probation: returned
    sick_.contained_s = kNow - 10;
    contain();
  }

  // False: luck made no difference, because nothing was to be done.
  bool turn(Event event, Luck luck) {
    happen(event);
    return step(luck);
  }

  // Nothing changes but the time, a quarter of a day, and the program, which ends if it ever does.
  void wait(ProgramState end) {
    now_ += kDay / 4;
    if (program_ == ProgramState::kRunning) program_ = end;
    answers_ = looks_ = true;
    step(Luck::kGood);
  }
  void set_lasting(bool fault, bool busy, bool complete) {
    fault_ = fault;
    busy_ = busy;
    complete_ = complete;
    record_.others_acted_s = 0;  // people have made room for it
  }

  bool is_at_rest() const { return is_over(sick_.state) || waits_for_people(sick_.state); }
  const Case& sick() const { return sick_; }
  const char* violation() const { return violation_; }

  // All that the future depends on; ages as far as some limit tells them apart.
  std::string key() const {
    std::string text;
    const auto add = [&](auto value) { text += static_cast<char>('0' + static_cast<int>(value)); };
    const auto add_age = [&](std::int64_t unix_s) {
      int age = 0;
      for (const std::int64_t limit : {std::int64_t{1}, std::int64_t{450}, std::int64_t{1800},
                                       std::int64_t{3600}, kDay, 7 * kDay, 30 * kDay})
        age += now_ - unix_s >= limit;
      add(age);
    };
    for (const bool flag :
         {sick_.whole_node, sick_.program_started, busy_, fault_, looks_, complete_, answers_,
          may_be_lost_, sick_.boot_id == boot(), proven_boot_ == boots_, uuid_ == sick_.gpu_uuid,
          record_.gpu_hidden, sick_.contained_s != 0})
      add(flag);
    add(sick_.state), add(sick_.asked), add(program_), add(record_.drain), add(reboots_again_);
    add_age(sick_.since_s), add_age(record_.acted_s), add_age(record_.others_acted_s);
    for (const auto& tried : sick_.tried) add(tried.remedy), add_age(tried.unix_s);
    for (const auto fault_s : sick_.faults_s) add_age(fault_s);
    return text;
  }

 private:
  std::string boot() const { return "boot-" + std::to_string(boots_); }

  Hold hold() const {
    if (record_.drain == Record::Drain::kAdmins) return Hold::kOthers;
    const bool held = sick_.whole_node ? record_.drain == Record::Drain::kOurs : record_.gpu_hidden;
    return held ? Hold::kOurs : Hold::kNone;
  }

  void put_back() {
    record_.drain = Record::Drain::kNone;
    record_.gpu_hidden = false;
  }

  Fleet fleet() const {
    Fleet fleet = fleet_of(5);
    fleet.now_unix_s = now_;
    if (record_.others_acted_s)
      for (const auto* name : {"n2", "n3"}) acted(fleet, name, kClass, record_.others_acted_s);
    if (record_.acted_s) acted(fleet, "n1", kClass, record_.acted_s);
    at(fleet, "n1").draining = record_.drain != Record::Drain::kNone;
    if (record_.drain == Record::Drain::kAdmins) at(fleet, "n1").reason = "bad fan";
    return fleet;
  }

  // As Containment does: by the brakes' leave, with the mark in the same update.
  void contain() {
    if (ask_brakes(budget(), fleet(), {"n1", kClass}).permission != Permission::kAct) return;
    record_.acted_s = now_;
    if (sick_.whole_node)
      record_.drain = Record::Drain::kOurs;
    else
      record_.gpu_hidden = true;
    expect(acts() <= kBudget, "the brakes' budget was passed");
  }
  int acts() const {
    int count = 0;
    for (const auto& node : fleet().nodes)
      count += is_held_drained(node) || act_of_last_hour(node, now_);
    return count;
  }

  void happen(Event event) {
    now_ += seconds_of(event);
    switch (event) {
      case Event::kSecond:
      case Event::kMinutes:
      case Event::kHours:
      case Event::kDays: break;
      case Event::kJobComes: busy_ = busy_ || hold() == Hold::kNone; break;
      case Event::kJobEnds: busy_ = false; break;
      case Event::kFault: fault_ = true; break;
      case Event::kFaultGone: fault_ = false; break;
      case Event::kNobodyLooks: looks_ = !looks_; break;
      case Event::kBoot: ++boots_, busy_ = false, program_ = ProgramState::kNone; break;
      case Event::kGpuMissing: complete_ = false; break;
      case Event::kGpusThere: complete_ = true; break;
      case Event::kControllerSilent: answers_ = false; break;
      case Event::kControllerAnswers: answers_ = true; break;
      case Event::kControllerForgets: put_back(), may_be_lost_ = true; break;
      case Event::kAdminDrains: record_.drain = Record::Drain::kAdmins; break;
      case Event::kAdminResumes: put_back(), may_be_lost_ = false; break;
      case Event::kGpuSwapped: uuid_ = "GPU-b"; break;
      case Event::kRelapse: fall_ill_again(sick_.whole_node, Action::kResetGpu); break;
      case Event::kNodeFault: drain_for_another_fault(); break;
      case Event::kBudgetUsedUp:
        if (acts() == 0) record_.others_acted_s = now_;
        break;
      case Event::kProgramPasses: end_program(ProgramState::kPassed); break;
      case Event::kProgramFails: end_program(ProgramState::kFailed); break;
      case Event::kProgramLate: end_program(ProgramState::kLate); break;
      case Event::kProgramMissing: end_program(ProgramState::kMissing); break;
    }
  }
  void end_program(ProgramState end) {
    if (program_ == ProgramState::kRunning) program_ = end;
  }

  // The responder sees a new incident and tells the case.
  void fall_ill_again(bool whole_node, Action action) {
    fault_ = true;
    const Verdict verdict{kClass, Severity::kCritical, Scope::kGpu, action};
    relapse(sick_, "n1-2", verdict, whole_node, now_, boot());
  }
  // It tells the case once the node is drained for it.
  void drain_for_another_fault() {
    if (is_over(sick_.state) || record_.drain == Record::Drain::kAdmins) return;
    const bool before = std::exchange(sick_.whole_node, true);
    if (record_.drain == Record::Drain::kNone) contain();
    sick_.whole_node = before;
    if (record_.drain == Record::Drain::kOurs) fall_ill_again(true, Action::kDrain);
  }

  PartView view() const {
    PartView seen;
    seen.now_s = now_;
    seen.boot_id = boot();
    seen.hold = answers_ ? hold() : Hold::kUnknown;
    seen.may_be_lost = may_be_lost_;
    seen.busy = busy_;
    seen.fault = fault_ ? Sign::kPresent : looks_ ? Sign::kGone : Sign::kUnknown;
    seen.complete = complete_;
    seen.gpu_in_place = uuid_;
    seen.program = program_;
    return seen;
  }

  bool step(Luck luck) {
    const auto seen = view();
    const auto before = sick_.state;
    const auto next = next_step(sick_, seen, {}, {});
    check(seen, next);
    take_step(sick_, next, seen);
    if (next.state != before) reboots_again_ = 0;
    if (seen.hold == Hold::kOurs) may_be_lost_ = false;
    const bool matters = next.act != Act::kNone || program_ != ProgramState::kNone;
    if (next.state != before) program_ = ProgramState::kNone;
    if (luck != Luck::kDiesBeforeAct) carry_out(next, luck == Luck::kRefused);
    if (luck == Luck::kDiesBeforeAct || luck == Luck::kDiesAfterAct) program_ = ProgramState::kNone;
    return matters;
  }

  void carry_out(const LadderStep& next, bool refused) {
    switch (next.act) {
      case Act::kContain:
        if (!refused) contain();
        break;
      case Act::kReturn:
        if (!refused) put_back();
        break;
      case Act::kRunReset:
      case Act::kRunReboot:
      case Act::kRunReplace:
      case Act::kRunTest: program_ = ProgramState::kRunning; break;
      case Act::kNone:
      case Act::kEndProbation: break;
    }
  }

  void expect(bool holds, const char* otherwise) {
    if (!holds && !violation_) violation_ = otherwise;
  }

  void check(const PartView& seen, const LadderStep& next) {
    if (seen.hold == Hold::kUnknown)
      expect(next.state == sick_.state && next.act == Act::kNone, "something without an answer");
    if (seen.hold == Hold::kOthers) expect(next.act == Act::kNone, "another's node was touched");
    check_return(seen, next);
    if (next.act != Act::kRunReset && next.act != Act::kRunReboot) return;
    // What a daemon had begun when it died ended with it: a reboot is then asked for once more.
    const bool again = next.act == Act::kRunReboot && sick_.program_started &&
                       seen.program == ProgramState::kNone && seen.boot_id == sick_.boot_id;
    expect(!sick_.program_started || (again && reboots_again_++ == 0), "a program was begun twice");
    expect(!seen.busy, "a remedy under a job");
    // What a brake left in service is not treated either.
    expect(seen.hold == Hold::kOurs, "a remedy on a part in service");
    expect(sick_.whole_node || next.act == Act::kRunReset, "a reboot of a node that serves on");
    // No remedy twice on the same GPU in 30 days.
    auto& last = remedies_[next.act == Act::kRunReset][sick_.gpu_uuid == "GPU-a"];
    expect(again || last == 0 || now_ - last >= 30 * kDay, "the same remedy twice");
    last = now_;
  }

  void check_return(const PartView& seen, const LadderStep& next) {
    const bool to_probation =
        next.state == CaseState::kProbation && sick_.state != CaseState::kProbation;
    if (next.state == CaseState::kHealthy)
      expect(sick_.state == CaseState::kProbation || sick_.state == CaseState::kHealthy,
             "healthy without probation");
    if (!to_probation && next.act != Act::kReturn) return;
    expect(seen.hold == Hold::kOurs, "a return of what is not ours");
    expect(seen.fault != Sign::kPresent, "a return with its fault");
    if (to_probation) {
      expect(sick_.state == CaseState::kTesting && seen.program == ProgramState::kPassed &&
                 seen.fault == Sign::kGone && seen.complete && !seen.busy,
             "a return without proof");
      proven_boot_ = boots_;
    }
    expect(proven_boot_ == boots_, "a return on another boot's proof");
  }

  void tried_before(Remedy remedy) {
    sick_.tried = {{remedy, kNow - 10}};
    remedies_[remedy == Remedy::kReset][true] = kNow - 10;
  }

  Case sick_;
  Record record_;
  std::int64_t now_ = kNow;
  int boots_ = 1, proven_boot_ = 0;
  bool busy_ = false, fault_ = false, looks_ = true, complete_ = true, answers_ = true;
  bool may_be_lost_ = false;
  std::string uuid_ = "GPU-a";
  ProgramState program_ = ProgramState::kNone;
  int reboots_again_ = 0;             // in the present state
  std::int64_t remedies_[2][2] = {};  // when: reset or reboot, of the new GPU or the first
  const char* violation_ = nullptr;
};

bool has_program(CaseState state) {
  return state == CaseState::kResetting || state == CaseState::kRebooting ||
         state == CaseState::kTesting || state == CaseState::kRma;
}

std::vector<World> all_beginnings() {
  std::vector<World> worlds;
  for (int number = 0; number <= static_cast<int>(CaseState::kAttended); ++number) {
    const auto state = static_cast<CaseState>(number);
    for (const auto asked : {Action::kDrain, Action::kResetGpu, Action::kRebootNode, Action::kRma})
      for (const bool whole_node : {false, true})
        for (const bool started : {false, true})
          for (const bool contained : {false, true}) {
            if (started && !has_program(state)) continue;
            if (state == CaseState::kRebooting && !whole_node) continue;  // it is emptied before
            worlds.emplace_back(state, whole_node, asked, started, contained);
          }
  }
  return worlds;
}

// Every world that some events and crashes lead to, each once.
std::vector<World> after_events(std::vector<World> worlds, int events) {
  std::unordered_set<std::string> known;
  for (int depth = 0; depth < events; ++depth) {
    std::vector<World> next;
    for (const auto& world : worlds)
      for (int event = 0; event < kEvents; ++event)
        for (int luck = 0; luck < kLucks; ++luck) {
          World changed = world;
          const bool matters = changed.turn(static_cast<Event>(event), static_cast<Luck>(luck));
          if (changed.violation()) {
            ADD_FAILURE() << changed.violation() << ", from " << name_of(world.sick().state)
                          << " by event " << event << " with luck " << luck;
            return {};
          }
          if (known.insert(changed.key()).second) next.push_back(std::move(changed));
          if (!matters) break;
        }
    worlds = std::move(next);
  }
  return worlds;
}

// LADDER_EVENTS=3 takes half a minute.
TEST(LadderPaths, NoSequenceOfEventsAndCrashesBreaksARule) {
  const char* events = std::getenv("LADDER_EVENTS");
  EXPECT_GT(after_events(all_beginnings(), events ? std::atoi(events) : 2).size(), 10'000u);
}

TEST(LadderPaths, NoLongRandomSequenceDoes) {
  const auto beginnings = all_beginnings();
  for (std::uint64_t seed = 0; seed < 5000 && !HasFailure(); ++seed) {
    Random random(seed);
    World world = beginnings[seed % beginnings.size()];
    for (int i = 0; i < 40 && !world.violation(); ++i)
      world.turn(static_cast<Event>(random.below(kEvents)),
                 random.one_in(3) ? static_cast<Luck>(random.below(kLucks)) : Luck::kGood);
    EXPECT_FALSE(world.violation()) << world.violation() << ", seed " << seed;
  }
}

// Good and bad conditions, as long as they last: all that is left to wait for is people.
TEST(LadderPaths, WhateverLastsEveryPathComesToAnEndOrToPeople) {
  const auto worlds = after_events(all_beginnings(), 1);
  for (int lasting = 0; lasting < 8; ++lasting)
    for (const auto end : {ProgramState::kPassed, ProgramState::kFailed, ProgramState::kMissing,
                           ProgramState::kRunning})
      for (const auto& begun : worlds) {
        World world = begun;
        world.set_lasting(lasting & 1, lasting & 2, !(lasting & 4));
        for (int i = 0; i < 80 && !world.is_at_rest(); ++i) world.wait(end);
        ASSERT_TRUE(world.is_at_rest())
            << name_of(begun.sick().state) << " stays " << name_of(world.sick().state)
            << ", lasting " << lasting << ", program " << static_cast<int>(end);
        ASSERT_FALSE(world.violation()) << world.violation();
      }
}

}  // namespace
}  // namespace acrf
