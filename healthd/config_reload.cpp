// SPDX-License-Identifier: GPL-2.0-or-later
#include "config_reload.h"

#include <algorithm>
#include <mutex>
#include <thread>

namespace acrf {
namespace {

template <typename Rule>
std::string lines_of(const std::vector<Rule>& rules) {
  std::string text;
  for (const auto& rule : rules) text += to_line(rule) + "\n";
  return text;
}

}  // namespace

struct ConfigReload::Answer {
  std::mutex mutex;
  std::optional<Result<Config>> config;
};

void ConfigReload::start() {
  again_ = answer_ != nullptr;
  if (again_) return;
  answer_ = std::make_shared<Answer>();
  std::thread([answer = answer_, read = read_] {
    auto config = read();
    const std::lock_guard lock(answer->mutex);
    answer->config = std::move(config);
  }).detach();
}

std::optional<Result<Config>> ConfigReload::take() {
  if (!answer_) return std::nullopt;
  std::optional<Result<Config>> config;
  {
    const std::lock_guard lock(answer_->mutex);
    if (!answer_->config) return std::nullopt;
    config = std::move(answer_->config);
  }
  answer_.reset();
  if (!again_) return config;
  start();
  return std::nullopt;
}

std::vector<std::string> changes_between(const Config& before, const Config& after) {
  std::vector<std::string> changes;
  for (const auto& setting : settings()) {
    const auto value = setting_value(after, setting);
    if (value != setting_value(before, setting))
      changes.push_back(std::string(setting.name) + "=" + value);
  }
  if (lines_of(before.faults) != lines_of(after.faults)) changes.emplace_back("Fault lines");
  if (lines_of(before.checks) != lines_of(after.checks)) changes.emplace_back("Check lines");
  if (lines_of(before.policies) != lines_of(after.policies)) changes.emplace_back("Policy lines");
  return changes;
}

std::vector<std::string> keep_fixed_settings(const Config& before, Config& after) {
  constexpr std::pair<const char*, std::string Config::*> kFixed[] = {
      {"KernelLog", &Config::kernel_log}, {"StateDir", &Config::state_dir}};
  std::vector<std::string> kept;
  for (const auto& [name, field] : kFixed) {
    if (before.*field == after.*field) continue;
    after.*field = before.*field;
    kept.emplace_back(name);
  }
  return kept;
}

}  // namespace acrf
