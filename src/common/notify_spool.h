// SPDX-License-Identifier: GPL-2.0-or-later
// Messages on their way out, on disk: one directory per receiver, one file per message. What is in
// here survives every crash and is sent at least once; a file is removed after its message was
// taken. Which notices went out before is kept too, so that a restart repeats none.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/notification.h"
#include "core/result.h"

namespace acrf {

struct SpooledNotice {
  std::string path;
  Notice notice;
};

class NotifySpool {
 public:
  struct Bounds {
    std::size_t messages = 200;  // per receiver; each is some kilobytes at most
    std::size_t remembered = 2000;
  };

  // Makes the directory, for its owner only.
  static Result<NotifySpool> open(const std::string& directory);
  static Result<NotifySpool> open(const std::string& directory, Bounds bounds);

  // True once the receiver was given a notice of this id.
  bool has_seen(const std::string& receiver, const Notice& notice) const;

  // On disk when it returns. A full spool loses the message least needed; gives its id. Marks the
  // notice as seen.
  Result<std::string> put(const std::string& receiver, const Notice& notice);

  // Receivers with messages.
  std::vector<std::string> receivers() const;

 private:
  NotifySpool(std::string directory, Bounds bounds)
      : directory_(std::move(directory)), bounds_(bounds) {}
  void load_seen();
  Status remember(const std::string& key);

  std::string directory_;
  Bounds bounds_;
  std::set<std::string> seen_;
  std::vector<std::string> order_;  // of seen_, oldest first
};

// The receiver's messages, oldest first. Unreadable files are removed.
std::vector<SpooledNotice> waiting_notices(const std::string& directory,
                                           const std::string& receiver);

std::string to_json(const Notice& notice);
Result<Notice> notice_from_json(const std::string& text);

}  // namespace acrf
