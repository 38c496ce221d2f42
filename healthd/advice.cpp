// SPDX-License-Identifier: GPL-2.0-or-later
#include "advice.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/file.h"
#include "common/secret_file.h"
#include "core/node_verdict.h"
#include "core/redact.h"
#include "core/text.h"
#include "core/url.h"

namespace acrf {
namespace {

constexpr std::size_t kMostQueued = 8;
constexpr std::size_t kMostCached = 256;
constexpr std::size_t kMostPerHour = 20;
constexpr std::chrono::seconds kWorkerTimeout{40};

// A worker is a process of our own, and is believed no more than the model.
Result<Advice> advice_from(const std::string& line) {
  const auto answer = nlohmann::json::parse(line, nullptr, false);
  if (!answer.is_object()) return Error{ErrorCode::kInvalid, "unreadable answer"};
  if (answer.contains("error") && answer["error"].is_string())
    return Error{ErrorCode::kUnavailable, answer["error"].get<std::string>()};
  if (!answer.contains("class") || !answer["class"].is_string() || !answer.contains("reason") ||
      !answer["reason"].is_string())
    return Error{ErrorCode::kInvalid, "unreadable answer"};
  const std::string name = answer["class"];
  const auto classes = advice_classes();
  if (std::find(classes.begin(), classes.end(), name) == classes.end())
    return Error{ErrorCode::kInvalid, "the model named a class that does not exist"};
  return Advice{name, printable_line(answer["reason"].get<std::string>(), 200)};
}

}  // namespace

AdviceSettings advice_settings(const Config& config) {
  return {config.advice_url, config.advice_api, config.advice_model, config.advice_key_file};
}

Status check_advice_settings(const AdviceSettings& settings) {
  if (settings.key_file.empty()) return Done{};
  const auto key = read_secret(settings.key_file);
  if (!key) return key.error();
  const auto url = parse_url(settings.url);
  if (!url || !keeps_secrets(*url))
    return Error{ErrorCode::kDenied, "a key is not sent over http: AdviceUrl must be https"};
  return Done{};
}

AdviceDesk::AdviceDesk(const AdviceSettings& settings, const std::string& program,
                       std::string cache_path, std::vector<std::string> names)
    : cache_path_(std::move(cache_path)), names_(std::move(names)) {
  if (settings.url.empty()) return;
  if (const auto checked = check_advice_settings(settings); !checked) {
    spdlog::error("advice: {}; nobody is asked", checked.error().sentence);
    return;
  }
  std::vector<std::string> command = {
      program,      "--advice-worker", "--advice-url", settings.url,        "--advice-api",
      settings.api, "--advice-model",  settings.model, "--advice-key-file", settings.key_file};
  probe_ = std::make_unique<Probe>(std::move(command), std::vector<std::string>());
  load();
}

// Lines that differ in numbers only are the same question.
std::string AdviceDesk::key_of(std::string_view redacted) const {
  std::string shape;
  for (const char c : redacted) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit || shape.empty() || shape.back() != '0') shape += digit ? '0' : c;
  }
  return fingerprint(shape);
}

bool AdviceDesk::may_ask(Clock::time_point now) {
  while (!asked_.empty() && now - asked_.front() >= std::chrono::hours(1)) asked_.pop_front();
  return asked_.size() < kMostPerHour;
}

void AdviceDesk::consider(std::string_view line, Clock::time_point now) {
  if (!probe_ || queue_.size() >= kMostQueued || !may_ask(now)) return;
  const auto redacted = redact(line, names_);
  const auto key = key_of(redacted);
  if (redacted.empty() || cache_.contains(key)) return;
  for (const auto& waiting : queue_)
    if (key_of(waiting) == key) return;
  asked_.push_back(now);
  queue_.push_back(redacted);
}

std::optional<Advice> AdviceDesk::advice_on(std::string_view line) const {
  const auto found = cache_.find(key_of(redact(line, names_)));
  return found == cache_.end() ? std::nullopt : std::optional<Advice>(found->second);
}

void AdviceDesk::add_poll_fds(std::vector<pollfd>& fds) const {
  if (probe_ && probe_->waiting()) fds.push_back({probe_->poll_fd(), POLLIN, 0});
}

AdviceDesk::Clock::time_point AdviceDesk::next_wake() const {
  if (!probe_ || queue_.empty()) return Clock::time_point::max();
  return probe_->deadline().value_or(Clock::time_point());
}

void AdviceDesk::step(Clock::time_point now) {
  if (!probe_ || queue_.empty()) return;
  if (!probe_->waiting()) {
    const auto asked = probe_->request(now + kWorkerTimeout, queue_.front());
    if (!asked) take(asked.error());
    return;
  }
  const auto answer = probe_->take_answer();
  if (!answer) return take(answer.error());
  if (*answer) {
    probe_->stop();  // it comes back with the next question, which may be hours away
    return take(advice_from(**answer));
  }
  if (now < *probe_->deadline()) return;
  probe_->stop();
  take(Error{ErrorCode::kUnavailable, "no answer in time"});
}

// A question that failed is not asked again before its line comes again.
void AdviceDesk::take(const Result<Advice>& advice) {
  const auto line = queue_.front();
  queue_.pop_front();
  if (!advice) {
    spdlog::warn("advice: {}", printable_line(advice.error().sentence, 200));
    return;
  }
  spdlog::info("advice, not acted on: {}: {} (on: {})", advice->advised_class, advice->reason,
               line);
  if (cache_.size() >= kMostCached) cache_.erase(cache_.begin());
  cache_[key_of(line)] = *advice;
  save();
}

void AdviceDesk::load() {
  const auto text = read_file(cache_path_);
  if (!text) return;
  const auto all = nlohmann::json::parse(*text, nullptr, false);
  if (!all.is_object()) return;
  for (const auto& [key, value] : all.items())
    if (const auto advice = advice_from(value.dump()); advice && cache_.size() < kMostCached)
      cache_[key] = *advice;
}

void AdviceDesk::save() const {
  nlohmann::json all = nlohmann::json::object();
  for (const auto& [key, advice] : cache_)
    all[key] = {{"class", advice.advised_class}, {"reason", advice.reason}};
  if (const auto saved = replace_file(cache_path_, all.dump(1) + "\n"); !saved)
    spdlog::warn("advice: {}", saved.error().sentence);
}

}  // namespace acrf
