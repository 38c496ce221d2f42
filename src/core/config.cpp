// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/config.h"

#include <algorithm>
#include <optional>

#include "core/last_checkpoint.h"
#include "core/text.h"

namespace acrf {
namespace {

std::optional<std::string> problem_with_hubs(std::string_view value) {
  if (value.empty()) return std::nullopt;
  for (const auto url : split(value, ','))
    if (!starts_with(trim(url), "https://") && !starts_with(trim(url), "http://"))
      return "must be http or https URLs, separated by commas";
  return std::nullopt;
}

std::optional<std::string> assign(Config& config, const Setting& setting, std::string_view value) {
  if (const auto* text = std::get_if<std::string Config::*>(&setting.field)) {
    if (*text == &Config::checkpoint_signal && !is_checkpoint_signal(value))
      return "must be " + std::string(kCheckpointSignals);
    if (*text == &Config::advice_api && value != "openai" && value != "anthropic")
      return "must be openai or anthropic";
    if (*text == &Config::advice_url && !value.empty() && !starts_with(value, "https://") &&
        !starts_with(value, "http://"))
      return "must be an http or https URL";
    if (*text == &Config::hub)
      if (const auto problem = problem_with_hubs(value)) return problem;
    config.*(*text) = std::string(value);
    return std::nullopt;
  }
  if (const auto* mode = std::get_if<Mode Config::*>(&setting.field)) {
    const auto parsed = parse_mode(value);
    if (!parsed) return "must be observe or enforce";
    config.*(*mode) = *parsed;
    return std::nullopt;
  }
  if (const auto* share = std::get_if<Share Config::*>(&setting.field)) {
    const auto parsed = parse_share(value);
    if (!parsed) return "must be a percentage, such as 5%, or a number of nodes";
    config.*(*share) = *parsed;
    return std::nullopt;
  }
  if (const auto* flag = std::get_if<bool Config::*>(&setting.field)) {
    if (!equals_ignoring_case(value, "on") && !equals_ignoring_case(value, "off"))
      return "must be on or off";
    config.*(*flag) = equals_ignoring_case(value, "on");
    return std::nullopt;
  }
  const auto number = parse_unsigned(value);
  if (!number || *number < static_cast<std::uint64_t>(setting.min) ||
      *number > static_cast<std::uint64_t>(setting.max)) {
    return "must be a whole number from " + std::to_string(setting.min) + " to " +
           std::to_string(setting.max);
  }
  config.*std::get<int Config::*>(setting.field) = static_cast<int>(*number);
  return std::nullopt;
}

const Setting* find_setting(std::string_view name) {
  const auto& all = settings();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Setting& setting) {
    return equals_ignoring_case(setting.name, name);
  });
  return found == all.end() ? nullptr : &*found;
}

std::string_view without_quotes(std::string_view value) {
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
    return value.substr(1, value.size() - 2);
  return value;
}

// The line up to an unquoted '#'.
std::string_view without_comment(std::string_view line) {
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (line[i] == '#' && !quoted) return line.substr(0, i);
  }
  return line;
}

std::optional<std::string> apply_line(Config& config, std::string_view line, int number) {
  const auto equals = line.find('=');
  if (equals == std::string_view::npos)
    return "expected Name=Value, found '" + std::string(line) + "'";
  const auto name = trim(line.substr(0, equals));
  const auto value = without_quotes(trim(line.substr(equals + 1)));
  const Setting* setting = find_setting(name);
  if (!setting) return "unknown setting '" + std::string(name) + "'";
  const std::string key(setting->name);
  if (const auto earlier = config.line_of.find(key); earlier != config.line_of.end())
    return key + " is already set on line " + std::to_string(earlier->second);
  if (const auto problem = assign(config, *setting, value))
    return key + "=" + std::string(value) + ": " + *problem;
  config.line_of[key] = number;
  return std::nullopt;
}

Status take_line(Config& config, std::string_view line, int number, std::string_view origin) {
  const auto problem = apply_line(config, line, number);
  if (problem) return conf_error(origin, number, *problem);
  return Done{};
}

bool opens_with(std::string_view line, std::string_view key) {
  const auto equals = line.find('=');
  return equals != std::string_view::npos &&
         equals_ignoring_case(trim(line.substr(0, equals)), key);
}

// A line of its own kind, such as "Policy=NAME Key=value ...". `name_of` tells two of a kind apart;
// those without a name may be given any number of times.
template <typename Rule>
Status add_rule(std::vector<Rule>& rules, std::string_view kind, std::string_view line, int number,
                std::string_view origin, Result<Rule> (*parse)(const ConfLine&, std::string_view),
                std::string (*name_of)(const Rule&)) {
  auto parsed = parse_conf_lines(line, origin);
  if (!parsed || parsed->size() != 1)
    return conf_error(origin, number,
                      "a " + std::string(kind) + " is a line of Key=value, without blanks");
  parsed->front().number = number;
  auto rule = parse(parsed->front(), origin);
  if (!rule) return rule.error();
  const auto name = name_of(*rule);
  for (const auto& other : rules)
    if (!name.empty() && name_of(other) == name)
      return conf_error(
          origin, number,
          std::string(kind) + " " + name + " is already on line " + std::to_string(other.line));
  rules.push_back(std::move(*rule));
  return Done{};
}

template <typename Rule>
std::string name_in(const Rule& rule) {
  return rule.name;
}

Status add_line(Config& config, std::string_view line, int number, std::string_view origin) {
  const auto add = [&](auto& rules, std::string_view kind, auto parse, auto name_of) {
    return add_rule(rules, kind, line, number, origin, parse, name_of);
  };
  if (opens_with(line, "Policy"))
    return add(config.policies, "Policy", parse_policy_rule, name_in<PolicyRule>);
  if (opens_with(line, "Fault"))
    return add(
        config.faults, "Fault", parse_fault_rule,
        +[](const FaultRule& rule) { return rule.key(); });
  if (opens_with(line, "Check"))
    return add(config.checks, "Check", parse_check_rule, name_in<CheckRule>);
  if (opens_with(line, "Partition"))
    return add(config.partitions, "Partition", parse_partition_rule, name_in<PartitionRule>);
  if (opens_with(line, "Maintenance"))
    return add(config.maintenance, "Maintenance", parse_maintenance, name_in<Maintenance>);
  if (opens_with(line, "Notify"))
    return add(config.notifies, "Notify", parse_notify_rule, name_in<NotifyRule>);
  return take_line(config, line, number, origin);
}

}  // namespace

const std::vector<Setting>& settings() {
  static const std::vector<Setting> kSettings = {
      {"Mode", &Config::mode, 0, 0,
       "observe: log what would be done and touch nothing. enforce: drain nodes, requeue jobs and "
       "choose the nodes and GPUs of jobs."},
      {"KernelLog", &Config::kernel_log, 0, 0,
       "Where acrf-healthd reads kernel records: /dev/kmsg, journal (the system's journal), or a "
       "file of lines in /dev/kmsg's format."},
      {"StateDir", &Config::state_dir, 0, 0,
       "Directory of acrf-healthd's incident records, its place in the kernel log and the audit "
       "log."},
      {"AuditDays", &Config::audit_days, 1, 36500,
       "Days after which entries of the audit log are removed."},
      {"AuditSize", &Config::audit_size_mb, 1, 100000,
       "Megabytes that the audit log may take; the oldest entries are removed first."},
      {"NvmlLibrary", &Config::nvml_library, 0, 0,
       "NVIDIA's management library, opened at run time. Empty: no NVIDIA sampling."},
      {"DcgmLibrary", &Config::dcgm_library, 0, 0,
       "NVIDIA's DCGM, for a second opinion on its GPUs: libdcgm.so.4 or libdcgm.so.3. Empty: it "
       "is not asked."},
      {"RocmSmiLibrary", &Config::rocm_smi_library, 0, 0,
       "AMD's management library, such as librocm_smi64.so.7. Empty: no AMD sampling."},
      {"LevelZeroLibrary", &Config::level_zero_library, 0, 0,
       "Intel's Level Zero loader, libze_loader.so.1. Empty: no Intel sampling."},
      {"FakeGpuState", &Config::fake_gpu_state, 0, 0,
       "Test clusters only: state file of the stand-in vendor libraries, changed by 'acrf "
       "inject'."},
      {"SampleInterval", &Config::sample_interval_s, 1, 3600,
       "Seconds between two samples of all GPUs."},
      {"ProbeTimeout", &Config::probe_timeout_s, 1, 600,
       "Seconds after which a vendor library that does not answer is killed and started anew."},
      {"NodeCheckInterval", &Config::node_check_interval_s, 0, 3600,
       "Seconds between two looks at the node's fabric ports, memory, PCIe, services and file "
       "systems. 0: none; Check lines still run."},
      {"FileSystems", &Config::file_systems, 0, 0,
       "Mount points to look at, separated by commas. Shared ones are reported and never drain a "
       "node."},
      {"JobAttribution", &Config::job_attribution, 0, 0,
       "Whether acrf-healthd finds out which job, user and step has each GPU. It asks slurmctld "
       "once for each job that comes to the node. Off: faults of programs are never held against a "
       "GPU."},
      {"NodeRoot", &Config::node_root, 0, 0,
       "Test clusters only: a directory that stands before /sys, /proc and /dev in node checks."},
      {"AdviceUrl", &Config::advice_url, 0, 0,
       "Endpoint of a language model that is asked about kernel lines that no rule knows, after "
       "names and addresses are removed. Its answer is logged and never acted on. Empty: nobody is "
       "asked."},
      {"AdviceApi", &Config::advice_api, 0, 0,
       "What the endpoint speaks: openai (chat completions) or anthropic (messages)."},
      {"AdviceModel", &Config::advice_model, 0, 0, "The model's name at the endpoint."},
      {"AdviceKeyFile", &Config::advice_key_file, 0, 0,
       "File with the endpoint's key, readable by root only. Empty: no key is sent."},
      {"PeerPortOffset", &Config::peer_port_offset, 0, 60000,
       "acrf-healthd answers its neighbours at slurmd's port plus this number, and watches four of "
       "them there: a node of which neither acrf-healthd nor slurmd answers is drained and set "
       "down. 0: neighbours are not watched."},
      {"PeerSilence", &Config::peer_silence_s, 1, 600,
       "Seconds that a neighbour's acrf-healthd is silent before its slurmd is looked at, and "
       "again that slurmd does not answer either before the node is lost."},
      {"SlurmdSilence", &Config::slurmd_silence_s, 0, 3600,
       "Seconds that this node's own slurmd takes connections without serving them before it is "
       "called hung: the node is drained, not set down, and its jobs that come back are ended "
       "there "
       "and requeued. 0: slurmd is not asked."},
      {"GpuQuarantine", &Config::gpu_quarantine, 0, 0,
       "on: a fault of one GPU takes that GPU from the jobs and its node serves on; needs "
       "select/acrf "
       "in slurmctld, without which the node is drained. off: the node is drained."},
      {"ResetProgram", &Config::reset_program, 0, 0,
       "Program that resets a GPU. Empty: the one that comes with ACRF, for NVIDIA and AMD. none: "
       "no reset is tried. Arguments of all four programs: node, GPU's UUID, its PCI address, "
       "class "
       "of the fault, incident; '-' for a GPU where the node itself is meant. Exit code 0: done; "
       "77: not possible here."},
      {"RebootProgram", &Config::reboot_program, 0, 0,
       "Program that reboots this node, which is drained and empty then. Empty or none: people "
       "reboot it."},
      {"TestProgram", &Config::test_program, 0, 0,
       "Program that tests the node, or one GPU of it, before it is returned. Empty: the one that "
       "comes with ACRF, which runs DCGM's diagnostics. none: nothing is returned automatically."},
      {"ReplaceProgram", &Config::replace_program, 0, 0,
       "Program that is told once when a part has to be replaced, and again if acrf-healthd was "
       "killed before it ended. Empty or none: nobody is."},
      {"PowerCap", &Config::power_cap_percent, 0, 99,
       "Percent of its power limit to which a GPU that is too hot is lowered for as long as it is. "
       "0: power limits are left alone."},
      {"PowerCapProgram", &Config::power_cap_program, 0, 0,
       "Program that sets a GPU's power limit. Empty: the one that comes with ACRF, for NVIDIA and "
       "AMD. none: nothing is lowered. Arguments: those of ResetProgram, then the limit in watts. "
       "Exit code 0: done. It may take ResetTimeLimit."},
      {"HeatTime", &Config::heat_time_s, 1, 86400,
       "Seconds at its own temperature limit after which a GPU is too hot."},
      {"HeatDrainTime", &Config::heat_drain_time_s, 1, 864000,
       "Seconds at its own temperature limit, or held down by the hardware, after which its node "
       "is "
       "drained when its jobs have ended."},
      {"ResetTimeLimit", &Config::reset_time_limit_s, 1, 86400,
       "Seconds that ResetProgram, RebootProgram and ReplaceProgram may take to do or begin it."},
      {"RebootTimeLimit", &Config::reboot_time_limit_s, 1, 86400,
       "Seconds within which a node that was told to reboot is back."},
      {"TestTimeLimit", &Config::test_time_limit_s, 1, 86400, "Seconds that TestProgram may take."},
      {"DrainTimeLimit", &Config::drain_time_limit_s, 1, 100000000,
       "Seconds after which a drained node whose jobs have not ended is left to people."},
      {"ProbationTime", &Config::probation_time_s, 0, 10000000,
       "Seconds that a returned node or GPU is on probation: small jobs only while other nodes "
       "fit, and a further fault is treated one step harder. Less than 10 is taken for 10: so long "
       "slurmctld may take to save the return."},
      {"MaxRemedies", &Config::max_remedies, 1, 1000,
       "Resets and reboots of one node in seven days after which only people treat it."},
      {"MaxFaults", &Config::max_faults, 1, 1000,
       "Faults of one part in a day after which only people treat it."},
      {"RequeueKillWait", &Config::requeue_kill_wait_s, 0, 600,
       "Seconds between SIGTERM and SIGKILL for a requeued job on a node that ACRF drained."},
      {"RequeuesPerMinute", &Config::requeues_per_minute, 0, 100000,
       "The most requeued jobs that are let go before Slurm's own delay in a minute, in the whole "
       "cluster. 0: no limit."},
      {"MaxRequeues", &Config::max_requeues, 0, 1000,
       "Restarts because of hardware after which a job is held instead; --acrf-max-requeues may "
       "lower it."},
      {"MaxNodeRequeues", &Config::max_node_requeues, 0, 1000,
       "The same for nodes that went down without a verdict on their hardware."},
      {"MaxPreemptions", &Config::max_preemptions, 0, 100000, "The same for preemption."},
      {"MaxApplicationRequeues", &Config::max_application_requeues, 0, 1000,
       "How often a job that comes back is requeued when its program fails with no fault in sight. "
       "Programs that exit with 93 are never requeued."},
      {"RequeueBackoff", &Config::requeue_backoff_s, 0, 3600,
       "Seconds that a job waits after the second requeue because of a node that went down or of "
       "its "
       "program; each further one doubles them, up to an hour."},
      {"CheckpointSignal", &Config::checkpoint_signal, 0, 0,
       "The signal that training jobs with a checkpoint directory get before their time limit, "
       "unless they say --signal, and before a requeue (LastCheckpointTime): USR1, USR2, TERM, "
       "INT, HUP or CONT. --acrf-checkpoint-signal names another."},
      {"CheckpointSignalTime", &Config::checkpoint_signal_time_s, 0, 65535,
       "Seconds before the time limit at which they get it. 0: they do not."},
      {"LastCheckpointTime", &Config::last_checkpoint_time_s, 0, kLongestLastCheckpoint_s,
       "Seconds that they get to save themselves before they are requeued, where the fault lets "
       "their GPUs work on; --acrf-last-checkpoint says otherwise. 0: none."},
      {"SuspectTime", &Config::suspect_time_s, 0, 10000000,
       "Seconds for which a node that held up a job, or on which it hung, by the word of the job's "
       "own 'acrf progress watch', is a suspect: jobs take it last. 0: it is only told."},
      {"SuspectsPerUser", &Config::suspects_per_user, 0, 100000,
       "The most nodes that one user's jobs make suspects at a time."},
      {"Placement", &Config::placement, 0, 0,
       "off: select/acrf passes every request to cons_tres untouched. GPUs in quarantine are given "
       "out again, and for a new fault the whole node is drained. on: it chooses nodes and GPUs "
       "(with Mode=enforce) or logs what it would have chosen."},
      {"PlacementBudget", &Config::placement_budget_us, 1, 1000000,
       "Microseconds of CPU time that select/acrf may think about one job. When it takes more, "
       "cons_tres alone places jobs for a minute."},
      {"RiskJobGpus", &Config::risk_job_gpus, 1, 1000000,
       "Jobs of at least this many GPUs keep off nodes of medium risk while others fit."},
      {"RiskJobHours", &Config::risk_job_hours, 1, 100000,
       "Jobs with at least this time limit, in hours, do so too."},
      {"MaxDrainsPerHour", &Config::max_drains_per_hour, 0, 0,
       "The most nodes of a partition that ACRF may drain, or take GPUs from, within an hour: a "
       "percentage of its GPU nodes (of few nodes, at least two or half of them), or a number."},
      {"MaxDrained", &Config::max_drained, 0, 0,
       "The most nodes of a partition that ACRF may hold drained at one time, in the same forms."},
      {"MaxDrainedNodes", &Config::max_drained_nodes, 0, 1000000,
       "The most nodes of the whole cluster that ACRF may hold drained at one time. 0: no such "
       "limit."},
      {"MinHealthy", &Config::min_healthy, 0, 0,
       "ACRF drains nothing that would leave fewer GPU nodes of the cluster in service, whoever "
       "took the others out: a percentage or a number."},
      {"MaxDrainsPerSwitch", &Config::max_drains_per_switch, 0, 1000000,
       "The most nodes of one switch or block of topology.conf that ACRF may drain within an hour "
       "for the fabric, power, cooling or a file system."},
      {"SharedHeat", &Config::shared_heat, 0, 0,
       "When so many GPU nodes of one switch or block are too hot at once (a percentage or a "
       "number, "
       "at least two), it is cooling or power: people are told, nothing is drained and no power "
       "limit lowered. 0: never."},
      {"CommonCauseNodes", &Config::common_cause_nodes, 0, 1000000,
       "When so many nodes have a fault of one class within CommonCauseTime, or so many of one "
       "switch any fault, or faults of one file system, or within a day of a change of the GPU "
       "driver faults of one class, it is no fault of the nodes: ACRF drains none of them. "
       "0: never."},
      {"CommonCauseTime", &Config::common_cause_time_s, 1, 3600, "Seconds, for CommonCauseNodes."},
      {"Hub", &Config::hub, 0, 0,
       "URLs of the acrf-hubs that acrf-healthd reports to, separated by commas: each gets all. "
       "Empty: it reports to none."},
      {"HubListen", &Config::hub_listen, 0, 0,
       "ADDRESS:PORT at which acrf-hub listens. Other addresses than loopback need "
       "HubCertificate."},
      {"HubDir", &Config::hub_dir, 0, 0, "Directory of acrf-hub's history."},
      {"HubCertificate", &Config::hub_certificate, 0, 0,
       "File with acrf-hub's certificate chain (PEM). Empty: plain HTTP, on loopback only."},
      {"HubCertificateKey", &Config::hub_certificate_key, 0, 0,
       "File with the certificate's private key (PEM), readable by root only."},
      {"HubTokenFile", &Config::hub_token_file, 0, 0,
       "File with the hashes of the tokens that acrf-hub accepts, written by 'acrf-hub token "
       "add'. Empty: HubDir/tokens."},
      {"HubRawHours", &Config::hub_raw_hours, 1, 8760,
       "Hours for which acrf-hub keeps every sample."},
      {"HubMinuteDays", &Config::hub_minute_days, 1, 36500,
       "Days for which it keeps the least, mean and greatest of each minute."},
      {"HubHourDays", &Config::hub_hour_days, 1, 36500, "The same of each hour."},
      {"HubIncidentDays", &Config::hub_incident_days, 1, 36500,
       "Days for which it keeps incidents and audit entries."},
      {"ReportInterval", &Config::report_interval_s, 1, 3600,
       "Seconds between two samples that acrf-healthd reports; changes are reported at once."},
  };
  return kSettings;
}

Result<Config> parse_config(std::string_view text, std::string_view origin) {
  Config config;
  int number = 0, first = 0;
  std::string joined;
  const auto raw_lines = split(text, '\n');
  for (const auto raw : raw_lines) {
    ++number;
    auto line = trim(without_comment(raw));
    if (joined.empty()) first = number;
    const bool continues = !line.empty() && line.back() == '\\';
    if (continues) line.remove_suffix(1);
    joined += std::string(line) + (continues ? " " : "");
    if (continues && number < static_cast<int>(raw_lines.size())) continue;
    const std::string whole(trim(joined));
    joined.clear();
    if (whole.empty()) continue;
    const auto taken = add_line(config, whole, first, origin);
    if (!taken) return taken.error();
  }
  return config;
}

std::string setting_value(const Config& config, const Setting& setting) {
  if (const auto* text = std::get_if<std::string Config::*>(&setting.field)) return config.*(*text);
  if (const auto* mode = std::get_if<Mode Config::*>(&setting.field))
    return std::string(mode_name(config.*(*mode)));
  if (const auto* flag = std::get_if<bool Config::*>(&setting.field))
    return config.*(*flag) ? "on" : "off";
  if (const auto* share = std::get_if<Share Config::*>(&setting.field))
    return to_text(config.*(*share));
  return std::to_string(config.*std::get<int Config::*>(setting.field));
}

std::string expand_node(std::string_view pattern, std::string_view node) {
  std::string path;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char next = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (pattern[i] == '%' && (next == 'n' || next == '%')) {
      path += next == 'n' ? node : "%";
      ++i;
    } else {
      path += pattern[i];
    }
  }
  return path;
}

bool enforces_anywhere(const Config& config) {
  return config.mode == Mode::kEnforce ||
         std::any_of(config.partitions.begin(), config.partitions.end(),
                     [](const PartitionRule& rule) { return rule.mode == Mode::kEnforce; });
}

Mode mode_for_node(const Config& config, const std::vector<std::string>& partitions) {
  const auto mode_of = [&](const std::string& name) {
    const auto rule = std::find_if(config.partitions.begin(), config.partitions.end(),
                                   [&](const PartitionRule& other) { return other.name == name; });
    return rule == config.partitions.end() ? config.mode : rule->mode.value_or(config.mode);
  };
  if (partitions.empty()) return config.mode;
  const bool all_enforce =
      std::all_of(partitions.begin(), partitions.end(),
                  [&](const std::string& name) { return mode_of(name) == Mode::kEnforce; });
  return all_enforce ? Mode::kEnforce : Mode::kObserve;
}

}  // namespace acrf
