// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/gpu_watch.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "common/file.h"
#include "fakegpu/state.h"
#include "sources/sample_json.h"

namespace acrf {
namespace {

// Well below the time after which a rule takes what it told for over.
constexpr std::chrono::minutes kRememberEvery{5};

}  // namespace

GpuWatch::GpuWatch(const Config& config, std::string boot_id, std::string program)
    : config_(config),
      boot_id_(std::move(boot_id)),
      memory_path_(config.state_dir + "/gpu-rules.state") {
  add_source("nvml", config.nvml_library, program);
  add_source("dcgm", config.dcgm_library, program);
  add_source("rocm-smi", config.rocm_smi_library, program);
  add_source("level-zero", config.level_zero_library, program);
  if (const auto text = read_file(memory_path_)) {
    rules_.take_text(*text, boot_id_);
    remembered_ = *text;
  }
}

void GpuWatch::add_source(const std::string& name, const std::string& library,
                          const std::string& program) {
  if (library.empty()) return;
  std::vector<std::string> environment;
  if (!config_.fake_gpu_state.empty())
    environment.push_back(std::string(fakegpu::kStateVariable) + "=" + config_.fake_gpu_state);
  Source source;
  source.name = name;
  source.probe = std::make_unique<Probe>(
      std::vector<std::string>{program, "--probe", name, library, "/sys"}, std::move(environment));
  source.next_sample = Clock::now();
  sources_.push_back(std::move(source));
}

GpuWatch::Clock::time_point GpuWatch::next_wake() const {
  auto wake = Clock::time_point::max();
  for (const auto& source : sources_)
    wake = std::min(wake, source.probe->deadline().value_or(source.next_sample));
  return wake;
}

void GpuWatch::add_poll_fds(std::vector<pollfd>& fds) const {
  for (const auto& source : sources_)
    if (source.probe->waiting()) fds.push_back({source.probe->poll_fd(), POLLIN, 0});
}

std::vector<Event> GpuWatch::work(Clock::time_point now, std::int64_t unix_s) {
  std::vector<Event> events;
  for (auto& source : sources_) {
    if (source.probe->waiting()) take_answer(source, unix_s, events);
    end_late_probe(source, now, unix_s, events);
    ask_when_due(source, now, unix_s, events);
  }
  if (!events.empty() || now >= next_remember_) remember(now);
  return events;
}

void GpuWatch::take_answer(Source& source, std::int64_t unix_s, std::vector<Event>& events) {
  const auto answer = source.probe->take_answer();
  if (!answer) return tell_problem(source, answer.error().sentence);
  if (!*answer) return;
  source.hangs.answered();
  const auto samples = parse_samples(**answer);
  if (!samples) return tell_problem(source, samples.error().sentence);
  source.last_problem.clear();
  if (samples->size() != source.gpus) spdlog::info("{}: {} GPUs", source.name, samples->size());
  source.gpus = samples->size();
  gpus_.update(*samples);
  for (const auto& finding : rules_.look(source.name, *samples, unix_s))
    events.push_back(event_of(source, finding, unix_s));
}

void GpuWatch::end_late_probe(Source& source, Clock::time_point now, std::int64_t unix_s,
                              std::vector<Event>& events) {
  if (!source.probe->waiting() || now < *source.probe->deadline()) return;
  const auto where = source.probe->place();
  source.probe->stop();
  tell_problem(source, "no answer within " + std::to_string(config_.probe_timeout_s) +
                           " s; the probe was killed");
  tell_hang(source, where, unix_s, events);
}

void GpuWatch::ask_when_due(Source& source, Clock::time_point now, std::int64_t unix_s,
                            std::vector<Event>& events) {
  if (now < source.next_sample || source.probe->waiting()) return;
  source.next_sample = now + std::chrono::seconds(config_.sample_interval_s);
  const auto asked = source.probe->request(now + std::chrono::seconds(config_.probe_timeout_s));
  if (asked) return;
  tell_problem(source, asked.error().sentence);
  if (asked.error().code != ErrorCode::kUnavailable) return;
  // The killed probe is stuck in the driver: as good as another one that hangs.
  source.next_sample = now + std::chrono::seconds(config_.probe_timeout_s);
  tell_hang(source, source.probe->place(), unix_s, events);
}

void GpuWatch::tell_hang(Source& source, const std::string& where, std::int64_t unix_s,
                         std::vector<Event>& events) {
  const auto charge = source.hangs.hung(source.name, where);
  if (!charge) return;
  std::string_view text = source.hangs.where();
  const auto address = take_pci_address(text).value_or(PciAddress{});
  events.push_back(event_of(
      source, {charge->verdict, address, gpus_.uuid_at(address), charge->evidence}, unix_s));
}

// Unknown is neither healthy nor failed: said once, nothing is done.
void GpuWatch::tell_problem(Source& source, const std::string& problem) {
  if (problem == source.last_problem) return;
  source.last_problem = problem;
  spdlog::warn("{}: {}; its GPUs' state is unknown", source.name, problem);
}

Event GpuWatch::event_of(const Source& source, const GpuFinding& finding,
                         std::int64_t unix_s) const {
  Event event;
  event.verdict = finding.verdict;
  event.gpu = finding.gpu;
  event.gpu_uuid = finding.gpu_uuid;
  event.boot_id = boot_id_;
  event.source = source.name;
  event.evidence = finding.evidence;
  event.xid = finding.xid;
  event.discriminator =
      finding.gpu_uuid + "/" + finding.verdict.fault_class + "/" + std::to_string(unix_s);
  event.unix_s = unix_s - 2 * config_.sample_interval_s;  // the last good sample
  return event;
}

std::vector<std::string> GpuWatch::silent() const {
  std::vector<std::string> silent;
  for (const auto& source : sources_) {
    if (source.gpus > 0 && source.last_problem.empty()) continue;
    silent.push_back(source.name + ": " +
                     (source.last_problem.empty() ? "no answer yet" : source.last_problem));
  }
  return silent;
}

void GpuWatch::remember(Clock::time_point now) {
  next_remember_ = now + kRememberEvery;
  auto text = rules_.to_text(boot_id_);
  if (text == remembered_) return;
  remembered_ = std::move(text);
  if (const auto saved = write_file(memory_path_, remembered_); !saved)
    spdlog::error("memory of the GPU rules: {}", saved.error().sentence);
}

}  // namespace acrf
