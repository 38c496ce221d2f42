// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdlib>

namespace acrf {

Status init_log(const std::string& level) {
  const auto chosen = spdlog::level::from_str(level);
  if (chosen == spdlog::level::off && level != "off") {
    return Error{ErrorCode::kInvalid,
                 "log level '" + level + "': must be trace, debug, info, warning or error"};
  }
  auto logger =
      std::make_shared<spdlog::logger>("acrf", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  // The journal stamps its lines itself.
  const bool journal = std::getenv("JOURNAL_STREAM") != nullptr;
  logger->set_pattern(journal ? "%l: %v" : "%Y-%m-%dT%H:%M:%S.%e %l: %v");
  logger->set_level(chosen);
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
  return Done{};
}

}  // namespace acrf
