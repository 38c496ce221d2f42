// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/gpu_use_json.h"

#include <exception>
#include <nlohmann/json.hpp>

namespace acrf {
namespace {

using nlohmann::json;

json to_json(const GpuUse& use) {
  json gpus = json::array();
  for (const auto& gpu : use.gpus) gpus.push_back(to_string(gpu));
  return {{"job", use.job},     {"user", use.user}, {"since", use.since_s},
          {"all", use.has_all}, {"gpus", gpus},     {"steps", use.steps}};
}

GpuUse parse_use(const json& record) {
  GpuUse use;
  use.job = record.at("job");
  use.user = record.at("user");
  use.since_s = record.at("since");
  use.has_all = record.at("all");
  use.steps = record.at("steps").get<std::vector<std::string>>();
  for (const auto& gpu : record.at("gpus")) {
    const auto& text = gpu.get_ref<const std::string&>();
    std::string_view rest = text;
    use.gpus.push_back(take_pci_address(rest).value());
  }
  return use;
}

}  // namespace

std::string job_answer_to_json(const JobAnswer& answer) {
  json uses = json::array();
  for (const auto& use : answer.uses) uses.push_back(to_json(use));
  json gpus = json::array();
  for (const auto& gpu : answer.gpus) gpus.push_back(gpu ? to_string(*gpu) : "");
  return json{{"uses", uses}, {"gpus", gpus}, {"problem", answer.problem}}.dump(
      -1, ' ', false, json::error_handler_t::replace);
}

Result<JobAnswer> job_answer_from_json(const std::string& line) {
  try {
    const auto record = json::parse(line);
    JobAnswer answer;
    for (const auto& use : record.at("uses")) answer.uses.push_back(parse_use(use));
    for (const auto& gpu : record.value("gpus", json::array())) {
      const auto text = gpu.get<std::string>();
      std::string_view rest = text;
      answer.gpus.push_back(take_pci_address(rest));
    }
    answer.problem = record.at("problem");
    return answer;
  } catch (const std::exception&) {
    return Error{ErrorCode::kInvalid, "unreadable answer: " + line.substr(0, 100)};
  }
}

}  // namespace acrf
