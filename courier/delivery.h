// SPDX-License-Identifier: GPL-2.0-or-later
// Takes messages to their receiver: over HTTP, or through the site's sendmail.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "core/notification.h"
#include "core/result.h"

namespace acrf {

// kInvalid: the receiver refused this very message, and would again. Anything else is worth another
// try.
Status deliver(const NotifyRule& rule, const Notice& notice, std::chrono::milliseconds timeout);

// What became of one message.
struct Delivery {
  Notice notice;
  bool sent = false;  // false: it was given up, `sentence` says why
  std::string sentence;
};

// Sends what waits for the rule's receiver in the spool, oldest first, until one has to wait. Each
// that was sent or given up is reported and removed. An Error: why the rest waits.
Status deliver_waiting(const std::string& spool, const NotifyRule& rule,
                       std::chrono::milliseconds timeout, std::int64_t now_unix_ms,
                       const std::function<void(const Delivery&)>& report);

}  // namespace acrf
