// SPDX-License-Identifier: GPL-2.0-or-later
// Of Api: jobs, their lives, and the queue.
#include <algorithm>

#include "core/job_life.h"
#include "core/text.h"
#include "hub/http/api.h"
#include "hub/http/parameters.h"
#include "hub/model_json.h"

namespace acrf::hub {
namespace {

using Json = nlohmann::ordered_json;

bool is_pending(const JobLook& job) { return job.state == "PENDING"; }

LifeSources sources_of(const JobLook& job, std::int64_t now_s) {
  LifeSources sources;
  sources.now_unix_s = now_s;
  sources.job.id = job.id;
  sources.job.state = job.state;
  sources.job.reason = job.reason;
  sources.job.submit_unix_s = job.submit_ms / 1000;
  sources.job.start_unix_s = job.start_ms / 1000;
  sources.job.end_unix_s = job.end_ms / 1000;
  sources.job.restarts = job.restarts;
  sources.job.nodes = job.nodes;
  sources.job.admin_comment = job.admin_comment;
  return sources;
}

// What was decided and done about the job, of its incidents' audit entries.
void add_acts(LifeSources& sources, const std::vector<AuditLook>& entries, std::uint32_t job) {
  const auto subject = "job " + std::to_string(job);
  for (const auto& entry : entries) {
    const auto record = Json::parse(entry.json, nullptr, false);
    if (!record.is_object() || record.value("subject", "") != subject) continue;
    sources.others.push_back({record.value("time_ms", std::int64_t{0}), record.value("what", ""),
                              "incident " + record.value("incident", "") + " of " +
                                  record.value("node", "") + ": " + record.value("result", "")});
  }
}

void add_life(Json& all, const JobLife& life) {
  Json timeline = Json::array();
  for (const auto& event : life.events)
    timeline.push_back({{"unix_ms", event.unix_ms}, {"what", event.what}, {"text", event.text}});
  all["timeline"] = std::move(timeline);
  all["wall_s"] = life.wall_s;
  all["waiting_s"] = life.waiting_s;
  all["redone_s"] = life.redone_s;
  all["useful_s"] = life.useful_s;
  all["steps_lost"] = life.steps_lost ? Json(*life.steps_lost) : Json();
  all["ettr"] = life.ettr ? Json(*life.ettr) : Json();
}

}  // namespace

Result<Json> Api::jobs(const Request& request) {
  Parameters parameters(request);
  const auto state = parameters.text("state");
  const auto after = parameters.number("after", 0, UINT32_MAX, 0);
  const auto limit = parameters.limit();
  if (!parameters.status()) return parameters.status().error();
  auto all = parts_.model.jobs();
  std::sort(all.begin(), all.end(), [](auto& a, auto& b) { return a.id < b.id; });
  Json jobs = Json::array();
  for (const auto& job : all)
    if (job.id > after && jobs.size() < limit &&
        (state.empty() || equals_ignoring_case(job.state, state)))
      jobs.push_back(to_json(job));
  return Json{{"jobs", std::move(jobs)}};
}

Result<Json> Api::job(const Request& request) {
  const std::string text = request.matches[1];
  const auto id = parse_unsigned(text);
  if (!id || *id == 0 || *id > UINT32_MAX)
    return Error{ErrorCode::kInvalid, "\"" + text + "\" is no job's number"};
  const auto job = parts_.model.job(static_cast<std::uint32_t>(*id));
  if (!job) return Error{ErrorCode::kNotFound, "slurmctld knows no job " + text};
  auto sources = sources_of(*job, unix_ms_now() / 1000);
  AuditFilter filter;
  filter.since_ms = std::max<std::int64_t>(1, job->submit_ms - 86'400'000);
  if (const auto entries = parts_.history.audit(filter)) add_acts(sources, *entries, job->id);
  auto all = to_json(*job);
  add_life(all, tell_life(sources));
  return all;
}

Result<Json> Api::queue(const Request& request) {
  Parameters parameters(request);
  const auto limit = parameters.limit();
  if (!parameters.status()) return parameters.status().error();
  auto waiting = parts_.model.jobs();
  std::erase_if(waiting, [](auto& job) { return !is_pending(job); });
  std::stable_sort(waiting.begin(), waiting.end(), [](auto& a, auto& b) {
    return a.priority != b.priority ? a.priority > b.priority : a.id < b.id;
  });
  Json jobs = Json::array();
  for (const auto& job : waiting) {
    if (jobs.size() == limit) break;
    auto one = to_json(job);
    one["priority"] = job.priority;
    jobs.push_back(std::move(one));
  }
  return Json{{"jobs", std::move(jobs)}, {"waiting", waiting.size()}};
}

}  // namespace acrf::hub
