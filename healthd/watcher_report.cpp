// SPDX-License-Identifier: GPL-2.0-or-later
// What the watcher tells the hubs.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <ctime>

#include "common/courier_path.h"
#include "common/munge.h"
#include "common/slurm_conf_file.h"
#include "core/text.h"
#include "watcher.h"

namespace acrf {
namespace {

std::int64_t unix_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

// Also after a reload: what the old one has not sent lies on disk for the new one.
void Watcher::start_reporter() {
  reporter_.reset();
  reported_state_.clear();
  Reporter::Options options;
  for (const auto url : split(config_.hub, ','))
    if (!trim(url).empty()) options.hubs.emplace_back(trim(url));
  if (options.hubs.empty()) return;
  options.node = node_;
  options.boot_id = boot_id_;
  options.state_dir = config_.state_dir;
  options.courier = courier_path();
  const auto directory = std::filesystem::path(gres_conf_).parent_path().string();
  options.munge_socket = munge_socket_in(slurm_conf_value(directory, "AuthInfo"));
  options.interval_s = config_.report_interval_s;
  reporter_ = std::make_unique<Reporter>(std::move(options),
                                         [](const std::string& kind, const std::string& text) {
                                           // Words for people: this node's own verdict decides what
                                           // is done.
                                           spdlog::warn("the hub advises: {}: {}", kind, text);
                                         });
}

// By Slurm's numbers; a GPU whose number is not known keeps its library's.
std::vector<ReportedPart> Watcher::parts_to_report() const {
  std::vector<ReportedPart> parts;
  for (const auto* sample : gpus_.samples()) {
    const int index = jobs_.gpu_index(sample->address).value_or(static_cast<int>(sample->index));
    const bool is_taken = std::any_of(parts.begin(), parts.end(), [&](const ReportedPart& other) {
      return other.index == index;
    });
    if (index >= 0 && index < 64 && !is_taken)
      parts.push_back({index, sample, gpus_.dcgm_sample(sample->uuid)});
  }
  std::sort(parts.begin(), parts.end(),
            [](const auto& a, const auto& b) { return a.index < b.index; });
  return parts;
}

NodeNow Watcher::present(const NodeVerdict& verdict) {
  NodeNow present;
  present.verdict = verdict;
  present.gpus = parts_to_report();
  const std::lock_guard lock(tracker_mutex_);
  present.findings = findings_.at(std::time(nullptr));
  present.cases.assign(open_cases_.begin(), open_cases_.end());
  return present;
}

// A change at once, a sample every ReportInterval.
void Watcher::report(const NodeVerdict& verdict, Clock::time_point now) {
  const auto present = this->present(verdict);
  auto state = state_item(present, 0);
  if (state != reported_state_) {
    reported_state_ = std::move(state);
    reporter_->set_driver(gpus_.driver());
    reporter_->state(state_item(present, unix_ms()));
  }
  if (now < next_report_ || present.gpus.empty()) return;
  next_report_ = now + std::chrono::seconds(config_.report_interval_s);
  reporter_->sample(sample_item(present.gpus, unix_ms()));
}

}  // namespace acrf
