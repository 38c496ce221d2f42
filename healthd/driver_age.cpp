// SPDX-License-Identifier: GPL-2.0-or-later
#include "driver_age.h"

#include <spdlog/spdlog.h>

#include "common/file.h"
#include "core/text.h"

namespace acrf {
namespace {

constexpr std::int64_t kNewFor_s = 24 * 3600;

}  // namespace

// One line: the version as a word and when it came.
DriverAge::DriverAge(std::string path) : path_(std::move(path)) {
  const auto text = read_file(path_);
  if (!text) return;
  const auto words = split(trim(*text), ' ');
  const auto version = decode_word(words[0]);
  const auto since = words.size() == 2 ? parse_unsigned(words[1]) : std::nullopt;
  if (!version || !since || *since > INT64_MAX) return;
  version_ = *version;
  since_unix_s_ = static_cast<std::int64_t>(*since);
}

void DriverAge::note(const std::string& version, std::int64_t unix_s) {
  if (version.empty() || version == version_) return;
  if (!version_.empty()) {
    spdlog::info("the GPU driver is {} now; it was {}", version, version_);
    since_unix_s_ = unix_s;
  }
  version_ = version;
  const auto text = encode_word(version_) + " " + std::to_string(since_unix_s_) + "\n";
  if (const auto saved = write_file(path_, text); !saved)
    spdlog::error("age of the driver: {}", saved.error().sentence);
}

std::string DriverAge::if_new(std::int64_t unix_s) const {
  if (since_unix_s_ == 0 || unix_s - since_unix_s_ >= kNewFor_s) return "";
  return "driver-" + version_;
}

}  // namespace acrf
