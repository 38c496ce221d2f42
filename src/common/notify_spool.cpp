// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/notify_spool.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/file.h"
#include "core/text.h"

namespace acrf {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kLongestFile = 65536;
constexpr char kSeen[] = "/seen";

std::string key_of(const std::string& receiver, const Notice& notice) {
  return fingerprint(receiver + "\n" + id_of(notice));
}

Status make_directory(const std::string& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) return Error{ErrorCode::kSystem, "create " + directory + ": " + error.message()};
  if (::chmod(directory.c_str(), 0700) != 0) return system_error("chmod " + directory);
  return Done{};
}

Notice parse_notice(const json& object) {
  Notice notice;
  notice.node = object.at("node");
  notice.incident = object.at("incident");
  notice.state = object.at("state");
  notice.resolved = object.at("resolved");
  notice.fault_class = object.at("class");
  notice.severity = parse_severity(object.at("severity").get<std::string>()).value();
  notice.action = object.at("action");
  notice.where = object.at("where");
  notice.result = object.at("result");
  notice.evidence = object.at("evidence");
  notice.opened_unix_ms = object.at("opened_ms");
  notice.unix_ms = object.at("time_ms");
  notice.more = object.at("more");
  return notice;
}

}  // namespace

std::string to_json(const Notice& notice) {
  const json object = {{"node", notice.node},
                       {"incident", notice.incident},
                       {"state", notice.state},
                       {"resolved", notice.resolved},
                       {"class", notice.fault_class},
                       {"severity", name_of(notice.severity)},
                       {"action", notice.action},
                       {"where", notice.where},
                       {"result", notice.result},
                       {"evidence", notice.evidence},
                       {"opened_ms", notice.opened_unix_ms},
                       {"time_ms", notice.unix_ms},
                       {"more", notice.more}};
  return object.dump(-1, ' ', true, json::error_handler_t::replace) + "\n";
}

Result<Notice> notice_from_json(const std::string& text) {
  try {
    return parse_notice(json::parse(text));
  } catch (const std::exception& problem) {
    return Error{ErrorCode::kInvalid, problem.what()};
  }
}

Result<NotifySpool> NotifySpool::open(const std::string& directory) {
  return open(directory, Bounds());
}

Result<NotifySpool> NotifySpool::open(const std::string& directory, Bounds bounds) {
  if (const auto made = make_directory(directory); !made) return made.error();
  NotifySpool spool(directory, bounds);
  spool.load_seen();
  return spool;
}

void NotifySpool::load_seen() {
  const auto text = read_file(directory_ + kSeen);
  if (!text) return;
  for (const auto line : split(*text, '\n'))
    if (!line.empty() && seen_.insert(std::string(line)).second) order_.emplace_back(line);
}

// Appended; written anew, without the oldest half, when it has become too long.
Status NotifySpool::remember(const std::string& key) {
  if (!seen_.insert(key).second) return Done{};
  order_.push_back(key);
  const std::string path = directory_ + kSeen;
  std::error_code error;
  if (order_.size() <= bounds_.remembered && fs::exists(path, error))
    return append_file(path, key + "\n");
  if (order_.size() > bounds_.remembered) {
    const auto middle = order_.begin() + static_cast<std::ptrdiff_t>(order_.size() / 2);
    for (auto old = order_.begin(); old != middle; ++old) seen_.erase(*old);
    order_.erase(order_.begin(), middle);
  }
  std::string text;
  for (const auto& line : order_) text += line + "\n";
  return write_file(path, text);
}

bool NotifySpool::has_seen(const std::string& receiver, const Notice& notice) const {
  return seen_.contains(key_of(receiver, notice));
}

Result<std::string> NotifySpool::put(const std::string& receiver, const Notice& notice) {
  const std::string directory = directory_ + "/" + receiver;
  if (const auto made = make_directory(directory); !made) return made.error();
  std::string lost;
  auto waiting = waiting_notices(directory_, receiver);
  if (waiting.size() >= bounds_.messages) {
    std::vector<Notice> notices;
    for (const auto& spooled : waiting) notices.push_back(spooled.notice);
    notices.push_back(notice);
    const auto least = least_needed(notices);
    lost = id_of(notices[least]);
    if (least == waiting.size()) return lost;
    std::error_code error;
    fs::remove(waiting[least].path, error);
  }
  // The same notice again, after a crash before it was remembered, is the same file.
  const auto key = key_of(receiver, notice);
  if (const auto written = write_file(directory + "/" + key + ".json", to_json(notice)); !written)
    return written.error();
  if (const auto remembered = remember(key); !remembered) return remembered.error();
  return lost;
}

std::vector<std::string> NotifySpool::receivers() const {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory_, error)) {
    const auto name = entry.path().filename().string();
    if (entry.is_directory(error) && !waiting_notices(directory_, name).empty())
      names.push_back(name);
  }
  return names;
}

std::vector<SpooledNotice> waiting_notices(const std::string& directory,
                                           const std::string& receiver) {
  std::vector<SpooledNotice> waiting;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(directory + "/" + receiver, error)) {
    if (file.path().extension() != ".json") continue;
    std::error_code ignored;
    const bool small = file.file_size(ignored) <= kLongestFile;
    const auto text = small ? read_file(file.path()) : Result<std::string>(std::string());
    if (!text) continue;
    const auto notice = notice_from_json(*text);
    if (notice) {
      waiting.push_back({file.path(), *notice});
    } else {
      fs::remove(file.path(), ignored);
    }
  }
  std::sort(waiting.begin(), waiting.end(), [](const auto& a, const auto& b) {
    return std::tie(a.notice.unix_ms, a.path) < std::tie(b.notice.unix_ms, b.path);
  });
  return waiting;
}

}  // namespace acrf
