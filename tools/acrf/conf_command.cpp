// SPDX-License-Identifier: GPL-2.0-or-later
// acrf conf check|show
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "common/config_file.h"

namespace acrf {
namespace {

void show_json(const Config& config) {
  nlohmann::ordered_json all;
  for (const auto& setting : settings()) {
    nlohmann::ordered_json entry = {{"value", setting_value(config, setting)}};
    if (const auto set = config.line_of.find(std::string(setting.name));
        set != config.line_of.end())
      entry["line"] = set->second;
    all[std::string(setting.name)] = entry;
  }
  auto& policies = all["Policy"] = nlohmann::ordered_json::array();
  for (const auto& rule : config.policies) {
    nlohmann::ordered_json entry = {{"name", rule.name}, {"line", rule.line}};
    for (const auto& key : policy_keys())
      if (const auto value = key.get(rule); !value.empty()) entry[std::string(key.name)] = value;
    policies.push_back(entry);
  }
  auto& faults = all["Fault"] = nlohmann::ordered_json::array();
  for (const auto& rule : config.faults)
    faults.push_back({{"name", rule.key()}, {"line", rule.line}, {"text", to_line(rule)}});
  auto& checks = all["Check"] = nlohmann::ordered_json::array();
  for (const auto& rule : config.checks) {
    nlohmann::ordered_json entry = {{"name", rule.name}, {"line", rule.line}};
    for (const auto& key : check_keys()) entry[std::string(key.name)] = key.get(rule);
    checks.push_back(entry);
  }
  auto& partitions = all["Partition"] = nlohmann::ordered_json::array();
  for (const auto& rule : config.partitions) {
    nlohmann::ordered_json entry = {{"name", rule.name}, {"line", rule.line}};
    for (const auto& key : partition_keys())
      if (const auto value = key.get(rule); !value.empty()) entry[std::string(key.name)] = value;
    partitions.push_back(entry);
  }
  auto& maintenance = all["Maintenance"] = nlohmann::ordered_json::array();
  for (const auto& one : config.maintenance)
    maintenance.push_back({{"line", one.line}, {"text", to_line(one)}});
  auto& notifies = all["Notify"] = nlohmann::ordered_json::array();
  for (const auto& rule : config.notifies) {
    nlohmann::ordered_json entry = {{"name", rule.name}, {"line", rule.line}};
    for (const auto& key : notify_keys())
      if (const auto value = key.get(rule); !value.empty()) entry[std::string(key.name)] = value;
    notifies.push_back(entry);
  }
  fmt::print("{}\n", all.dump(2));
}

void show_table(const Config& config) {
  for (const auto& setting : settings()) {
    const auto set = config.line_of.find(std::string(setting.name));
    const auto origin =
        set == config.line_of.end() ? std::string("default") : fmt::format("line {}", set->second);
    fmt::print("{:<44} # {}\n", fmt::format("{}={}", setting.name, setting_value(config, setting)),
               origin);
  }
  for (const auto& rule : config.policies) fmt::print("{} # line {}\n", to_line(rule), rule.line);
  for (const auto& rule : config.faults) fmt::print("{} # line {}\n", to_line(rule), rule.line);
  for (const auto& rule : config.checks) fmt::print("{} # line {}\n", to_line(rule), rule.line);
  for (const auto& rule : config.partitions) fmt::print("{} # line {}\n", to_line(rule), rule.line);
  for (const auto& one : config.maintenance) fmt::print("{} # line {}\n", to_line(one), one.line);
  for (const auto& rule : config.notifies) fmt::print("{} # line {}\n", to_line(rule), rule.line);
}

// The parts of acrf.conf(5) that the tables give.
void print_manual() {
  const Config defaults;
  fmt::print(".SH SETTINGS\n");
  for (const auto& setting : settings()) {
    fmt::print(".TP\n.BR {} \" ({})\"\n{}\n", setting.name, setting_value(defaults, setting),
               setting.help);
    if (setting.max > 0) fmt::print("From {} to {}.\n", setting.min, setting.max);
  }
  fmt::print(".SH POLICIES\n");
  for (const auto& key : policy_keys()) fmt::print(".TP\n.B {}\n{}\n", key.name, key.help);
  fmt::print(".SH FAULTS\n");
  for (const auto& key : fault_keys()) fmt::print(".TP\n.B {}\n{}\n", key.name, key.help);
  fmt::print(".SH CHECKS\n");
  for (const auto& key : check_keys()) fmt::print(".TP\n.B {}\n{}\n", key.name, key.help);
  fmt::print(".SH PARTITIONS\n");
  for (const auto& key : partition_keys()) fmt::print(".TP\n.B {}\n{}\n", key.name, key.help);
  fmt::print(".SH MAINTENANCE\n");
  for (const auto& key : maintenance_keys()) fmt::print(".TP\n.B {}\n{}\n", key.name, key.help);
  fmt::print(".SH NOTIFICATIONS\n");
  for (const auto& key : notify_keys()) fmt::print(".TP\n.B {}\n{}\n", key.name, key.help);
}

}  // namespace

void add_conf_command(CommandLine& line) {
  auto* conf = line.app.add_subcommand("conf", "the configuration");
  conf->require_subcommand(1);
  conf->fallthrough();
  conf->add_subcommand("show", "print every setting with its value and where it comes from")
      ->callback([&line] {
        const auto config = load_named_config(line.config_path);
        if (!config) return fail(line, config.error());
        line.json ? show_json(*config) : show_table(*config);
      });
  conf->add_subcommand("manual", "print what acrf.conf(5) says of settings and policies")
      ->callback(print_manual);
  conf->add_subcommand("check", "say whether acrf.conf is valid")->callback([&line] {
    const auto config = load_named_config(line.config_path);
    if (!config) return fail(line, config.error());
    line.json ? fmt::print("{{\"valid\":true}}\n") : fmt::print("acrf.conf is valid\n");
  });
}

}  // namespace acrf
