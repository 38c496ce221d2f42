// SPDX-License-Identifier: GPL-2.0-or-later
// A second opinion on kernel lines that no rule knows, from a language model behind an HTTP
// endpoint. It is words for people: nothing in ACRF reads them. Names and addresses leave the line
// before it leaves the node, the model may only choose among known classes, and asking happens in a
// worker process, one line at a time and rarely.
#pragma once

#include <poll.h>

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/config.h"
#include "core/result.h"
#include "sources/probe.h"

namespace acrf {

struct AdviceSettings {
  std::string url, api, model, key_file;
  bool operator==(const AdviceSettings&) const = default;
};
AdviceSettings advice_settings(const Config& config);

// Whether the endpoint could be asked: the key file must be root's alone, and a key goes over
// https or to this host only.
Status check_advice_settings(const AdviceSettings& settings);

struct Advice {
  std::string advised_class;
  std::string reason;  // one printable line of at most 200 bytes
};

// What a model may answer.
std::span<const std::string_view> advice_classes();

std::string advice_request(const AdviceSettings& settings, const std::string& line);
// An Error unless the reply is of the expected form and names a known class.
Result<Advice> parse_advice(const std::string& api, const std::string& reply);

// Asks and waits; for the worker process.
Result<Advice> ask_model(const AdviceSettings& settings, const std::string& line,
                         std::chrono::milliseconds timeout);
int run_advice_worker(const AdviceSettings& settings);

// The daemon's side: never waits.
class AdviceDesk {
 public:
  using Clock = std::chrono::steady_clock;

  // `program` is acrf-courier; `names` are taken out of every line; what was answered is
  // kept in `cache_path`.
  AdviceDesk(const AdviceSettings& settings, const std::string& program, std::string cache_path,
             std::vector<std::string> names);

  // A line that no rule knows. The same line again, a full queue or too many lines an hour: nobody
  // is asked.
  void consider(std::string_view line, Clock::time_point now);

  void add_poll_fds(std::vector<pollfd>& fds) const;
  Clock::time_point next_wake() const;
  void step(Clock::time_point now);

  std::optional<Advice> advice_on(std::string_view line) const;

 private:
  std::string key_of(std::string_view redacted) const;
  bool may_ask(Clock::time_point now);
  void take(const Result<Advice>& advice);
  void load();
  void save() const;

  std::unique_ptr<Probe> probe_;  // null: nobody is to be asked
  std::string cache_path_;
  std::vector<std::string> names_;
  std::deque<std::string> queue_;  // redacted lines; the first is being asked about
  std::deque<Clock::time_point> asked_;
  std::map<std::string, Advice> cache_;
};

}  // namespace acrf
