// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/text.h"

namespace acrf::sim {
namespace {

using nlohmann::ordered_json;

ordered_json to_json(const PlannedJob& job) {
  return {{"at_ms", job.at_ms},    {"job", job.name},
          {"type", job.type},      {"priority", name_of(job.priority)},
          {"nodes", job.nodes},    {"gpus", job.gpus},
          {"seconds", job.seconds}};
}

ordered_json to_json(const PlannedFault& fault) {
  return {{"at_ms", fault.at_ms},
          {"fault", fault.kind},
          {"node", fault.node},
          {"gpu", fault.gpu},
          {"repair_s", fault.repair_s}};
}

Status check(const RecordedCluster& cluster) {
  if (cluster.nodes >= 1 && cluster.nodes <= kMostNodes && cluster.gpus >= 1 &&
      cluster.gpus <= kMostGpus)
    return Done{};
  return Error{
      ErrorCode::kInvalid,
      fmt::format("the cluster must have 1 to {} nodes with 1 to {} GPUs", kMostNodes, kMostGpus)};
}

Status check(const RecordedCluster& cluster, const PlannedJob& job) {
  if (job.at_ms < 0) return Error{ErrorCode::kInvalid, "at_ms is below 0"};
  if (job.nodes < 1 || job.nodes > cluster.nodes || job.gpus < 1 || job.gpus > cluster.gpus)
    return Error{ErrorCode::kInvalid, "job " + job.name + " does not fit the cluster"};
  if (!(job.seconds >= 0 && job.seconds <= 86400))
    return Error{ErrorCode::kInvalid, "job " + job.name + " must work for 0 to 86400 s"};
  return Done{};
}

Status check(const RecordedCluster& cluster, const PlannedFault& fault) {
  if (fault.at_ms < 0) return Error{ErrorCode::kInvalid, "at_ms is below 0"};
  if (fault.node < 0 || fault.node >= cluster.nodes || fault.gpu < 0 || fault.gpu >= cluster.gpus)
    return Error{ErrorCode::kInvalid, "the cluster has no such GPU"};
  if (!find_fault_kind(fault.kind))
    return Error{ErrorCode::kInvalid, "no such kind of fault: " + fault.kind};
  if (!(fault.repair_s >= 0 && fault.repair_s <= 3600))
    return Error{ErrorCode::kInvalid, "repair_s must be 0 to 3600"};
  return Done{};
}

PlannedJob job_of(const ordered_json& line) {
  PlannedJob job;
  job.at_ms = line.at("at_ms");
  job.name = line.at("job");
  job.type = line.at("type");
  job.priority = parse_priority(line.value("priority", "normal")).value_or(Priority::kNormal);
  job.nodes = line.at("nodes");
  job.gpus = line.at("gpus");
  job.seconds = line.at("seconds");
  return job;
}

PlannedFault fault_of(const ordered_json& line) {
  return {line.at("at_ms"), line.at("node"), line.at("gpu"), line.at("fault"), line.at("repair_s")};
}

Status take_line(const ordered_json& line, bool first, Recording& recording) {
  if (first) {
    recording.cluster = {line.at("nodes"), line.at("gpus"), line.value("seed", std::uint64_t{0})};
    return check(recording.cluster);
  }
  if (line.contains("job")) {
    recording.events.emplace_back(job_of(line));
    return check(recording.cluster, std::get<PlannedJob>(recording.events.back()));
  }
  recording.events.emplace_back(fault_of(line));
  return check(recording.cluster, std::get<PlannedFault>(recording.events.back()));
}

}  // namespace

std::string to_line(const RecordedCluster& cluster) {
  return ordered_json{{"acrf_sim", 1},
                      {"nodes", cluster.nodes},
                      {"gpus", cluster.gpus},
                      {"seed", cluster.seed}}
             .dump() +
         "\n";
}

std::string to_line(const PlannedEvent& event) {
  return std::visit([](const auto& planned) { return to_json(planned).dump() + "\n"; }, event);
}

Result<Recording> parse_recording(std::string_view text, const std::string& origin) {
  Recording recording;
  int number = 0;
  bool first = true;
  for (const auto line : split(text, '\n')) {
    ++number;
    if (trim(line).empty()) continue;
    const auto here = origin + ":" + std::to_string(number) + ": ";
    try {
      const auto taken = take_line(ordered_json::parse(line), first, recording);
      if (!taken) return Error{ErrorCode::kInvalid, here + taken.error().sentence};
    } catch (const std::exception& problem) {
      return Error{ErrorCode::kInvalid, here + problem.what()};
    }
    first = false;
  }
  if (first) return Error{ErrorCode::kInvalid, origin + ": the recording is empty"};
  std::stable_sort(recording.events.begin(), recording.events.end(),
                   [](const auto& a, const auto& b) { return time_of(a) < time_of(b); });
  return recording;
}

std::vector<PlannedEvent> Replay::until(std::int64_t ms) {
  std::vector<PlannedEvent> due;
  while (given_ < events_.size() && time_of(events_[given_]) <= ms)
    due.push_back(events_[given_++]);
  return due;
}

}  // namespace acrf::sim
