// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/reporter.h"

#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/random.h>

#include <algorithm>
#include <cinttypes>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "acrf_config.h"
#include "core/text.h"

namespace acrf {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kAnswerWithin{60};
constexpr milliseconds kAskAgain{1500};  // whether what was accepted is durable
constexpr milliseconds kGatherNews{20};  // of one act's several files
constexpr int kLongestPause_s = 30;
constexpr std::size_t kMostQueued = 1000;
constexpr char kState[] = "state";

// A name that nobody had before.
std::string new_stream() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number)
    number = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, number);
  return text;
}

// A directory's name for a URL: letters, digits and dots stay.
std::string name_for(const std::string& url) {
  std::string name;
  for (const char c : url) {
    const bool stays = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    name += stays || (c == '.' && !name.empty()) ? c : '_';
  }
  return name;
}

std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace

Reporter::Hub::Hub(const Options& options, const std::string& to, const std::string& stream)
    : url(to),
      outbox(options.state_dir + "/report/" + name_for(to), stream),
      records(options.state_dir, options.state_dir + "/report/" + name_for(to) + "/cursor.json"),
      courier({options.courier, "--report", to + "/v1/report", "--node", options.node,
               "--munge-socket", options.munge_socket},
              {}) {}

Reporter::Reporter(Options options, Advise advise)
    : options_(std::move(options)),
      advise_(std::move(advise)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      file_news_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
  const auto stream = new_stream();
  for (const auto& url : options_.hubs)
    hubs_.push_back(std::make_unique<Hub>(options_, url, stream));
  ::inotify_add_watch(file_news_.get(), options_.state_dir.c_str(), IN_MODIFY | IN_CREATE);
  incidents_watch_ = ::inotify_add_watch(
      file_news_.get(), (options_.state_dir + "/incidents").c_str(), IN_MOVED_TO | IN_CLOSE_WRITE);
  thread_ = std::thread([this] { run(); });
}

Reporter::~Reporter() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ::eventfd_write(wake_.get(), 1);
  thread_.join();
}

void Reporter::sample(std::string item) {
  {
    const std::lock_guard lock(mutex_);
    if (queue_.size() < kMostQueued) queue_.push_back({true, std::move(item), "", 0});
  }
  ::eventfd_write(wake_.get(), 1);
}

void Reporter::state(std::string item) {
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(queue_, [](const auto& one) { return one.record == kState; });
    queue_.push_back({false, std::move(item), kState, 0});
  }
  ::eventfd_write(wake_.get(), 1);
}

void Reporter::set_driver(const std::string& driver) {
  const std::lock_guard lock(mutex_);
  driver_ = driver;
}

void Reporter::run() {
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) break;
    }
    take_queue();
    const auto now = Clock::now();
    if (now >= next_look_) look_at_records();
    for (auto& hub : hubs_) send(*hub, now);
    std::vector<pollfd> fds = {{wake_.get(), POLLIN, 0}, {file_news_.get(), POLLIN, 0}};
    for (const auto& hub : hubs_)
      if (hub->courier.waiting()) fds.push_back({hub->courier.poll_fd(), POLLIN, 0});
    ::poll(fds.data(), fds.size(), poll_timeout_ms(now));
    eventfd_t ignored;
    ::eventfd_read(wake_.get(), &ignored);
    if (take_file_news()) next_look_ = std::min(next_look_, Clock::now() + kGatherNews);
    for (auto& hub : hubs_)
      if (hub->courier.waiting()) take_answer(*hub);
  }
  take_queue();
  for (auto& hub : hubs_) {
    hub->records.save();
    if (const auto kept = hub->outbox.close(); !kept)
      spdlog::warn("hub {}: {}", hub->url, kept.error().sentence);
  }
}

void Reporter::take_queue() {
  std::vector<Outbox::Item> taken;
  {
    const std::lock_guard lock(mutex_);
    taken.swap(queue_);
  }
  for (const auto& item : taken)
    for (auto& hub : hubs_) item.record == kState ? hub->outbox.replace(item) : hub->outbox.add(item);
}

// True when an incident's record or the audit log has changed.
bool Reporter::take_file_news() {
  alignas(inotify_event) char buffer[8192];
  bool news = false;
  for (ssize_t n = 0; (n = ::read(file_news_.get(), buffer, sizeof buffer)) > 0;) {
    for (const char* at = buffer; at < buffer + n;) {
      const auto* event = reinterpret_cast<const inotify_event*>(at);
      at += sizeof(inotify_event) + event->len;
      news |= event->wd == incidents_watch_ || (event->mask & IN_Q_OVERFLOW) != 0 ||
              (event->len > 0 && starts_with(event->name, "audit.db"));
    }
  }
  return news;
}

void Reporter::look_at_records() {
  next_look_ = Clock::now() + seconds(options_.interval_s);
  std::string driver;
  {
    const std::lock_guard lock(mutex_);
    driver = driver_;
  }
  for (auto& hub : hubs_) {
    hub->records.look(hub->outbox, driver);
    hub->records.save();
  }
}

// News at once, what lies on disk when there are none; an empty report says that the node is there.
void Reporter::send(Hub& hub, Clock::time_point now) {
  if (hub.courier.waiting() || now < hub.next_try) return;
  if (hub.outbox.has_news() || now >= hub.next_report) {
    hub.on_its_way = hub.outbox.news();
    hub.next_report = now + seconds(options_.interval_s);
  } else if (hub.outbox.has_old() && now >= hub.next_old) {
    hub.on_its_way = hub.outbox.old();
    if (!hub.on_its_way) return;
  } else {
    return;
  }
  const auto asked = hub.courier.request(now + kAnswerWithin, body_of(*hub.on_its_way));
  if (!asked) fail(hub, asked.error().sentence);
}

std::string Reporter::body_of(const Outbox::Parcel& parcel) {
  std::string driver;
  {
    const std::lock_guard lock(mutex_);
    driver = driver_;
  }
  std::string body = "{\"node\":" + json_text(options_.node) + ",\"boot\":" + json_text(options_.boot_id) +
                     ",\"stream\":" + json_text(parcel.stream) + ",\"version\":\"" ACRF_VERSION
                     "\",\"driver\":" + json_text(driver) +
                     ",\"first\":" + std::to_string(parcel.first) + ",\"items\":[";
  for (const auto& item : parcel.items) {
    if (body.back() != '[') body += ',';
    body += item;
  }
  return body + "]}";
}

void Reporter::take_answer(Hub& hub) {
  const auto answer = hub.courier.take_answer();
  if (!answer) return fail(hub, answer.error().sentence);
  if (*answer) return take_reply(hub, **answer);
  if (Clock::now() < hub.courier.deadline()) return;
  hub.courier.stop();
  fail(hub, "acrf-courier does not answer");
}

void Reporter::take_reply(Hub& hub, const std::string& reply) {
  const auto said = nlohmann::json::parse(reply, nullptr, false);
  if (!said.is_object()) return fail(hub, "acrf-courier's answer is no JSON");
  if (said.contains("error"))
    return fail(hub, said["error"].is_string() ? said["error"].get<std::string>() : "no answer");
  std::uint64_t accepted = 0, durable = 0;
  std::vector<std::string> advice;
  try {
    accepted = said.at("accepted");
    durable = said.at("durable");
    for (const auto& one : said.value("advice", nlohmann::json::array()))
      advice.push_back(one.at("kind").get<std::string>() + ": " + one.at("text").get<std::string>());
  } catch (const std::exception& problem) {
    return fail(hub, problem.what());
  }
  const auto now = Clock::now();
  const bool was_old = hub.on_its_way->from_disk;
  const bool had_items = !hub.on_its_way->items.empty();
  const auto accepted_before = hub.outbox.accepted();
  for (const auto& record : hub.outbox.acknowledge(*hub.on_its_way, accepted, durable))
    hub.records.confirm(record);
  hub.on_its_way.reset();
  if (hub.failures > 0) spdlog::info("hub {}: answers again", hub.url);
  hub.failures = 0;
  if (was_old && !had_items) hub.next_old = now + kAskAgain;
  // A hub that takes nothing for now, with a disk that is full, is not asked without pause.
  if (!was_old && had_items) {
    const bool took_nothing = accepted == accepted_before;
    if (took_nothing) {
      hub.next_try = now + seconds(options_.interval_s);
      spill(hub, !hub.takes_nothing);
    }
    hub.takes_nothing = took_nothing;
  }
  take_advice(hub, std::move(advice));
}

void Reporter::take_advice(Hub& hub, std::vector<std::string> advice) {
  if (advice == hub.advice) return;
  for (const auto& one : advice)
    if (std::find(hub.advice.begin(), hub.advice.end(), one) == hub.advice.end()) {
      const auto colon = one.find(": ");
      advise_(one.substr(0, colon), one.substr(colon + 2));
    }
  hub.advice = std::move(advice);
}

void Reporter::fail(Hub& hub, const std::string& why) {
  hub.on_its_way.reset();
  if (++hub.failures == 1)
    spdlog::warn("hub {}: {}; what it is to know waits here", hub.url, why);
  const int pause_s = std::min(1 << std::min(hub.failures - 1, 10), kLongestPause_s);
  hub.next_try = Clock::now() + seconds(pause_s);
  spill(hub, hub.failures == 1);
}

// What was said at the first failure is not said at each further one.
void Reporter::spill(Hub& hub, bool is_first) {
  if (const auto spilled = hub.outbox.spill(); !spilled && is_first)
    spdlog::warn("hub {}: {}", hub.url, spilled.error().sentence);
  if (hub.outbox.dropped() == hub.told_dropped) return;
  hub.told_dropped = hub.outbox.dropped();
  spdlog::warn("hub {}: too many samples wait, the oldest are dropped", hub.url);
}

int Reporter::poll_timeout_ms(Clock::time_point now) const {
  auto wake = next_look_;
  for (const auto& hub : hubs_) {
    if (hub->courier.waiting()) {
      wake = std::min(wake, *hub->courier.deadline());
      continue;
    }
    auto next = hub->outbox.has_news() ? now : hub->next_report;
    if (hub->outbox.has_old()) next = std::min(next, hub->next_old);
    wake = std::min(wake, std::max(next, hub->next_try));
  }
  const auto left = std::chrono::ceil<milliseconds>(wake - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

}  // namespace acrf
