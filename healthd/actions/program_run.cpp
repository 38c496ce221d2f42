// SPDX-License-Identifier: GPL-2.0-or-later
#include "actions/program_run.h"

#include "sources/finding_json.h"

namespace acrf {
namespace {

constexpr std::chrono::seconds kGrace{10};  // for the worker to end the program and say so
// What a program answers that has nothing to do its work with, as test programs do by custom.
constexpr int kNothingToRun = 77;
constexpr int kNotFound = 127;

}  // namespace

std::string site_program(const Config& config, const std::string& setting, const char* ours) {
  if (setting == "none") return "";
  if (!setting.empty()) return setting;
  return *ours && config.fake_gpu_state.empty() ? std::string(ACRF_LIBEXECDIR "/acrf/") + ours : "";
}

Status ProgramRun::start(const std::string& owner, const std::vector<std::string>& command,
                         int limit_s, Clock::time_point now) {
  if (!is_free()) return Error{ErrorCode::kUnavailable, "another program runs"};
  owner_ = owner;
  ended_.reset();
  output_.clear();
  std::vector<std::string> worker = {self_,    "--run-check", std::to_string(limit_s),
                                     "--node", node_,         "--"};
  worker.insert(worker.end(), command.begin(), command.end());
  worker_ = std::make_unique<Probe>(std::move(worker), std::vector<std::string>());
  const auto asked = worker_->request(now + std::chrono::seconds(limit_s) + kGrace);
  if (!asked) settle({std::nullopt, asked.error().sentence});
  return asked;
}

void ProgramRun::be_missing(const std::string& owner) {
  if (!is_free()) return;
  owner_ = owner;
  ended_ = ProgramState::kMissing;
  output_ = "no program is configured";
}

ProgramState ProgramRun::state(const std::string& owner, Clock::time_point now) {
  if (owner != owner_) return ProgramState::kNone;
  if (ended_) return *ended_;
  const auto answer = worker_->take_answer();
  if (!answer) {
    settle({std::nullopt, answer.error().sentence});
  } else if (*answer) {
    const auto result = check_result_from_json(**answer);
    settle(result ? *result : CheckResult{std::nullopt, result.error().sentence});
  } else if (now >= *worker_->deadline()) {
    settle({std::nullopt, "killed: it did not end"});
    ended_ = ProgramState::kLate;
  }
  return ended_.value_or(ProgramState::kRunning);
}

void ProgramRun::settle(const CheckResult& result) {
  output_ = result.output.empty() ? result.text : result.output;
  ended_ = ProgramState::kFailed;
  if (result.exit_code == 0) ended_ = ProgramState::kPassed;
  if (result.exit_code == kNothingToRun || result.exit_code == kNotFound)
    ended_ = ProgramState::kMissing;
  if (result.late) ended_ = ProgramState::kLate;
  worker_.reset();
}

void ProgramRun::forget(const std::string& owner) {
  if (owner != owner_) return;
  worker_.reset();
  ended_.reset();
  owner_.clear();
}

}  // namespace acrf
