// SPDX-License-Identifier: GPL-2.0-or-later
#include "classify.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/node_verdict.h"
#include "core/text.h"

namespace acrf {
namespace {

constexpr std::string_view kRow = "{:>6}  {:<12}  {:<8}  {:<22}  {:<6}  {:<12}  {}\n";

std::string code_of(const LineVerdict& verdict) {
  if (verdict.xid) return std::to_string(*verdict.xid);
  return verdict.sxid ? std::to_string(*verdict.sxid) : "";
}

std::string place_of(const LineVerdict& verdict) {
  if (verdict.gpu) return to_string(*verdict.gpu);
  return verdict.device ? to_string(*verdict.device) : "";
}

// Terminals must not obey what a log holds.
std::string printable(std::string_view text) {
  constexpr std::size_t kMost = 120;
  std::string shown;
  for (const char c : text.substr(0, kMost)) {
    const auto byte = static_cast<unsigned char>(c);
    shown += byte < ' ' || byte == 0x7f ? '?' : c;
  }
  return text.size() > kMost ? shown + "..." : shown;
}

std::string incident_json(const Incident& incident) {
  const auto& root = incident.root;
  nlohmann::ordered_json json = {
      {"id", incident.id},
      {"class", root.verdict.fault_class},
      {"action", name_of(root.verdict.action)},
      {"severity", name_of(root.verdict.severity)},
      {"scope", name_of(root.verdict.scope)},
      {"state", health_state(root.verdict, root.xid)},
  };
  if (root.xid) json["xid"] = *root.xid;
  if (root.sxid) json["sxid"] = *root.sxid;
  if (root.part.empty()) json["gpu"] = to_string(root.gpu);
  if (!root.part.empty()) json["part"] = root.part;
  if (root.pid) json["pid"] = *root.pid;
  if (root.job) json["job"] = *root.job;
  if (root.user) json["user"] = *root.user;
  if (!root.step.empty()) json["step"] = root.step;
  auto& said = json["root"] = {{"line", parse_unsigned(root.discriminator).value_or(0)},
                               {"class", root.verdict.fault_class}};
  for (const auto* key : {"xid", "sxid", "gpu"})
    if (json.contains(key)) said[key] = json[key];
  said["text"] = root.evidence;
  json["count"] = incident.count;
  json["lines"] = incident.lines;
  json["companions"] = incident.companions;
  json["places"] = incident.places;
  json["closed"] = !incident.outcome.empty();
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

std::string verdict_json(const LineVerdict& line, std::size_t number) {
  const auto& verdict = line.verdict;
  nlohmann::ordered_json json = {
      {"line", number},
      {"class", verdict.fault_class},
      {"action", name_of(verdict.action)},
      {"severity", name_of(verdict.severity)},
      {"scope", name_of(verdict.scope)},
      {"state", health_state(line.verdict, line.xid)},
  };
  if (line.xid) json["xid"] = *line.xid;
  if (line.sxid) json["sxid"] = *line.sxid;
  if (line.gpu) json["gpu"] = to_string(*line.gpu);
  if (line.device) json["device"] = to_string(*line.device);
  if (!line.mig.empty()) json["mig"] = line.mig;
  if (!line.location.empty()) json["location"] = line.location;
  if (!line.suspect.empty()) json["suspect"] = line.suspect;
  if (line.caused_by) json["caused_by"] = *line.caused_by;
  if (line.shadowed) json["shadowed"] = name_of(*line.shadowed);
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string verdict_heading() {
  return fmt::format(kRow, "LINE", "ACTION", "SEVERITY", "CLASS", "CODE", "DEVICE", "TEXT");
}

std::string verdict_row(const LineVerdict& line, std::size_t number, std::string_view text) {
  return fmt::format(kRow, number, name_of(line.verdict.action), name_of(line.verdict.severity),
                     line.verdict.fault_class, code_of(line), place_of(line), printable(text));
}

void IncidentReport::take(std::string_view text, std::size_t line) {
  auto reading = reader_.read(parse_log_line(text));
  if (!reading.event) return;
  auto& event = *reading.event;
  event.source = "log";
  event.discriminator = std::to_string(line);
  event.evidence = std::string(text);
  history_.judge(event);
  tracker_.observe(event);
}

std::string IncidentReport::to_json() const {
  std::string lines;
  for (const auto& incident : tracker_.incidents()) lines += incident_json(incident) + "\n";
  return lines;
}

std::string IncidentReport::to_text() const {
  std::string lines = fmt::format("{:<12}  {:<8}  {:<22}  {:<12}  {:>5}  {:>6}  {}\n", "ACTION",
                                  "SEVERITY", "CLASS", "WHERE", "COUNT", "LINES", "ROOT");
  for (const auto& incident : tracker_.incidents()) {
    const auto& root = incident.root;
    lines += fmt::format("{:<12}  {:<8}  {:<22}  {:<12}  {:>5}  {:>6}  line {}: {}\n",
                         name_of(root.verdict.action), name_of(root.verdict.severity),
                         root.verdict.fault_class, place_of(root), incident.count, incident.lines,
                         root.discriminator, printable(root.evidence));
  }
  return lines;
}

}  // namespace acrf
