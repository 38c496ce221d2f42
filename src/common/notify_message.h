// SPDX-License-Identifier: GPL-2.0-or-later
// A notice in the form that each kind of receiver understands.
#pragma once

#include <cstdint>
#include <string>

#include "common/http_client.h"
#include "core/notification.h"
#include "core/result.h"

namespace acrf {

// `key` is what is in the rule's KeyFile; `now_unix_s` dates the signature.
Result<HttpRequest> to_request(const NotifyRule& rule, const Notice& notice, const std::string& key,
                               std::int64_t now_unix_s);

// A whole mail, headers and text.
std::string to_mail(const NotifyRule& rule, const Notice& notice, std::int64_t now_unix_s);

}  // namespace acrf
