// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/sample_json.h"

#include <nlohmann/json.hpp>

namespace acrf {
namespace {

using nlohmann::json;

template <typename Record, typename Names>
void put_readings(json& to, const Record& from, const Names& names) {
  for (const auto& name : names)
    if (from.*name.field) to[name.key] = *(from.*name.field);
}

json encode_sample(const GpuSample& gpu) {
  json record = {{"vendor", gpu.vendor}, {"index", gpu.index}, {"lost", gpu.lost}};
  if (gpu.address != PciAddress{}) record["pci"] = to_string(gpu.address);
  if (!gpu.uuid.empty()) record["uuid"] = gpu.uuid;
  if (!gpu.serial.empty()) record["serial"] = gpu.serial;
  if (!gpu.name.empty()) record["name"] = gpu.name;
  if (gpu.reset_required) record["reset_required"] = true;
  if (gpu.suspended) record["suspended"] = true;
  put_readings(record, gpu, reading_names());
  if (!gpu.xids.empty()) record["xids"] = gpu.xids;
  for (const auto& link : gpu.links) {
    json item = {{"link", link.link}};
    put_readings(item, link, link_reading_names());
    record["links"].push_back(item);
  }
  for (const auto& block : gpu.blocks) {
    json item = {{"name", block.name}};
    if (block.corrected) item["corrected"] = *block.corrected;
    if (block.uncorrected) item["uncorrected"] = *block.uncorrected;
    record["blocks"].push_back(item);
  }
  for (const auto& incident : gpu.incidents)
    record["incidents"].push_back({{"system", incident.system},
                                   {"failed", incident.failed},
                                   {"code", incident.code},
                                   {"text", incident.text}});
  return record;
}

Reading number_at(const json& record, const char* key) {
  const auto found = record.find(key);
  if (found == record.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<std::uint64_t>();
}

std::string text_at(const json& record, const char* key) {
  const auto found = record.find(key);
  return found != record.end() && found->is_string() ? found->get<std::string>() : "";
}

bool flag_at(const json& record, const char* key) {
  const auto found = record.find(key);
  return found != record.end() && found->is_boolean() && found->get<bool>();
}

const json& list_at(const json& record, const char* key) {
  static const json kNone = json::array();
  const auto found = record.find(key);
  return found != record.end() && found->is_array() ? *found : kNone;
}

template <typename Record, typename Names>
void take_readings(const json& from, Record& to, const Names& names) {
  for (const auto& name : names) to.*name.field = number_at(from, name.key);
}

void take_lists(const json& record, GpuSample& gpu) {
  for (const auto& xid : list_at(record, "xids"))
    if (xid.is_number_unsigned()) gpu.xids.push_back(xid.get<std::uint64_t>());
  for (const auto& item : list_at(record, "links")) {
    const auto number = item.is_object() ? number_at(item, "link") : std::nullopt;
    if (!number) continue;
    auto& link = gpu.links.emplace_back();
    link.link = *number;
    take_readings(item, link, link_reading_names());
  }
  for (const auto& item : list_at(record, "blocks"))
    if (item.is_object())
      gpu.blocks.push_back(
          {text_at(item, "name"), number_at(item, "corrected"), number_at(item, "uncorrected")});
  for (const auto& item : list_at(record, "incidents"))
    if (item.is_object())
      gpu.incidents.push_back({text_at(item, "system"), flag_at(item, "failed"),
                               number_at(item, "code").value_or(0), text_at(item, "text")});
}

std::optional<GpuSample> parse_sample(const json& record) {
  if (!record.is_object()) return std::nullopt;
  const std::string pci = text_at(record, "pci");
  std::string_view rest = pci;
  const auto address = take_pci_address(rest);
  if (!address) return std::nullopt;
  GpuSample gpu;
  gpu.address = *address;
  gpu.uuid = text_at(record, "uuid");
  gpu.serial = text_at(record, "serial");
  gpu.name = text_at(record, "name");
  gpu.vendor = text_at(record, "vendor");
  gpu.index = number_at(record, "index").value_or(0);
  gpu.lost = flag_at(record, "lost");
  gpu.reset_required = flag_at(record, "reset_required");
  gpu.suspended = flag_at(record, "suspended");
  take_readings(record, gpu, reading_names());
  take_lists(record, gpu);
  return gpu;
}

}  // namespace

std::string encode_answer(const Result<ProbeAnswer>& answer) {
  json record;
  if (!answer) {
    record = {{"ok", false}, {"error", answer.error().sentence}};
  } else {
    record = {{"ok", true}, {"gpus", json::array()}};
    if (!answer->driver.empty()) record["driver"] = answer->driver;
    for (const auto& gpu : answer->gpus) record["gpus"].push_back(encode_sample(gpu));
  }
  return record.dump(-1, ' ', true, json::error_handler_t::replace);
}

Result<std::vector<GpuSample>> parse_samples(const std::string& answer) {
  const auto record = json::parse(answer, nullptr, false);
  if (!record.is_object())
    return Error{ErrorCode::kInvalid, "the probe's answer is not JSON: " + answer.substr(0, 200)};
  if (!flag_at(record, "ok")) {
    const auto problem = text_at(record, "error");
    return Error{ErrorCode::kUnavailable, problem.empty() ? "unknown error" : problem};
  }
  std::vector<GpuSample> samples;
  for (const auto& item : list_at(record, "gpus"))
    if (auto sample = parse_sample(item)) samples.push_back(std::move(*sample));
  return samples;
}

}  // namespace acrf
