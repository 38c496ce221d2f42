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

namespace {

template <typename Value>
void keep(const char* name, Value Config::*field, const Config& before, Config& after,
          std::vector<std::string>& kept) {
  if (before.*field == after.*field) return;
  after.*field = before.*field;
  kept.emplace_back(name);
}

}  // namespace

std::vector<std::string> keep_fixed_settings(const Config& before, Config& after) {
  std::vector<std::string> kept;
  keep("KernelLog", &Config::kernel_log, before, after, kept);
  keep("StateDir", &Config::state_dir, before, after, kept);
  keep("PeerPortOffset", &Config::peer_port_offset, before, after, kept);
  keep("PeerSilence", &Config::peer_silence_s, before, after, kept);
  keep("SlurmdSilence", &Config::slurmd_silence_s, before, after, kept);
  return kept;
}

}  // namespace acrf
