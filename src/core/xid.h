// SPDX-License-Identifier: GPL-2.0-or-later
// The NVIDIA driver's "NVRM: Xid (PCI:0000:1a:00): 79, ..." lines.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace acrf {

// Where a device sits. The function number is left out: a GPU is one device, and sources disagree
// about printing it.
struct PciAddress {
  std::uint32_t domain = 0;
  std::uint8_t bus = 0;
  std::uint8_t device = 0;

  auto operator<=>(const PciAddress&) const = default;
};

// Reads "1a:00", "0000:1a:00", "00000000:1A:00.0" and takes it off `text`.
std::optional<PciAddress> take_pci_address(std::string_view& text);

// "0000:1a:00"
std::string to_string(const PciAddress& address);

struct Xid {
  int code = 0;
  PciAddress gpu;
  std::string_view mig;     // "GPU-I:05"; empty: none is named
  std::string_view detail;  // what follows the code, points into the parsed message
};

// "pid='<unknown>', name=<unknown>, " off the detail. Users choose names: nothing in there counts.
std::string_view without_process(std::string_view detail);

// The process id in front of the detail; nothing where the driver did not know it.
std::optional<std::uint64_t> process_in(std::string_view detail);

// The numbers of "(0x0, 0x10000, 0x0)", the last such list in the text.
std::vector<std::uint32_t> registers_in(std::string_view detail);

// Only a message that opens with the driver's own words counts; a quotation inside another does
// not.
std::optional<Xid> parse_xid(std::string_view message);

}  // namespace acrf
