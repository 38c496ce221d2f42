// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/case_store.h"

#include <nlohmann/json.hpp>

namespace acrf {
namespace {

using nlohmann::json;

constexpr std::int64_t kKept_s = 40 * 86400;  // longer than the ladder looks back

Case parse_case(const json& record) {
  Case sick;
  sick.key = record.at("key");
  sick.id = record.at("incident");
  sick.node = record.at("node");
  sick.gpu_uuid = record.at("gpu_uuid");
  const std::string pci = record.at("gpu");
  std::string_view rest = pci;
  sick.gpu = take_pci_address(rest).value();
  sick.place = record.at("place");
  if (record.contains("gpu_index")) sick.gpu_index = record.at("gpu_index").get<int>();
  sick.gpus_expected = record.at("gpus_expected");
  sick.fault_class = record.at("class");
  sick.asked = parse_action(record.at("asked").get<std::string>()).value();
  sick.whole_node = record.at("whole_node");
  sick.state = parse_case_state(record.at("state").get<std::string>()).value();
  sick.since_s = record.at("since");
  sick.contained_s = record.at("contained");
  sick.boot_id = record.at("boot_id");
  sick.program_started = record.at("program_started");
  sick.program_ended = record.value("program_ended", true);
  for (const auto& each : record.at("tried"))
    sick.tried.push_back({parse_remedy(each.at("remedy").get<std::string>()).value(),
                          each.at("time").get<std::int64_t>()});
  sick.faults_s = record.at("faults").get<std::vector<std::int64_t>>();
  sick.ended_s = record.at("ended");
  sick.outcome = record.at("outcome");
  return sick;
}

}  // namespace

std::string CaseStore::to_json(const Case& sick) {
  json tried = json::array();
  for (const auto& each : sick.tried)
    tried.push_back({{"remedy", name_of(each.remedy)}, {"time", each.unix_s}});
  json record = {{"key", sick.key},
                 {"incident", sick.id},
                 {"node", sick.node},
                 {"gpu_uuid", sick.gpu_uuid},
                 {"gpu", to_string(sick.gpu)},
                 {"place", sick.place},
                 {"gpus_expected", sick.gpus_expected},
                 {"class", sick.fault_class},
                 {"asked", name_of(sick.asked)},
                 {"whole_node", sick.whole_node},
                 {"state", name_of(sick.state)},
                 {"since", sick.since_s},
                 {"contained", sick.contained_s},
                 {"boot_id", sick.boot_id},
                 {"program_started", sick.program_started},
                 {"program_ended", sick.program_ended},
                 {"tried", std::move(tried)},
                 {"faults", sick.faults_s},
                 {"ended", sick.ended_s},
                 {"outcome", sick.outcome}};
  if (sick.gpu_index) record["gpu_index"] = *sick.gpu_index;
  return record.dump(2, ' ', true, json::error_handler_t::replace) + "\n";
}

Result<Case> CaseStore::from_json(const std::string& text) {
  try {
    return parse_case(json::parse(text));
  } catch (const std::exception& problem) {
    return Error{ErrorCode::kInvalid, problem.what()};
  }
}

Result<CaseStore> CaseStore::open(const std::string& directory) {
  auto records = RecordDir::open(directory);
  if (!records) return records.error();
  return CaseStore(std::move(*records));
}

std::vector<Case> CaseStore::load_all(std::int64_t now_s,
                                      std::vector<std::string>& complaints) const {
  std::vector<Case> cases;
  records_.for_each(
      [&](const std::string& text) -> Status {
        auto sick = from_json(text);
        if (!sick) return sick.error();
        if (is_over(sick->state) && now_s - sick->ended_s > kKept_s)
          records_.remove(sick->key);
        else
          cases.push_back(std::move(*sick));
        return Done{};
      },
      complaints);
  return cases;
}

}  // namespace acrf
