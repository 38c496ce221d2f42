// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_cache.h"

#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>

#include "common/file.h"
#include "common/verdict_file.h"
#include "sources/kernel_log_source.h"

namespace acrf {
namespace {

constexpr int kVersion = 1;

NodeVerdict unknown(const std::string& why) { return {CheckStatus::kUnknown, "UNKNOWN", why}; }

}  // namespace

std::int64_t boottime_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

Status CheckCache::publish(const NodeVerdict& verdict, std::int64_t now_ms,
                           const std::function<std::string()>& figures) {
  const bool is_due = written_ms_ < 0 || now_ms - written_ms_ >= kCheckCacheEveryMs;
  if (!is_due && verdict == written_) return Done{};
  nlohmann::json record = {
      {"version", kVersion},         {"boot_id", boot_id_},
      {"boottime_ms", now_ms},       {"status", static_cast<int>(verdict.status)},
      {"class", verdict.node_class}, {"text", verdict.text}};
  if (figures) record["figures"] = nlohmann::json::parse(figures(), nullptr, false);
  // Tried again at the next refresh, not at each wakeup.
  written_ = verdict;
  written_ms_ = now_ms;
  return replace_file(
      path_, record.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n", 0644);
}

NodeVerdict read_check_cache(const std::string& path, const std::string& boot_id,
                             std::int64_t now_ms) {
  const auto text = read_file(path);
  if (!text) return unknown("no verdict: " + text.error().sentence + "; is acrf-healthd running?");
  const auto record = nlohmann::json::parse(*text, nullptr, false);
  if (!record.is_object() || !record.contains("version") || record["version"] != kVersion)
    return unknown(path + " is not a verdict of this version");
  for (const auto* name : {"boot_id", "class", "text"})
    if (!record.contains(name) || !record[name].is_string())
      return unknown(path + " lacks " + name);
  for (const auto* name : {"status", "boottime_ms"})
    if (!record.contains(name) || !record[name].is_number_integer())
      return unknown(path + " lacks " + name);
  if (record["boot_id"] != boot_id) return unknown("the verdict is of an earlier boot");
  const auto age_ms = now_ms - record["boottime_ms"].get<std::int64_t>();
  if (age_ms < 0 || age_ms > kCheckCacheStaleMs)
    return unknown("the verdict is " + std::to_string(age_ms / 1000) +
                   " s old; is acrf-healthd running?");
  const auto status = record["status"].get<std::int64_t>();
  if (status < 0 || status > 3) return unknown(path + " has an unknown status");
  return {static_cast<CheckStatus>(status), printable_line(record["class"].get<std::string>(), 60),
          printable_line(record["text"].get<std::string>(), 400)};
}

int run_check_once(const std::string& state_dir) {
  const auto boot_id = read_boot_id();
  const auto verdict = boot_id ? read_check_cache(verdict_path(state_dir), *boot_id, boottime_ms())
                               : unknown(boot_id.error().sentence);
  std::printf("ACRF %s - %s: %s\n", std::string(name_of(verdict.status)).c_str(),
              verdict.node_class.c_str(), verdict.text.c_str());
  return static_cast<int>(verdict.status);
}

}  // namespace acrf
