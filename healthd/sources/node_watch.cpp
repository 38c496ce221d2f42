// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/node_watch.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "core/check_rule.h"
#include "core/file_system_rule.h"
#include "core/text.h"
#include "sources/finding_json.h"

namespace acrf {
namespace {

using std::chrono::seconds;

constexpr seconds kKeptBelow{10};  // between looks this close, to start a worker costs more than it
constexpr seconds kGrace{5};       // a check's worker ends the check itself, and then has this long

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  for (const auto piece : split(list, ','))
    if (!trim(piece).empty()) words.emplace_back(trim(piece));
  return words;
}

bool contains(const std::vector<Finding>& findings, const Finding& finding) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& other) {
    return other.verdict.fault_class == finding.verdict.fault_class && other.where == finding.where;
  });
}

std::string describe(const Finding& finding) {
  return finding.verdict.fault_class + (finding.where.empty() ? "" : " " + finding.where) + ": " +
         printable_line(finding.evidence, 200);
}

}  // namespace

NodeWatch::NodeWatch(const Config& config, const std::string& program, const std::string& node,
                     const std::string& gres_conf)
    : rules_(config.faults) {
  if (config.node_check_interval_s > 0) {
    add_node_task(config, program, node, gres_conf);
    for (const auto& path : words_of(config.file_systems))
      add_file_system_task(config, program, path);
  }
  for (const auto& rule : config.checks)
    if (rule.mode != CheckMode::kOff) add_check_task(rule, program, node);
}

void NodeWatch::add_node_task(const Config& config, const std::string& program,
                              const std::string& node, const std::string& gres_conf) {
  std::vector<std::string> command = {
      program,       "--node-probe", "--node",   node,
      "--gres-conf", gres_conf,      "--memory", config.state_dir + "/node-rules.state"};
  if (!config.node_root.empty()) command.insert(command.end(), {"--node-root", config.node_root});
  Task task{"node checks",
            config.node_root,
            std::make_unique<Probe>(command, std::vector<std::string>()),
            seconds(config.node_check_interval_s),
            seconds(config.probe_timeout_s),
            nullptr};
  task.is_needed = task.has_memory = true;
  // Without an answer nothing is known to have changed.
  task.judge = [](const Answer& answer, const std::vector<Finding>& before) {
    if (answer.failure != Failure::kNone) return before;
    auto findings = findings_from_json(answer.line);
    return findings ? std::move(*findings) : before;
  };
  tasks_.push_back(std::move(task));
}

void NodeWatch::add_file_system_task(const Config& config, const std::string& program,
                                     const std::string& path) {
  Task task{"file system " + path,
            "",
            std::make_unique<Probe>(std::vector<std::string>{program, "--fs-probe", path},
                                    std::vector<std::string>()),
            seconds(config.node_check_interval_s),
            seconds(config.probe_timeout_s),
            nullptr};
  task.has_memory = task.interval <= kKeptBelow;
  auto rule = std::make_shared<FileSystemRule>(path);
  task.judge = [rule](const Answer& answer, const std::vector<Finding>& before) {
    FileSystemReading reading;
    reading.hung = answer.failure == Failure::kHung;
    if (answer.failure == Failure::kOther) return before;
    if (answer.failure == Failure::kNone) {
      const auto parsed = file_system_from_json(answer.line);
      if (!parsed) return before;
      reading = *parsed;
    }
    return rule->observe(reading);
  };
  tasks_.push_back(std::move(task));
}

void NodeWatch::add_check_task(const CheckRule& rule, const std::string& program,
                               const std::string& node) {
  std::vector<std::string> command = {program,  "--run-check", std::to_string(rule.timeout_s),
                                      "--node", node,          "--"};
  command.insert(command.end(), rule.program.begin(), rule.program.end());
  Task task{"check " + rule.name,
            to_line(rule),
            std::make_unique<Probe>(command, std::vector<std::string>()),
            seconds(rule.interval_s),
            seconds(rule.timeout_s) + kGrace,
            nullptr};
  task.is_shadow = rule.mode == CheckMode::kShadow;
  auto history = std::make_shared<CheckHistory>(rule);
  auto last_unknown = std::make_shared<std::string>();
  task.judge = [history, last_unknown](const Answer& answer, const std::vector<Finding>& before) {
    if (answer.failure != Failure::kNone) return before;
    const auto result = check_result_from_json(answer.line);
    if (!result) return before;
    const bool known = result->exit_code && *result->exit_code <= 2;
    const auto unknown = known ? "" : result->text.empty() ? "no reason given" : result->text;
    if (unknown != *last_unknown && !unknown.empty())
      spdlog::warn("check {}: unknown: {}", history->rule().name, unknown);
    *last_unknown = unknown;
    return history->observe(*result);
  };
  tasks_.push_back(std::move(task));
}

void NodeWatch::take_over(NodeWatch& before) {
  for (auto& task : tasks_) {
    const auto same =
        std::find_if(before.tasks_.begin(), before.tasks_.end(), [&](const Task& other) {
          return other.name == task.name && other.definition == task.definition;
        });
    if (same == before.tasks_.end()) continue;
    task.probe = std::move(same->probe);
    task.judge = std::move(same->judge);
    task.findings = std::move(same->findings);
    task.problem = std::move(same->problem);
    task.next = std::min(same->next, Clock::now() + task.interval);
    before.tasks_.erase(same);
  }
}

void NodeWatch::add_poll_fds(std::vector<pollfd>& fds) const {
  for (const auto& task : tasks_)
    if (task.probe->waiting()) fds.push_back({task.probe->poll_fd(), POLLIN, 0});
}

NodeWatch::Clock::time_point NodeWatch::next_wake() const {
  auto wake = Clock::time_point::max();
  for (const auto& task : tasks_) wake = std::min(wake, task.probe->deadline().value_or(task.next));
  return wake;
}

bool NodeWatch::step(Clock::time_point now) {
  bool changed = false;
  for (auto& task : tasks_) changed |= step_task(task, now);
  return changed;
}

bool NodeWatch::step_task(Task& task, Clock::time_point now) {
  if (task.probe->waiting()) {
    const auto answer = task.probe->take_answer();
    if (answer && *answer) {
      if (!task.has_memory) task.probe->stop();
      settle(task, {**answer, Failure::kNone, ""});
      return true;
    }
    if (!answer) {
      settle(task, {"", Failure::kOther, answer.error().sentence});
      return true;
    }
    if (now < *task.probe->deadline()) return false;
    task.probe->stop();
    settle(task, {"", Failure::kHung,
                  "no answer within " + std::to_string(task.timeout.count()) +
                      " s; the worker was killed"});
    return true;
  }
  if (now < task.next) return false;
  task.next = now + task.interval;
  const auto asked = task.probe->request(now + task.timeout);
  if (asked) return false;
  // A killed worker that has not ended is still where it hung.
  const bool stuck = asked.error().code == ErrorCode::kUnavailable;
  settle(task, {"", stuck ? Failure::kHung : Failure::kOther, asked.error().sentence});
  return true;
}

// Says each change once.
void NodeWatch::settle(Task& task, const Answer& answer) {
  if (answer.why != task.problem && !answer.why.empty())
    spdlog::warn("{}: {}; what it looks at is unknown", task.name, answer.why);
  task.problem = answer.why;
  auto findings = task.judge(answer, task.findings);
  findings.erase(std::remove_if(findings.begin(), findings.end(),
                                [this](const Finding& finding) { return is_off(finding); }),
                 findings.end());
  // Of what is not in shadow, incidents speak.
  for (const auto& finding : findings)
    if ((task.is_shadow || is_shadow(finding)) && !contains(task.findings, finding))
      spdlog::warn("{}: {} (in shadow: nothing follows)", task.name, describe(finding));
  for (const auto& finding : task.findings)
    if (!contains(findings, finding)) spdlog::info("{}: over: {}", task.name, describe(finding));
  task.findings = std::move(findings);
}

RuleMode NodeWatch::mode_of(const Finding& finding) const {
  const auto* rule = find_class_rule(rules_, finding.verdict.fault_class);
  return rule ? rule->mode : RuleMode::kOn;
}

bool NodeWatch::is_off(const Finding& finding) const { return mode_of(finding) == RuleMode::kOff; }

bool NodeWatch::is_shadow(const Finding& finding) const {
  return mode_of(finding) == RuleMode::kShadow;
}

std::vector<Finding> NodeWatch::findings() const {
  std::vector<Finding> all;
  for (const auto& task : tasks_)
    for (const auto& finding : task.findings)
      if (!task.is_shadow && !is_shadow(finding)) all.push_back(finding);
  return all;
}

std::vector<std::string> NodeWatch::silent() const {
  std::vector<std::string> names;
  for (const auto& task : tasks_)
    if (task.is_needed && !task.problem.empty()) names.push_back(task.name + ": " + task.problem);
  return names;
}

}  // namespace acrf
