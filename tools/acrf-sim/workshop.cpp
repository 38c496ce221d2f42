// SPDX-License-Identifier: GPL-2.0-or-later
#include "workshop.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "common/case_store.h"
#include "common/file.h"
#include "minicluster/node_repair.h"

namespace acrf::sim {
namespace {

namespace fs = std::filesystem;
using minicluster::mend_gpus;

constexpr double kUsualRepair_s = 5;

constexpr char kReset[] = R"sh(#!/bin/sh
sleep "$(cat "{root}/nodes/$1/repair_s" 2>/dev/null || echo 5)"
for gpu in {gpus}; do
  SLURM_CONF="{root}/etc/slurm.conf" "{stage}/usr/bin/acrf" inject --node "$1" --gpu "$gpu" --repair || exit 1
done
)sh";
constexpr char kAsk[] = "#!/bin/sh\ntouch \"{root}/sim/asked/{what}-$1\"\n";
constexpr char kTest[] = R"sh(#!/bin/sh
if grep -Eq '"(lost|reset_required|vanished|hang)": *true|"recovery_action"' "{root}/nodes/$1/gpus.json"; then
  echo "a GPU is still broken"
  exit 1
fi
echo "all GPUs answer"
)sh";

std::string filled(std::string text, const std::map<std::string, std::string>& words) {
  for (const auto& [word, value] : words) {
    const auto mark = "{" + word + "}";
    for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark))
      text.replace(at, mark.size(), value);
  }
  return text;
}

}  // namespace

std::string Workshop::acrf_conf(const std::string& root) {
  return fmt::format(
      "MaxDrainsPerHour=100%\nMaxDrained=100%\nMinHealthy=30%\nCommonCauseNodes=0\n"
      "MaxDrainsPerSwitch=1000\nMaxFaults=1000\nMaxRemedies=1000\nProbationTime=15\n"
      "RequeueBackoff=1\nMaxRequeues=1000\nMaxNodeRequeues=1000\nGpuQuarantine=on\n"
      "ResetProgram={0}/reset\nRebootProgram={0}/reboot\nReplaceProgram={0}/replace\n"
      "TestProgram={0}/test\n",
      root + "/sim/programs");
}

Status Workshop::prepare() {
  std::error_code error;
  fs::create_directories(cluster_.path("sim/programs"), error);
  fs::create_directories(cluster_.path("sim/asked"), error);
  if (error) return Error{ErrorCode::kSystem, cluster_.path("sim") + ": " + error.message()};
  std::string gpus;
  for (int gpu = 0; gpu < cluster_.options().gpus_per_node; ++gpu)
    gpus += std::to_string(gpu) + " ";
  for (const auto& [name, text] : {std::pair<std::string, std::string>{"reset", kReset},
                                   {"reboot", kAsk},
                                   {"replace", kAsk},
                                   {"test", kTest}}) {
    const auto script = filled(text, {{"root", cluster_.options().root},
                                      {"stage", cluster_.options().stage},
                                      {"what", name},
                                      {"gpus", gpus}});
    if (const auto written = write_file(cluster_.path("sim/programs/" + name), script, 0755);
        !written)
      return written;
  }
  return Done{};
}

Status Workshop::set_repair_time(const std::string& node, double seconds) {
  return replace_file(cluster_.path("nodes/" + node + "/repair_s"), fmt::format("{}\n", seconds),
                      0644);
}

double Workshop::repair_time(const std::string& node) const {
  const auto text = read_file(cluster_.path("nodes/" + node + "/repair_s"));
  return text ? std::strtod(text->c_str(), nullptr) : kUsualRepair_s;
}

bool Workshop::is_due(const std::string& what, std::int64_t now_ms, double seconds) {
  const auto [at, is_new] = asked_.try_emplace(what, Asked{});
  if (is_new) at->second.due_ms = now_ms + static_cast<std::int64_t>(1000 * seconds);
  if (now_ms < at->second.due_ms) return false;
  asked_.erase(at);
  return true;
}

std::vector<std::string> Workshop::serve(Books& books, std::int64_t now_ms,
                                         std::int64_t began_unix_ms) {
  std::vector<std::string> done;
  for (const auto& node : cluster_.nodes()) {
    const auto asked = cluster_.path("sim/asked/reboot-" + node);
    std::error_code error;
    if (fs::exists(asked, error) && is_due("reboot " + node, now_ms, repair_time(node))) {
      fs::remove(asked, error);
      const auto rebooted = minicluster::reboot(cluster_, node);
      done.push_back(rebooted ? node + " has rebooted" : rebooted.error().sentence);
    }
    serve_cases(node, books, now_ms, began_unix_ms, done);
  }
  return done;
}

void Workshop::serve_cases(const std::string& node, Books& books, std::int64_t now_ms,
                           std::int64_t began_unix_ms, std::vector<std::string>& done) {
  std::error_code error;
  for (const auto& entry :
       fs::directory_iterator(cluster_.path("nodes/" + node + "/acrf/cases"), error)) {
    const auto path = entry.path().string();
    if (entry.path().extension() != ".json" || over_.contains(path)) continue;
    const auto text = read_file(path);
    const auto sick = text ? CaseStore::from_json(*text) : Result<Case>(text.error());
    if (!sick) continue;  // being replaced
    const auto opened_s = sick->faults_s.empty() ? sick->since_s : sick->faults_s.front();
    const bool back = sick->state == CaseState::kProbation || is_over(sick->state);
    books.see_case(node, sick->key, sick->fault_class, opened_s * 1000 - began_unix_ms, back,
                   now_ms);
    if (is_over(sick->state)) over_[path] = true;
    if (waits_for_people(sick->state) && is_due("people " + path, now_ms, repair_time(node)))
      done.push_back(serve_people(node, sick->gpu_uuid));
  }
}

// Another GPU in its place is what ACRF takes for a repair; a node itself is for an admin to
// resume.
std::string Workshop::serve_people(const std::string& node, const std::string& gpu_uuid) {
  if (!gpu_uuid.empty()) {
    const auto replaced = mend_gpus(cluster_, node, gpu_uuid);
    return replaced ? fmt::format("people replace {} of {}", gpu_uuid, node)
                    : replaced.error().sentence;
  }
  (void)mend_gpus(cluster_, node, "");
  cluster_.run({"scontrol", "update", "NodeName=" + node, "State=RESUME"});
  return "people look at " + node + " and resume it";
}

}  // namespace acrf::sim
