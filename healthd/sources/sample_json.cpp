// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/sample_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace acrf {
namespace {

using nlohmann::json;

template <typename Record, typename Names>
void put_readings(json& to, const Record& from, const Names& names) {
  for (const auto& name : names)
    if (from.*name.field) to[name.key] = *(from.*name.field);
}

json encode_link(const LinkSample& link) {
  json item = {{"link", link.link}};
  if (link.remote != PciAddress{}) item["remote"] = to_string(link.remote);
  put_readings(item, link, link_reading_names());
  return item;
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
  for (const auto& link : gpu.links) record["links"].push_back(encode_link(link));
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

// What the reader can complete: the same GPU with the same lists, but for the readings of links.
bool is_continued(const GpuSample& gpu, const GpuSample& before) {
  const auto same_link = [](const LinkSample& a, const LinkSample& b) { return a.link == b.link; };
  return gpu.address != PciAddress{} && gpu.address == before.address && gpu.uuid == before.uuid &&
         gpu.serial == before.serial && gpu.name == before.name && gpu.vendor == before.vendor &&
         gpu.index == before.index && gpu.blocks == before.blocks &&
         gpu.incidents == before.incidents &&
         std::equal(gpu.links.begin(), gpu.links.end(), before.links.begin(), before.links.end(),
                    same_link);
}

json encode_changes(const GpuSample& gpu, const GpuSample& before) {
  json record;
  for (const auto& name : reading_names())
    if (gpu.*name.field != before.*name.field)
      record[name.key] = gpu.*name.field ? json(*(gpu.*name.field)) : json();
  for (std::size_t i = 0; i < gpu.links.size(); ++i)
    if (gpu.links[i] != before.links[i]) record["links"].push_back(encode_link(gpu.links[i]));
  if (!gpu.xids.empty()) record["xids"] = gpu.xids;
  const auto put_flag = [&](const char* key, bool GpuSample::*flag) {
    if (gpu.*flag != before.*flag) record[key] = gpu.*flag;
  };
  put_flag("lost", &GpuSample::lost);
  put_flag("reset_required", &GpuSample::reset_required);
  put_flag("suspended", &GpuSample::suspended);
  if (record.is_null()) return gpu.index;
  record["changed"] = true;
  record["index"] = gpu.index;
  return record;
}

json encode_sample(const GpuSample& gpu, const ProbeAnswer* before) {
  if (before)
    for (const auto& other : before->gpus)
      if (other.index == gpu.index && is_continued(gpu, other)) return encode_changes(gpu, other);
  return encode_sample(gpu);
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
    const auto remote = text_at(item, "remote");
    std::string_view rest = remote;
    link.remote = take_pci_address(rest).value_or(PciAddress{});
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

void take_changes(const json& record, GpuSample& gpu) {
  for (const auto& name : reading_names())
    if (record.contains(name.key)) gpu.*name.field = number_at(record, name.key);
  const auto take_flag = [&](const char* key, bool GpuSample::*flag) {
    if (record.contains(key)) gpu.*flag = flag_at(record, key);
  };
  take_flag("lost", &GpuSample::lost);
  take_flag("reset_required", &GpuSample::reset_required);
  take_flag("suspended", &GpuSample::suspended);
  GpuSample lists;
  take_lists(record, lists);
  gpu.xids = std::move(lists.xids);
  for (const auto& changed : lists.links)
    for (auto& link : gpu.links)
      if (link.link == changed.link) link = changed;
}

// A GPU that is given by its index, or by what has changed of it. False: it is not in `before`.
bool add_continued(const json& item, const std::vector<GpuSample>& before,
                   std::vector<GpuSample>& samples) {
  const auto index =
      item.is_object() ? number_at(item, "index") : Reading(item.get<std::uint64_t>());
  const auto known = std::find_if(before.begin(), before.end(), [&](const GpuSample& gpu) {
    return index && gpu.index == *index;
  });
  if (known == before.end()) return false;
  auto& gpu = samples.emplace_back(*known);
  gpu.xids.clear();
  if (item.is_object()) take_changes(item, gpu);
  return true;
}

}  // namespace

std::string encode_answer(const Result<ProbeAnswer>& answer, const ProbeAnswer* before) {
  json record;
  if (!answer) {
    record = {{"ok", false}, {"error", answer.error().sentence}};
  } else {
    record = {{"ok", true}, {"gpus", json::array()}};
    if (!answer->driver.empty()) record["driver"] = answer->driver;
    for (const auto& gpu : answer->gpus) record["gpus"].push_back(encode_sample(gpu, before));
  }
  return record.dump(-1, ' ', true, json::error_handler_t::replace);
}

Result<std::vector<GpuSample>> parse_samples(const std::string& answer,
                                             const std::vector<GpuSample>& before,
                                             std::string* driver) {
  const auto record = json::parse(answer, nullptr, false);
  if (!record.is_object())
    return Error{ErrorCode::kInvalid, "the probe's answer is not JSON: " + answer.substr(0, 200)};
  if (!flag_at(record, "ok")) {
    const auto problem = text_at(record, "error");
    return Error{ErrorCode::kUnavailable, problem.empty() ? "unknown error" : problem};
  }
  if (driver && record.contains("driver")) *driver = text_at(record, "driver");
  std::vector<GpuSample> samples;
  for (const auto& item : list_at(record, "gpus")) {
    if (item.is_number_unsigned() || (item.is_object() && flag_at(item, "changed"))) {
      if (!add_continued(item, before, samples))
        return Error{ErrorCode::kInvalid, "the probe's answer continues one that is not known"};
    } else if (auto sample = parse_sample(item)) {
      samples.push_back(std::move(*sample));
    }
  }
  return samples;
}

}  // namespace acrf
