// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/http_client.h"

#include <curl/curl.h>

#include <memory>

namespace acrf {
namespace {

struct ReplyTaker {
  HttpReply reply;
  std::size_t longest = 0;
};

// libcurl's write callback; a short count makes it give up.
std::size_t take_bytes(char* bytes, std::size_t size, std::size_t count, void* to) {
  auto& [reply, longest] = *static_cast<ReplyTaker*>(to);
  if (reply.body.size() + size * count > longest) {
    reply.cut = true;
    return 0;
  }
  reply.body.append(bytes, size * count);
  return size * count;
}

bool is_header(const std::string& header) {
  return header.find_first_of(std::string("\r\n\0", 3)) == std::string::npos;
}

using Headers = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

Result<Headers> headers_of(const HttpRequest& request) {
  Headers list(nullptr, &curl_slist_free_all);
  for (const auto& header : request.headers) {
    if (!is_header(header))
      return Error{ErrorCode::kInvalid, "a header would have more than one line"};
    auto* longer = curl_slist_append(list.get(), header.c_str());
    if (!longer) return Error{ErrorCode::kSystem, "libcurl has no memory"};
    static_cast<void>(list.release());
    list.reset(longer);
  }
  return list;
}

}  // namespace

Result<HttpReply> ask_http(const HttpRequest& request, std::chrono::milliseconds timeout) {
  const auto headers = headers_of(request);
  if (!headers) return headers.error();
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(),
                                                                 &curl_easy_cleanup);
  if (!curl) return Error{ErrorCode::kSystem, "libcurl does not start"};
  ReplyTaker taker{{}, request.longest_reply};
  auto& reply = taker.reply;
  const auto set = [&](CURLoption option, auto value) {
    return curl_easy_setopt(curl.get(), option, value) == CURLE_OK;
  };
  const bool ready =
      set(CURLOPT_URL, request.url.c_str()) && set(CURLOPT_PROTOCOLS_STR, "http,https") &&
      set(CURLOPT_FOLLOWLOCATION, 0L) && set(CURLOPT_NOSIGNAL, 1L) &&
      set(CURLOPT_TIMEOUT_MS, static_cast<long>(timeout.count())) &&
      set(CURLOPT_USERAGENT, "acrf-courier") && set(CURLOPT_HTTPHEADER, headers->get()) &&
      (request.is_get ||
       (set(CURLOPT_POST, 1L) &&
        set(CURLOPT_POSTFIELDSIZE, static_cast<long>(request.body.size())) &&
        set(CURLOPT_POSTFIELDS, request.body.c_str()))) &&
      set(CURLOPT_WRITEFUNCTION, &take_bytes) &&
      set(CURLOPT_WRITEDATA, static_cast<void*>(&taker));
  if (!ready) return Error{ErrorCode::kInvalid, request.url + ": libcurl does not take it"};
  const CURLcode code = curl_easy_perform(curl.get());
  long status = 0;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  reply.status = static_cast<int>(status);
  if (code != CURLE_OK && !reply.cut)
    return Error{ErrorCode::kUnavailable, curl_easy_strerror(code)};
  return reply;
}

}  // namespace acrf
