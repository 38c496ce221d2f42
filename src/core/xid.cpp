// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/xid.h"

#include "core/text.h"

namespace acrf {
namespace {

constexpr int kMaxXid = 9'999'999;

std::string hex(std::uint64_t number, int digits) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string text(static_cast<std::size_t>(digits), '0');
  for (auto digit = text.rbegin(); digit != text.rend(); ++digit, number >>= 4)
    *digit = kHex[number & 15];
  return text;
}

}  // namespace

std::optional<PciAddress> take_pci_address(std::string_view& text) {
  std::string_view rest = text;
  std::uint64_t parts[3] = {};
  std::size_t digits[3] = {};
  int count = 0;
  do {
    const auto before = rest.size();
    const auto part = take_unsigned(rest, 16);
    if (!part) return std::nullopt;
    digits[count] = before - rest.size();
    parts[count++] = *part;
  } while (count < 3 && take_prefix(rest, ":"));
  if (count < 2) return std::nullopt;
  const std::uint64_t domain = count == 3 ? parts[0] : 0;
  const std::uint64_t bus = parts[count - 2];
  const std::uint64_t device = parts[count - 1];
  // "0000:3b" was cut off and is no bus 0000.
  if (domain > 0xffffffff || digits[count - 2] > 2 || digits[count - 1] > 2) return std::nullopt;
  if (take_prefix(rest, ".") && !take_unsigned(rest, 16)) return std::nullopt;
  text = rest;
  return PciAddress{static_cast<std::uint32_t>(domain), static_cast<std::uint8_t>(bus),
                    static_cast<std::uint8_t>(device)};
}

std::string to_string(const PciAddress& address) {
  return hex(address.domain, address.domain > 0xffff ? 8 : 4) + ":" + hex(address.bus, 2) + ":" +
         hex(address.device, 2);
}

std::optional<Xid> parse_xid(std::string_view message) {
  if (!take_prefix(message, "NVRM: Xid (")) return std::nullopt;
  take_prefix(message, "PCI:");
  const auto gpu = take_pci_address(message);
  if (!gpu) return std::nullopt;
  // MIG: "(PCI:0000:1a:00 GPU-I:05)"; the whole GPU is what can be lost.
  const auto close = message.find(')');
  if (close == std::string_view::npos) return std::nullopt;
  const auto mig = trim(message.substr(0, close));
  if (!mig.empty() && !starts_with(mig, "GPU-I:")) return std::nullopt;
  message.remove_prefix(close + 1);
  if (!take_prefix(message, ": ")) return std::nullopt;
  const auto code = take_unsigned(message);
  if (!code || *code == 0 || *code > kMaxXid) return std::nullopt;
  if (!message.empty() && message.front() != ',' && message.front() != ' ') return std::nullopt;
  take_prefix(message, ",");
  return Xid{static_cast<int>(*code), *gpu, mig, trim(message)};
}

std::string_view without_process(std::string_view detail) {
  constexpr std::size_t kLongestName = 15;  // of a process in Linux
  for (int field = 0; field < 2; ++field) {
    const bool is_name = starts_with(detail, "name=");
    if (!is_name && !starts_with(detail, "pid=")) break;
    // A name may hold commas: the last within its length ends it.
    const auto end =
        is_name ? detail.substr(0, 5 + kLongestName + 2).rfind(", ") : detail.find(", ");
    if (end == std::string_view::npos) return is_name ? std::string_view() : detail;
    detail = trim(detail.substr(end + 2));
  }
  return detail;
}

std::optional<std::uint64_t> process_in(std::string_view detail) {
  if (!take_prefix(detail, "pid=")) return std::nullopt;
  const auto pid = take_unsigned(detail);
  const bool ends = detail.empty() || detail.front() == ',' || detail.front() == ' ';
  return pid && *pid > 0 && ends ? pid : std::nullopt;
}

std::vector<std::uint32_t> registers_in(std::string_view detail) {
  std::vector<std::uint32_t> registers;
  const auto open = detail.rfind("(0x");
  if (open == std::string_view::npos) return registers;
  auto rest = detail.substr(open + 1);
  while (registers.size() < 16 && take_prefix(rest, "0x")) {
    const auto value = take_unsigned(rest, 16);
    if (!value || *value > 0xffffffff) return {};
    registers.push_back(static_cast<std::uint32_t>(*value));
    while (!rest.empty() && (rest.front() == ',' || rest.front() == ' ')) rest.remove_prefix(1);
  }
  // A list that does not close was cut off, perhaps within a number.
  return starts_with(rest, ")") ? registers : std::vector<std::uint32_t>();
}

}  // namespace acrf
