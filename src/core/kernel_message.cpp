// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/kernel_message.h"

#include <algorithm>

#include "core/text.h"

namespace acrf {
namespace {

constexpr std::size_t kLongestName = 15;  // of a process in Linux

struct Driver {
  std::string_view word;     // what the message opens with
  bool is_prefix;            // more letters may follow, as in nvidia-nvswitch3
  std::string_view subject;  // of the catalog
  bool is_gpu;
};

constexpr Driver kDrivers[] = {
    {"NVRM", false, "nvrm", false},
    {"nvidia-nvswitch", true, "nvswitch", false},
    {"nvidia-peermem", false, "peermem", false},
    {"nvidia", false, "nvidia", true},
    {"amdgpu", false, "amdgpu", true},
    {"i915", false, "intel", true},
    {"xe", false, "intel", true},
    {"pcieport", false, "pcie", false},
    {"EDAC", false, "edac", false},
    {"mce", false, "mce", false},
    {"mlx5_", true, "mlx5", false},
    {"nvme", false, "nvme", false},
    {"block", false, "block", false},
    {"EXT4-fs", false, "fs", false},
    {"XFS", false, "fs", false},
    {"BTRFS", false, "fs", false},
    {"F2FS-fs", false, "fs", false},
    {"md/", true, "md", false},
};

void skip_blanks(std::string_view& text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
}

std::string_view first_word(std::string_view text) {
  return text.substr(0, text.find_first_of(" :"));
}

const Driver* find_driver(std::string_view word) {
  if (word.empty()) return nullptr;
  for (const auto& driver : kDrivers) {
    if (driver.word.front() != word.front()) continue;  // nearly all of them
    if (driver.is_prefix ? starts_with(word, driver.word) : word == driver.word) return &driver;
  }
  return nullptr;
}

// "{12}", the number of an event.
bool take_event_number(std::string_view& text) {
  auto rest = text;
  if (!take_prefix(rest, "{") || !take_unsigned(rest) || !take_prefix(rest, "}")) return false;
  text = rest;
  return true;
}

// "Tile0: " or "GT1: ".
bool take_unit(std::string_view& text, std::string_view name) {
  auto rest = text;
  if (!take_prefix(rest, name) || !take_unsigned(rest) || !take_prefix(rest, ":")) return false;
  text = rest;
  return true;
}

void take_decoration(std::string_view& text) {
  do {
    skip_blanks(text);
  } while (take_prefix(text, "amdgpu: ") || take_prefix(text, "[drm] ") ||
           take_prefix(text, "*ERROR* ") || take_prefix(text, "[Hardware Error]: ") ||
           take_event_number(text) || take_unit(text, "Tile") || take_unit(text, "GT"));
}

bool is_about_pcie(std::string_view body) {
  return starts_with(body, "AER: ") || starts_with(body, "PCIe Bus Error: ") ||
         starts_with(body, "pciehp: ");
}

// "[drm:function [module]] *ERROR* text" and "[drm] text".
std::optional<KernelMessage> split_drm(std::string_view message) {
  auto rest = message;
  if (take_prefix(rest, "drm ERROR :")) return KernelMessage{"drm", {}, rest, false};
  if (!take_prefix(rest, "[drm")) return std::nullopt;
  std::string_view subject = "drm";
  const bool has_module = rest.find(" [") < rest.find(']');
  const auto close = rest.find(has_module ? "]]" : "]");
  if (close == std::string_view::npos) return std::nullopt;
  if (has_module) {
    const auto module = rest.substr(0, close).substr(rest.find(" [") + 2);
    if (const auto* driver = find_driver(module)) subject = driver->subject;
  }
  rest.remove_prefix(close + (has_module ? 2 : 1));
  take_decoration(rest);
  return KernelMessage{subject, {}, rest, false};
}

// "python3[1234]: text" and "python3[1234] text", about a process.
std::optional<std::string_view> after_process(std::string_view message) {
  for (auto open = message.substr(0, kLongestName + 1).find('[', 1); open != std::string_view::npos;
       open = message.substr(0, kLongestName + 1).find('[', open + 1)) {
    auto rest = message.substr(open + 1);
    if (!take_unsigned(rest) || !take_prefix(rest, "]")) continue;
    if (take_prefix(rest, ": ") || take_prefix(rest, " ")) return rest;
  }
  return std::nullopt;
}

// "NAME invoked oom-killer: ...": what the kernel says of a process that it names first.
bool opens_with_name(std::string_view message) {
  constexpr std::string_view kWords[] = {
      " invoked oom-killer: ", ": page allocation failure: ", "): drop_caches: ",
      ": potentially unexpected fatal signal", ") used greatest stack depth: "};
  constexpr std::size_t kNumber = 12;  // " (1234567" between the name and the words
  const auto start = message.substr(0, kLongestName + kNumber + 40);
  return std::any_of(std::begin(kWords), std::end(kWords), [&](std::string_view words) {
    return start.find(words) <= kLongestName + kNumber;
  });
}

// The device that an error was "received from", rather than the port that says so.
std::optional<PciAddress> error_source(std::string_view body) {
  constexpr std::string_view kMarks[] = {"received from ", "received: "};
  for (const auto mark : kMarks) {
    const auto at = body.find(mark);
    if (at == std::string_view::npos) continue;
    auto rest = body.substr(at + mark.size());
    return take_pci_address(rest);
  }
  return std::nullopt;
}

// After the driver's name: " 0000:e3:00.0 name: ", each part optional.
void take_device(KernelMessage& split) {
  auto& rest = split.body;
  auto address = rest;
  skip_blanks(address);
  if (const auto device = take_pci_address(address)) {
    split.device = device;
    rest = address;
    const auto colon = rest.find(':');
    if (!take_prefix(rest, ":") && rest.substr(0, 1) == " " && colon < 20)
      rest.remove_prefix(colon + 1);
  } else {
    take_prefix(rest, ":");
  }
  take_decoration(rest);
}

}  // namespace

KernelMessage split_kernel_message(std::string_view message) {
  const bool is_numbered = take_event_number(message);
  if (take_prefix(message, "[Hardware Error]: ")) {
    const auto body = trim(message);
    // Only what firmware left behind at its last breath, in the boot before, comes without a
    // number.
    const bool is_old = !is_numbered && starts_with(body, "event severity: ");
    return {is_old ? "bert" : "hwerr", {}, body, false};
  }
  // First, because a process has any name that its user likes, "NVRM: GPU" too.
  if (const auto body = after_process(message)) return {"process", {}, *body, false};
  if (const auto drm = split_drm(message)) return *drm;
  KernelMessage split{"kernel", {}, message, false};
  const auto word = first_word(message);
  const auto* driver = find_driver(word);
  if (driver && opens_with_name(message)) return {"process", {}, message, false};
  // Any driver may report a PCIe error of its device.
  auto address = message.substr(word.size());
  skip_blanks(address);
  const bool has_address = take_pci_address(address).has_value();
  if (driver || has_address) {
    split.body = message.substr(word.size());
    take_device(split);
    split.subject = driver ? driver->subject : "kernel";
    split.device_is_gpu = driver && driver->is_gpu && split.device;
    const bool is_port = split.subject == "pcie";
    if (is_about_pcie(split.body) && !is_port)
      split.subject = split.device_is_gpu ? "pcie" : "pcie_other";
    if (split.subject == "pcie")
      if (const auto source = error_source(split.body)) split.device = source;
    if (split.subject == "kernel") split.body = message;
    return split;
  }
  return split;
}

}  // namespace acrf
