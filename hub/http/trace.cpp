// SPDX-License-Identifier: GPL-2.0-or-later
#include "hub/http/trace.h"

#include <algorithm>

#include "core/text.h"

namespace acrf::hub {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::int64_t number_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

// "job 12"
std::uint32_t job_in(std::string_view subject) {
  if (!take_prefix(subject, "job ")) return 0;
  const auto number = parse_unsigned(subject);
  return number && *number <= 0xffffffff ? static_cast<std::uint32_t>(*number) : 0;
}

// Who carries out what an entry of this kind says.
std::string part_of(const std::string& kind) {
  if (kind == "act" || kind == "return") return "slurmctld";
  if (kind == "program" || kind == "notify") return kind;
  return kind == "admin" ? "admin" : "healthd";
}

void add_word(std::string& text, const std::string& word, const char* before) {
  if (!word.empty()) text += before + word;
}

}  // namespace

void Trace::add_incident(const Json& incident) {
  opened_ms_ = number_of(incident, "opened_ms");
  auto text = text_of(incident, "class");
  add_word(text, text_of(incident, "where"), " at ");
  add_word(text, text_of(incident, "action"), ": ");
  add_word(text, text_of(incident, "evidence"), "; ");
  steps_.push_back({opened_ms_, "healthd", "opened", text});
  if (const auto closed = number_of(incident, "closed_ms"); closed > 0)
    steps_.push_back({closed, "healthd", "closed", text_of(incident, "outcome")});
}

void Trace::add_audit(const Json& record) {
  const auto kind = text_of(record, "kind"), what = text_of(record, "what");
  const auto result = text_of(record, "result");
  const auto began = number_of(record, "time_ms"), ended = number_of(record, "finished_ms");
  auto text = text_of(record, "subject");
  add_word(text, text_of(record, "decided_by"), " by ");
  add_word(text, result, ": ");
  add_word(text, text_of(record, "sentence"), ", ");
  steps_.push_back({ended > 0 ? ended : began, part_of(kind), what, text});
  if (kind != "act" || result != "done") return;
  if (what == "drain" && drained_ms_ == 0) drained_ms_ = ended > 0 ? ended : began;
  if (const auto job = job_in(text_of(record, "subject")); job != 0)
    requeues_.push_back({job, began});
}

void Trace::add_reason(const std::string& reason, const std::string& id) {
  if (reason.find("[" + id + "]") == std::string::npos) return;
  steps_.push_back({drained_ms_ > 0 ? drained_ms_ : opened_ms_, "slurmctld", "reason", reason});
}

std::vector<std::uint32_t> Trace::requeued_jobs() const {
  std::vector<std::uint32_t> jobs;
  for (const auto& requeue : requeues_)
    if (std::find(jobs.begin(), jobs.end(), requeue.job) == jobs.end()) jobs.push_back(requeue.job);
  return jobs;
}

void Trace::add_restart(const JobLook& job) {
  std::int64_t requeued_ms = 0;
  for (const auto& requeue : requeues_)
    if (requeue.job == job.id) requeued_ms = std::max(requeued_ms, requeue.unix_ms);
  // slurmctld's times are whole seconds.
  if (requeued_ms == 0 || job.start_ms < requeued_ms / 1000 * 1000) return;
  steps_.push_back({job.start_ms, "job", "restart",
                    "job " + std::to_string(job.id) + " runs again on " + job.nodes + " (restart " +
                        std::to_string(job.restarts) + ")"});
  if (job.end_ms > 0)
    steps_.push_back(
        {job.end_ms, "job", "ended", "job " + std::to_string(job.id) + ": " + job.state});
}

Json Trace::to_json() const {
  auto ordered = steps_;
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const Step& a, const Step& b) { return a.unix_ms < b.unix_ms; });
  Json all = Json::array();
  for (const auto& step : ordered)
    all.push_back(
        {{"unix_ms", step.unix_ms}, {"part", step.part}, {"what", step.what}, {"text", step.text}});
  return all;
}

}  // namespace acrf::hub
