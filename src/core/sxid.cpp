// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/sxid.h"

#include "core/text.h"

namespace acrf {
namespace {

constexpr int kMaxSxid = 99'999;

bool has(std::string_view text, std::string_view wanted) {
  return text.find(wanted) != std::string_view::npos;
}

SxidWord take_severity(std::string_view& text) {
  for (const std::string_view word : {"Non-fatal", "Nonfatal", "Non-Fatal", "Non fatal"})
    if (take_prefix(text, word)) return SxidWord::kNonFatal;
  return take_prefix(text, "Fatal") ? SxidWord::kFatal : SxidWord::kNone;
}

}  // namespace

std::optional<Sxid> parse_sxid(std::string_view body) {
  if (!take_prefix(body, "SXid (")) return std::nullopt;
  take_prefix(body, "PCI:");
  const auto device = take_pci_address(body);
  if (!device || !take_prefix(body, "): ")) return std::nullopt;
  const auto code = take_unsigned(body);
  if (!code || *code == 0 || *code > kMaxSxid) return std::nullopt;
  if (!body.empty() && body.front() != ',' && body.front() != ' ') return std::nullopt;
  take_prefix(body, ",");
  body = trim(body);
  Sxid sxid{static_cast<int>(*code), *device, take_severity(body), false, {}};
  while (!body.empty() && (body.front() == ',' || body.front() == ' ')) body.remove_prefix(1);
  sxid.text = body;
  sxid.is_detail =
      sxid.word == SxidWord::kNone &&
      (starts_with(body, "Data {") || starts_with(body, "Severity ") || has(body, " data["));
  return sxid;
}

int sxid_by_text(const Sxid& sxid) {
  if (sxid.code < 28001 || sxid.code > 30006) return sxid.code;
  const auto text = sxid.text;
  const int digit = sxid.code % 1000;
  if (digit < 1 || digit > 6) return sxid.code;
  if (has(text, "MC TS") || has(text, "multicast")) return 29000 + digit;
  if (has(text, "RED TS") || has(text, "reduction")) return 30000 + digit;
  const bool is_thermal = has(text, "herm") || has(text, "emp") || has(text, "OVERT") ||
                          has(text, "overt") || has(text, "Overt");
  if (sxid.code < 29000 && !is_thermal) return 0;
  return sxid.code;
}

}  // namespace acrf
