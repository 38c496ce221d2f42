// SPDX-License-Identifier: GPL-2.0-or-later
#include "job_sources.h"

#include <ctime>
#include <set>

#include "common/audit_log.h"
#include "common/checkpoint_dir.h"
#include "common/file.h"
#include "common/incident_store.h"
#include "common/progress_dir.h"
#include "common/slurm_client.h"
#include "common/slurm_job_life.h"
#include "core/hostlist.h"
#include "core/node_verdict.h"
#include "core/policy.h"
#include "decision_log.h"
#include "hub_records.h"

namespace acrf {
namespace {

constexpr std::size_t kMostEntries = 10'000;

class Gatherer {
 public:
  Gatherer(LifeFacts job, const Config& config, const HubClient* hub) : config_(config), hub_(hub) {
    sources_.life.job = std::move(job);
    sources_.life.now_unix_s = std::time(nullptr);
  }

  JobSources gather(const Result<std::string>& state_directory) {
    read_placements(state_directory);
    read_checkpoints();
    for (const auto& node : nodes()) read_node(node);
    return std::move(sources_);
  }

 private:
  const LifeFacts& job() const { return sources_.life.job; }
  void miss(const std::string& what) { sources_.missing.push_back(what); }
  void add(std::int64_t unix_ms, const std::string& what, const std::string& text) {
    sources_.life.others.push_back({unix_ms, what, text});
  }

  void read_placements(const Result<std::string>& directory) {
    if (!directory) return miss("placements: " + directory.error().sentence);
    const auto decisions = read_decisions(*directory + "/acrf-decisions", job().id);
    if (!decisions) return miss("placements: " + decisions.error().sentence);
    for (const auto& decision : *decisions) {
      if (decision.value("mode", "") != "run_now" || !decision.value("ok", false)) continue;
      const auto outcome = decision.value("outcome", "");
      const bool planned = decision.value("nodes", 0) > 0;
      add(static_cast<std::int64_t>(decision.value("time", 0.0) * 1000), "placed",
          meaning_of_outcome(outcome) +
              (planned ? ", cost " + std::to_string(decision.value("cost", 0)) + ", " +
                             std::to_string(decision.value("candidates", 0)) + " candidates"
                       : ""));
    }
  }

  void read_checkpoints() {
    const auto policy = find_policy(job().admin_comment);
    if (!policy || policy->checkpoint_dir.empty()) return;
    const CheckpointDir files(policy->checkpoint_dir);
    const CheckpointJudge judge(files, policy->checkpoint_format);
    for (const auto& entry : judge.candidates()) {
      if (judge.defect_of(entry)) continue;
      CheckpointFact fact{entry.name, entry.modified_ns / 1'000'000'000, {}};
      if (const auto step = step_of(entry.name)) fact.step = static_cast<std::int64_t>(*step);
      sources_.life.checkpoints.push_back(std::move(fact));
    }
    const auto resumed = read_text(files, std::string(kResumeHistoryName));
    if (resumed) sources_.life.resumed = parse_resume_history(*resumed);
    for (const auto& reach : read_reach(policy->checkpoint_dir, job().id))
      sources_.life.reached.push_back({reach.restart, reach.step});
    if (sources_.life.checkpoints.empty())
      miss("checkpoints: none in " + policy->checkpoint_dir + ", or it is not within reach");
  }

  // Where it runs, and what was to blame for the end of earlier runs.
  std::set<std::string> nodes() const {
    std::set<std::string> names;
    if (const auto now = expand_hostlist(job().nodes)) names.insert(now->begin(), now->end());
    for (const auto& run : find_run_history(job().admin_comment).runs)
      if (!run.node.empty()) names.insert(run.node);
    return names;
  }

  void read_node(const std::string& node) {
    const auto directory = expand_node(config_.state_dir, node);
    if (!read_directories_.insert(directory).second) return;
    AuditQuery query;
    query.newest = kMostEntries;
    auto records = find_audit_records(audit_path(directory), query);
    const bool of_hub = !records && hub_;
    if (of_hub) {
      query.node = node;
      records = hub_audit(*hub_, query);
    }
    if (!records) return miss("audit log of " + node + ": " + records.error().sentence);
    const auto subject = "job " + std::to_string(job().id);
    std::set<std::string> incidents;
    for (const auto& record : *records)
      if (record.entry.subject == subject) incidents.insert(record.entry.incident);
    for (const auto& record : *records)
      if (incidents.contains(record.entry.incident)) add_record(record, subject);
    for (const auto& id : incidents) of_hub ? add_hub_incident(id) : add_incident(directory, id);
  }

  // Other jobs that the same incident concerned are not this one's life.
  void add_record(const AuditRecord& record, const std::string& subject) {
    const auto& entry = record.entry;
    if (entry.subject != subject && entry.subject.rfind("job ", 0) == 0) return;
    add(entry.unix_ms, std::string(name_of(entry.kind)),
        entry.what + " " + entry.subject + " on " + entry.node + ": " +
            std::string(name_of(record.result.state)) +
            (record.result.sentence.empty() ? "" : ", " + record.result.sentence));
  }

  void add_incident(const std::string& directory, const std::string& id) {
    const auto text = read_file(directory + "/incidents/" + id + ".json");
    const auto incident = text ? incident_from_json(*text) : Result<Incident>(text.error());
    if (!incident) return miss("incident " + id + ": " + incident.error().sentence);
    const auto& root = incident->root;
    add(root.unix_s * 1000, "fault",
        root.verdict.fault_class + " on " + incident->node + " " + place_of(root) + ", asks for " +
            std::string(name_of(root.verdict.action)) + ": " + root.evidence);
  }

  void add_hub_incident(const std::string& id) {
    const auto incident = hub_->get("/v1/incidents/" + escaped(id));
    if (!incident) return miss("incident " + id + ": " + incident.error().sentence);
    const auto text = [&](const char* key) { return value_of<std::string>(*incident, key); };
    add(value_of<std::int64_t>(*incident, "opened_ms"), "fault",
        text("class") + " on " + text("node") + " " + text("where") + ", asks for " +
            text("action") + ": " + text("evidence"));
  }

  const Config& config_;
  const HubClient* hub_;
  JobSources sources_;
  std::set<std::string> read_directories_;
};

}  // namespace

Result<JobSources> gather_job_sources(std::uint32_t job, const Config& config,
                                      const HubClient* hub) {
  SlurmClient slurm;
  auto facts = load_life_facts(JobId{job});
  if (!facts) return facts.error();
  return Gatherer(std::move(*facts), config, hub).gather(slurm.state_directory());
}

}  // namespace acrf
