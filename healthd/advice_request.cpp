// SPDX-License-Identifier: GPL-2.0-or-later
// One request to a model's endpoint, through libcurl.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "advice.h"
#include "common/file.h"
#include "common/unique_fd.h"
#include "core/text.h"
#include "curl_abi.h"

#if __has_include(<curl/curl.h>)
#include <curl/curl.h>
static_assert(acrf::curl::kWriteData == CURLOPT_WRITEDATA && acrf::curl::kUrl == CURLOPT_URL &&
              acrf::curl::kPostFields == CURLOPT_POSTFIELDS &&
              acrf::curl::kUserAgent == CURLOPT_USERAGENT &&
              acrf::curl::kHttpHeader == CURLOPT_HTTPHEADER &&
              acrf::curl::kWriteFunction == CURLOPT_WRITEFUNCTION &&
              acrf::curl::kFollowLocation == CURLOPT_FOLLOWLOCATION &&
              acrf::curl::kPostFieldSize == CURLOPT_POSTFIELDSIZE &&
              acrf::curl::kNoSignal == CURLOPT_NOSIGNAL &&
              acrf::curl::kTimeoutMs == CURLOPT_TIMEOUT_MS &&
              acrf::curl::kProtocols == CURLOPT_PROTOCOLS &&
              acrf::curl::kResponseCode == CURLINFO_RESPONSE_CODE);
#endif

namespace acrf {
namespace {

constexpr std::size_t kLongestReply = 65536;
constexpr std::size_t kLongestKey = 4096;
constexpr std::chrono::seconds kRequestTimeout{30};

struct Library {
  void* (*easy_init)();
  int (*easy_setopt)(void*, int, ...);
  int (*easy_perform)(void*);
  int (*easy_getinfo)(void*, int, ...);
  void (*easy_cleanup)(void*);
  const char* (*easy_strerror)(int);
  void* (*slist_append)(void*, const char*);
  void (*slist_free_all)(void*);
};

Result<Library> load_library() {
  void* handle = ::dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (!handle) return Error{ErrorCode::kUnavailable, std::string("libcurl: ") + ::dlerror()};
  Library library{};
  bool complete = true;
  const auto resolve = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(handle, name));
    complete = complete && function;
  };
  resolve(library.easy_init, "curl_easy_init");
  resolve(library.easy_setopt, "curl_easy_setopt");
  resolve(library.easy_perform, "curl_easy_perform");
  resolve(library.easy_getinfo, "curl_easy_getinfo");
  resolve(library.easy_cleanup, "curl_easy_cleanup");
  resolve(library.easy_strerror, "curl_easy_strerror");
  resolve(library.slist_append, "curl_slist_append");
  resolve(library.slist_free_all, "curl_slist_free_all");
  if (complete) return library;
  return Error{ErrorCode::kUnavailable, "libcurl.so.4 lacks a function"};
}

// Opened without following links and checked as opened, so that nobody swaps the file in between.
Result<std::string> read_key(const std::string& path) {
  if (path.empty()) return std::string();
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status;
  if (!fd || ::fstat(fd.get(), &status) != 0) return system_error("open " + path);
  if (!S_ISREG(status.st_mode) || status.st_uid != 0 || (status.st_mode & 077) != 0)
    return Error{ErrorCode::kDenied, path + " must be a file of root's that nobody else may read"};
  char buffer[kLongestKey];
  const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
  if (n < 0) return system_error("read " + path);
  const std::string key(trim({buffer, static_cast<std::size_t>(n)}));
  for (const char c : key)
    if (c <= ' ' || c >= 0x7f) return Error{ErrorCode::kInvalid, path + " does not hold one key"};
  return key;
}

bool is_this_host(std::string_view url) {
  for (const std::string_view host : {"http://127.0.0.1", "http://localhost", "http://[::1]"}) {
    if (!starts_with(url, host)) continue;
    const auto rest = url.substr(host.size());
    return rest.empty() || rest.front() == ':' || rest.front() == '/';
  }
  return false;
}

// libcurl's write callback; a short count makes it give up.
std::size_t take_bytes(char* bytes, std::size_t size, std::size_t count, void* reply) {
  auto& text = *static_cast<std::string*>(reply);
  if (text.size() + size * count > kLongestReply) return 0;
  text.append(bytes, size * count);
  return size * count;
}

std::vector<std::string> headers_of(const AdviceSettings& settings, const std::string& key) {
  std::vector<std::string> headers = {"Content-Type: application/json"};
  if (settings.api == "anthropic") {
    headers.emplace_back("anthropic-version: 2023-06-01");
    if (!key.empty()) headers.push_back("x-api-key: " + key);
  } else if (!key.empty()) {
    headers.push_back("Authorization: Bearer " + key);
  }
  return headers;
}

// The body of the reply, whatever it holds.
Result<std::string> post(const Library& curl, const std::string& url, const std::string& body,
                         const std::vector<std::string>& headers,
                         std::chrono::milliseconds timeout) {
  void* handle = curl.easy_init();
  if (!handle) return Error{ErrorCode::kSystem, "libcurl does not start"};
  void* list = nullptr;
  for (const auto& header : headers) list = curl.slist_append(list, header.c_str());
  std::string reply;
  curl.easy_setopt(handle, curl::kUrl, url.c_str());
  curl.easy_setopt(handle, curl::kProtocols, curl::kHttpAndHttps);
  curl.easy_setopt(handle, curl::kFollowLocation, 0L);
  curl.easy_setopt(handle, curl::kNoSignal, 1L);
  curl.easy_setopt(handle, curl::kTimeoutMs, static_cast<long>(timeout.count()));
  curl.easy_setopt(handle, curl::kUserAgent, "acrf-healthd");
  curl.easy_setopt(handle, curl::kHttpHeader, list);
  curl.easy_setopt(handle, curl::kPostFields, body.c_str());
  curl.easy_setopt(handle, curl::kPostFieldSize, static_cast<long>(body.size()));
  curl.easy_setopt(handle, curl::kWriteFunction, take_bytes);
  curl.easy_setopt(handle, curl::kWriteData, static_cast<void*>(&reply));
  const int code = curl.easy_perform(handle);
  long status = 0;
  curl.easy_getinfo(handle, curl::kResponseCode, &status);
  const std::string problem = code == 0 ? "" : curl.easy_strerror(code);
  curl.slist_free_all(list);
  curl.easy_cleanup(handle);
  if (code != 0) return Error{ErrorCode::kUnavailable, problem};
  if (status != 200)
    return Error{ErrorCode::kUnavailable, "the endpoint says HTTP " + std::to_string(status)};
  return reply;
}

}  // namespace

AdviceSettings advice_settings(const Config& config) {
  return {config.advice_url, config.advice_api, config.advice_model, config.advice_key_file};
}

Status check_advice_settings(const AdviceSettings& settings) {
  if (const auto library = load_library(); !library) return library.error();
  const auto key = read_key(settings.key_file);
  if (!key) return key.error();
  if (!key->empty() && !starts_with(settings.url, "https://") && !is_this_host(settings.url))
    return Error{ErrorCode::kDenied, "a key is not sent over http: AdviceUrl must be https"};
  return Done{};
}

Result<Advice> ask_model(const AdviceSettings& settings, const std::string& line,
                         std::chrono::milliseconds timeout) {
  if (const auto checked = check_advice_settings(settings); !checked) return checked.error();
  const auto library = load_library();
  const auto key = read_key(settings.key_file);
  if (!library || !key) return Error{ErrorCode::kUnavailable, "library or key are gone"};
  const auto reply = post(*library, settings.url, advice_request(settings, line),
                          headers_of(settings, *key), timeout);
  if (!reply) return reply.error();
  return parse_advice(settings.api, *reply);
}

int run_advice_worker(const AdviceSettings& settings) {
  for (std::string line; std::getline(std::cin, line);) {
    const auto advice = ask_model(settings, line, kRequestTimeout);
    const nlohmann::json answer =
        advice ? nlohmann::json{{"class", advice->advised_class}, {"reason", advice->reason}}
               : nlohmann::json{{"error", advice.error().sentence}};
    std::cout << answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
  }
  return 0;
}

}  // namespace acrf
