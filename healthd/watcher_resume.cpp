// SPDX-License-Identifier: GPL-2.0-or-later
// What a daemon that starts does with the incidents that an earlier run left behind, and before it
// judges anything itself.
#include <spdlog/spdlog.h>

#include <utility>

#include "watcher.h"

namespace acrf {
namespace {

constexpr std::size_t kFinishedIncidentsKept = 200;

}  // namespace

void Watcher::resume_unfinished() {
  std::vector<std::string> complaints;
  for (auto& incident : store_.load_all(complaints)) {
    if (incident.node != node_) {
      end_unfinished(incident, "left to its other neighbours");
      continue;
    }
    if (incident.root.boot_id != boot_id_) {
      end_unfinished(incident, "the node was rebooted");
      continue;
    }
    // What was only observed is news again to a daemon that may act.
    const bool acts = evacuates(incident.root.verdict);
    if (acts && !incident.enforced && enforces_anywhere(config_)) continue;
    tracker_.update(incident);
    if (!incident.taken_over && !store_.is_withdrawn(incident.id)) note(incident);
    if (incident.phase == Phase::kDone) continue;
    if (!enforces_anywhere(config_)) {
      spdlog::warn("incident {}: unfinished, and left so: Mode=observe", incident.id);
      continue;
    }
    spdlog::info("incident {}: taken up again after a restart", incident.id);
    responder_->submit(std::move(incident));
  }
  for (const auto& complaint : complaints) spdlog::error("set aside as unreadable: {}", complaint);
  store_.prune(kFinishedIncidentsKept);
}

// A fault that is judged before the GPUs are known is remembered by its place instead of the GPU's
// UUID, and takes the whole node where hiding one GPU would do. The kernel keeps its lines
// meanwhile.
void Watcher::learn_gpus(Clock::time_point now) {
  const bool knows_numbers = !config_.gpu_quarantine || jobs_.has_answered();
  knows_gpus_ = now >= knows_gpus_by_ || (gpus_.has_heard_all() && knows_numbers);
  if (!knows_gpus_) return;
  read_kernel_log();
  for (auto& event : gpus_.work(now, std::time(nullptr))) observe_finding(std::move(event));
}

// Verdicts are bound to the boot they were made in: a reboot is the cure that was asked for.
void Watcher::end_unfinished(Incident& incident, const std::string& why) {
  if (incident.phase == Phase::kDone) return;
  incident.phase = Phase::kDone;
  incident.outcome = why;
  spdlog::info("incident {}: closed: {}", incident.id, incident.outcome);
  save(incident);
}

}  // namespace acrf
