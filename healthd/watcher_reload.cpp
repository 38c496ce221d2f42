// SPDX-License-Identifier: GPL-2.0-or-later
// What SIGHUP does to the watching half: all of acrf.conf is parsed, then swapped in one step
// between two looks. What is under way goes on: workers whose lines did not change keep their
// process and their memory, incidents keep their names.
#include <spdlog/spdlog.h>

#include "common/courier_path.h"
#include "watcher.h"

namespace acrf {
namespace {

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

void Watcher::take_new_config() {
  auto fresh = reload_.take();
  if (!fresh) return;
  if (!*fresh) {
    spdlog::error("{}; the settings read before stay in force", fresh->error().sentence);
    return;
  }
  auto& config = **fresh;
  for (const auto& name : keep_fixed_settings(config_, config))
    spdlog::warn("{} has changed; that takes effect when acrf-healthd is started again", name);
  const auto changes = changes_between(config_, config);
  if (changes.empty()) return spdlog::info("acrf.conf was read again: nothing has changed");
  spdlog::info("acrf.conf was read again: {}", join(changes));
  swap_config(std::move(config));
}

void Watcher::swap_config(Config config) {
  const bool enforced_before = enforces_anywhere(config_);
  const auto before = std::move(config_);
  config_ = std::move(config);
  catalog_ = Catalog::with_rules(config_.faults);
  responder_->configure(config_);
  start_notifier();
  if (before.hub != config_.hub || before.report_interval_s != config_.report_interval_s)
    start_reporter();
  gpus_.reload();
  NodeWatch node_watch(config_, kProgram, node_, gres_conf_);
  node_watch.take_over(node_watch_);
  node_watch_ = std::move(node_watch);
  if (before.job_attribution != config_.job_attribution || before.node_root != config_.node_root)
    jobs_ = JobWatch(config_, kProgram, node_, gres_conf_, boot_id_);
  if (advice_settings(before) != advice_settings(config_))
    advice_ = AdviceDesk(advice_settings(config_), courier_path(),
                         config_.state_dir + "/advice.json", {node_});
  if (enforced_before != enforces_anywhere(config_)) change_mode();
}

// What was only observed is news to a daemon that may act, if it still holds; what was not begun is
// not done by one that may not.
void Watcher::change_mode() {
  if (enforces_anywhere(config_)) {
    {
      const std::lock_guard lock(tracker_mutex_);
      tracker_.forget_acting();
    }
    gpus_.tell_again();
    node_findings_.clear();
    return;
  }
  std::vector<Incident> incidents;
  {
    const std::lock_guard lock(tracker_mutex_);
    incidents = tracker_.incidents();
  }
  for (const auto& incident : incidents)
    if (evacuates(incident.root.verdict)) responder_->withdraw(incident.id);
}

}  // namespace acrf
