// SPDX-License-Identifier: GPL-2.0-or-later
// What the node's rules keep through a restart of their process: a header, the boot, and a line for
// each port, memory controller and PCIe device.
#include "core/node_rules.h"
#include "core/text.h"

namespace acrf {
namespace {

constexpr std::string_view kHeader = "acrf-node-rules 1";

}  // namespace

void GpuCountRule::take_word(std::string_view word) {
  const auto seen = parse_unsigned(word);
  if (seen && *seen <= 1024) most_seen_ = static_cast<int>(*seen);
}

std::string NodeRules::to_text(std::string_view boot_id) const {
  std::string text = std::string(kHeader) + "\nboot " + encode_word(boot_id) + "\n";
  text += "gpus - " + gpus_.to_word() + "\n";
  for (const auto& [name, rule] : ports_)
    text += "port " + encode_word(name) + " " + rule.to_text() + "\n";
  for (const auto& [name, rule] : memory_controllers_)
    text += "memory " + encode_word(name) + " " + rule.to_word() + "\n";
  for (const auto& [name, rule] : pcie_)
    text += "pcie " + encode_word(name) + " " + rule.to_word() + "\n";
  return text;
}

void NodeRules::take_text(std::string_view text, std::string_view boot_id) {
  const auto lines = split(text, '\n');
  if (lines.size() < 2 || lines[0] != kHeader || lines[1] != "boot " + encode_word(boot_id)) return;
  for (std::size_t i = 2; i < lines.size(); ++i) take_line(lines[i]);
}

void NodeRules::take_line(std::string_view line) {
  const auto kind = line.substr(0, line.find(' '));
  if (kind.size() == line.size()) return;
  line.remove_prefix(kind.size() + 1);
  const auto blank = line.find(' ');
  if (blank == std::string_view::npos) return;
  const auto name = decode_word(line.substr(0, blank));
  const auto memory = line.substr(blank + 1);
  if (!name) return;
  if (kind == "gpus") gpus_.take_word(memory);
  if (kind == "port") ports_[*name].take_text(memory);
  if (kind == "memory") memory_controllers_[*name].take_word(memory);
  if (kind == "pcie") pcie_[*name].take_word(memory);
}

}  // namespace acrf
