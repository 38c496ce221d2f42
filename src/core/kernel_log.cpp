// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/kernel_log.h"

#include "core/text.h"

namespace acrf {

std::optional<KernelRecord> parse_kernel_record(std::string_view text) {
  const auto priority = take_unsigned(text);
  if (!priority || !take_prefix(text, ",")) return std::nullopt;
  const auto sequence = take_unsigned(text);
  if (!sequence || !take_prefix(text, ",")) return std::nullopt;
  const auto uptime_us = take_unsigned(text);
  if (!uptime_us || !take_prefix(text, ",")) return std::nullopt;
  const auto semicolon = text.find(';');
  if (semicolon == std::string_view::npos) return std::nullopt;
  const auto message = text.substr(semicolon + 1);
  return KernelRecord{*sequence, *uptime_us, *priority < 8, message.substr(0, message.find('\n'))};
}

}  // namespace acrf
