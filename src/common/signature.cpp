// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/signature.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <time.h>

namespace acrf {

std::string sha256(std::string_view text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha256(), nullptr);
  return {reinterpret_cast<const char*>(digest), size};
}

std::string hmac_sha256(std::string_view key, std::string_view text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest, &size);
  return {reinterpret_cast<const char*>(digest), size};
}

std::string to_hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

std::string aws_time(std::int64_t unix_s) {
  const time_t when = unix_s;
  struct tm parts = {};
  ::gmtime_r(&when, &parts);
  char text[32] = "";
  ::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &parts);
  return text;
}

std::string aws_authorization(const AwsKey& key, const AwsRequest& request, const std::string& time,
                              const std::string& region, const std::string& service) {
  std::string headers, names;
  for (const auto& [name, value] : request.headers) {
    headers += name + ":" + value + "\n";
    names += (names.empty() ? "" : ";") + name;
  }
  const std::string canonical = request.method + "\n" + request.path + "\n" + request.query + "\n" +
                                headers + "\n" + names + "\n" + to_hex(sha256(request.body));
  const std::string day = time.substr(0, 8);
  const std::string scope = day + "/" + region + "/" + service + "/aws4_request";
  const std::string to_sign =
      "AWS4-HMAC-SHA256\n" + time + "\n" + scope + "\n" + to_hex(sha256(canonical));
  std::string signing = "AWS4" + key.secret;
  for (const std::string& part : {day, region, service, std::string("aws4_request")})
    signing = hmac_sha256(signing, part);
  return "AWS4-HMAC-SHA256 Credential=" + key.id + "/" + scope + ", SignedHeaders=" + names +
         ", Signature=" + to_hex(hmac_sha256(signing, to_sign));
}

}  // namespace acrf
