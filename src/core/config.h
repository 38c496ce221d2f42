// SPDX-License-Identifier: GPL-2.0-or-later
// acrf.conf: one table says name, type, range, default and help of every setting. The parser,
// `acrf conf show` and acrf.conf(5) all come from it, so that they cannot disagree.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/check_rule.h"
#include "core/fault_rule.h"
#include "core/maintenance.h"
#include "core/mode.h"
#include "core/notify_rule.h"
#include "core/partition_rule.h"
#include "core/policy_rule.h"
#include "core/result.h"
#include "core/share.h"

namespace acrf {

struct Config {
  Mode mode = Mode::kObserve;
  std::string kernel_log = "/dev/kmsg";
  std::string state_dir = "/var/lib/acrf";
  int audit_days = 365;
  int audit_size_mb = 64;
  std::string nvml_library = "libnvidia-ml.so.1";
  std::string dcgm_library;
  std::string rocm_smi_library;
  std::string level_zero_library;
  std::string fake_gpu_state;
  int sample_interval_s = 5;
  int probe_timeout_s = 10;
  int node_check_interval_s = 30;
  bool job_attribution = true;
  std::string file_systems;
  std::string node_root;
  std::string advice_url, advice_model, advice_key_file;
  std::string advice_api = "openai";
  int peer_port_offset = 3;
  int peer_silence_s = 3;
  int slurmd_silence_s = 10;
  bool gpu_quarantine = false;
  std::string reset_program, reboot_program, test_program, replace_program;
  std::string power_cap_program;
  int power_cap_percent = 0;
  int heat_time_s = 300;
  int heat_drain_time_s = 1800;
  int reset_time_limit_s = 120;
  int reboot_time_limit_s = 1800;
  int test_time_limit_s = 1800;
  int drain_time_limit_s = 7 * 86400;
  int probation_time_s = 86400;
  int max_remedies = 5;
  int max_faults = 5;
  int requeue_kill_wait_s = 1;
  int requeues_per_minute = 120;
  int max_requeues = 8;
  int max_node_requeues = 20;
  int max_preemptions = 1000;
  int max_application_requeues = 0;
  int requeue_backoff_s = 30;
  std::string checkpoint_signal = "USR1";
  int checkpoint_signal_time_s = 120;
  int last_checkpoint_time_s = 30;
  int suspect_time_s = 14400;
  int suspects_per_user = 2;
  bool placement = true;
  int placement_budget_us = 10000;
  int risk_job_gpus = 64;
  int risk_job_hours = 24;
  Share max_drains_per_hour{2, true};
  Share max_drained{5, true};
  int max_drained_nodes = 100;
  Share min_healthy{80, true};
  int max_drains_per_switch = 1;
  Share shared_heat{25, true};
  int common_cause_nodes = 3;
  int common_cause_time_s = 600;
  std::string hub;  // URLs, separated by commas
  std::string hub_listen = "127.0.0.1:6822";
  std::string hub_dir = "/var/lib/acrf/hub";
  std::string hub_certificate, hub_certificate_key, hub_token_file;
  int hub_raw_hours = 24;
  int hub_minute_days = 30;
  int hub_hour_days = 400;
  int hub_incident_days = 365;
  int report_interval_s = 5;

  std::vector<PolicyRule> policies;  // in the order of their lines
  std::vector<FaultRule> faults;
  std::vector<CheckRule> checks;
  std::vector<PartitionRule> partitions;
  std::vector<Maintenance> maintenance;
  std::vector<NotifyRule> notifies;

  std::map<std::string, int> line_of;  // setting -> line that set it; absent: the default holds
};

struct Setting {
  using Field = std::variant<Mode Config::*, std::string Config::*, int Config::*, bool Config::*,
                             Share Config::*>;
  std::string_view name;
  Field field;
  int min = 0;  // range of an int Field
  int max = 0;
  std::string_view help;
};

const std::vector<Setting>& settings();

// Parses the whole text. Any unknown, repeated or out-of-range setting is an Error that opens with
// "origin:line:"; nothing of a faulty text is used.
Result<Config> parse_config(std::string_view text, std::string_view origin);

// The value as it would be written in acrf.conf.
std::string setting_value(const Config& config, const Setting& setting);

// "%n" in a path stands for the node's name, as in slurm.conf; "%%" for a percent sign.
std::string expand_node(std::string_view pattern, std::string_view node);

// Some node may be acted on.
bool enforces_anywhere(const Config& config);

// The most careful of the modes of the node's partitions; Mode where no Partition line says one.
Mode mode_for_node(const Config& config, const std::vector<std::string>& partitions);

}  // namespace acrf
