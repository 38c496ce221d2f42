// SPDX-License-Identifier: GPL-2.0-or-later
#include "hub/http/actions.h"

#include <nlohmann/json.hpp>

#include "fakegpu/injection.h"

namespace acrf::hub {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestName = 256, kLongestReason = 1024;

Error malformed(std::string sentence) { return {ErrorCode::kInvalid, std::move(sentence)}; }

Status take_text(const json& body, const char* key, std::size_t longest, std::string& text) {
  const auto found = body.find(key);
  if (found == body.end() || found->is_null()) return Done{};
  if (!found->is_string()) return malformed(std::string(key) + ": must be a text");
  text = found->get<std::string>();
  if (text.size() > longest)
    return malformed(std::string(key) + ": is longer than " + std::to_string(longest) + " bytes");
  for (const char c : text)
    if (static_cast<unsigned char>(c) < ' ')
      return malformed(std::string(key) + ": must be one line without control characters");
  return Done{};
}

Status take_gpu(const json& body, std::optional<int>& gpu) {
  const auto found = body.find("gpu");
  if (found == body.end() || found->is_null()) return Done{};
  if (!found->is_number_unsigned() || found->get<std::uint64_t>() > 63)
    return malformed("gpu: must be a whole number from 0 to 63");
  gpu = found->get<int>();
  return Done{};
}

Status check_keys(const json& body) {
  for (const auto& [key, value] : body.items())
    if (key != "action" && key != "node" && key != "gpu" && key != "reason" && key != "fault")
      return malformed(key.substr(0, 64) + ": is no field of an action");
  return Done{};
}

// What is wrong with it in itself.
Status check(const ActionRequest& request) {
  if (request.action == "brakes-reset") return Done{};
  if (request.action == "inject") {
    if (request.node.empty()) return malformed("inject needs a node");
    const auto parsed = fakegpu::parse_injection(
        request.node, static_cast<unsigned>(request.gpu.value_or(0)), request.fault);
    return parsed ? Status(Done{}) : parsed.error();
  }
  const auto kind = parse_admin_act(request.action);
  if (!kind)
    return malformed("action: must be drain, return, quarantine, clear, brakes-reset or inject");
  const auto fault = fault_in({*kind, request.node, request.gpu, request.reason, ""});
  return fault.empty() ? Status(Done{}) : malformed(fault);
}

AdminOutcome inject(const ActionParts& parts, const ActionRequest& request, const std::string& by) {
  AuditEntry entry;
  entry.node = request.node;
  entry.kind = AuditKind::kAdmin;
  entry.what = "inject";
  entry.subject = request.node + " GPU " + std::to_string(request.gpu.value_or(0));
  entry.decided_by = by;
  entry.mode = Mode::kEnforce;
  entry.evidence = request.fault;
  const auto id = parts.audit.begin(std::move(entry));
  const auto injection = fakegpu::parse_injection(
      request.node, static_cast<unsigned>(request.gpu.value_or(0)), request.fault);
  const auto done = !parts.test_cluster ? Status(Error{ErrorCode::kDenied,
                                                       "this is not a test cluster: real nodes "
                                                       "get no injected faults"})
                    : injection         ? fakegpu::inject(parts.config, *injection)
                                        : Status(injection.error());
  const auto result = done                 ? AuditResult::done(request.fault + " injected")
                      : parts.test_cluster ? AuditResult::failed(done.error().sentence)
                                           : AuditResult::skipped(done.error().sentence);
  parts.audit.finish(id, result);
  return {id, result};
}

}  // namespace

Result<ActionRequest> parse_action(std::string_view body) {
  const auto parsed = json::parse(body, nullptr, false);
  if (!parsed.is_object()) return malformed("the body must be a JSON object");
  if (const auto known = check_keys(parsed); !known) return known.error();
  ActionRequest request;
  struct {
    const char* key;
    std::size_t longest;
    std::string& text;
  } const texts[] = {{"action", kLongestName, request.action},
                     {"node", kLongestName, request.node},
                     {"reason", kLongestReason, request.reason},
                     {"fault", kLongestName, request.fault}};
  for (const auto& one : texts)
    if (const auto taken = take_text(parsed, one.key, one.longest, one.text); !taken)
      return taken.error();
  if (const auto taken = take_gpu(parsed, request.gpu); !taken) return taken.error();
  if (const auto fine = check(request); !fine) return fine.error();
  return request;
}

Actions make_actions(ActionParts parts) {
  return [parts](const ActionRequest& request, const std::string& by) -> AdminOutcome {
    if (request.action == "inject") return inject(parts, request, by);
    if (request.action == "brakes-reset")
      return reset_brakes({}, by, parts.slurm, parts.audit, parts.topology_dir);
    return carry_out(
        {*parse_admin_act(request.action), request.node, request.gpu, request.reason, by},
        parts.slurm, parts.audit);
  };
}

}  // namespace acrf::hub
