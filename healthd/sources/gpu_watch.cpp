// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/gpu_watch.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "common/file.h"
#include "fakegpu/state.h"
#include "sources/sample_json.h"

namespace acrf {
namespace {

// Well below the time after which a rule takes what it told for over.
constexpr std::chrono::minutes kRememberEvery{5};
constexpr char kDcgm[] = "dcgm";  // a second opinion: its GPUs are NVML's

}  // namespace

GpuWatch::GpuWatch(const Config& config, std::string boot_id, std::string program)
    : config_(config),
      boot_id_(std::move(boot_id)),
      program_(std::move(program)),
      memory_path_(config.state_dir + "/gpu-rules.state") {
  reload();
  if (const auto text = read_file(memory_path_)) {
    rules_.take_text(*text, boot_id_);
    remembered_ = *text;
  }
}

void GpuWatch::reload() {
  rules_.set_heat_times({config_.heat_time_s, config_.heat_drain_time_s});
  auto before = std::exchange(sources_, {});
  const std::pair<const char*, const std::string&> wanted[] = {
      {"nvml", config_.nvml_library},
      {kDcgm, config_.dcgm_library},
      {"rocm-smi", config_.rocm_smi_library},
      {"level-zero", config_.level_zero_library}};
  for (const auto& [name, library] : wanted) {
    const auto same = std::find_if(before.begin(), before.end(), [&](const Source& source) {
      return source.name == name && source.library == library &&
             source.fake_state == config_.fake_gpu_state;
    });
    if (same == before.end()) {
      add_source(name, library);
      continue;
    }
    same->next_sample =
        std::min(same->next_sample, Clock::now() + std::chrono::seconds(config_.sample_interval_s));
    sources_.push_back(std::move(*same));
  }
}

void GpuWatch::add_source(const std::string& name, const std::string& library) {
  if (library.empty()) return;
  std::vector<std::string> environment;
  if (!config_.fake_gpu_state.empty())
    environment.push_back(std::string(fakegpu::kStateVariable) + "=" + config_.fake_gpu_state);
  Source source;
  source.name = name;
  source.library = library;
  source.fake_state = config_.fake_gpu_state;
  source.probe = std::make_unique<Probe>(
      std::vector<std::string>{program_, "--probe", name, library, "/sys"}, std::move(environment));
  source.next_sample = Clock::now();
  sources_.push_back(std::move(source));
}

GpuWatch::Clock::time_point GpuWatch::next_wake() const {
  auto wake = Clock::time_point::max();
  for (const auto& source : sources_)
    if (source.is_judged)
      wake = std::min(wake, source.probe->deadline().value_or(source.next_sample));
  return wake;
}

void GpuWatch::add_poll_fds(std::vector<pollfd>& fds) const {
  for (const auto& source : sources_)
    if (source.probe->waiting()) fds.push_back({source.probe->poll_fd(), POLLIN, 0});
}

std::vector<Event> GpuWatch::work(Clock::time_point now, std::int64_t unix_s, bool may_judge) {
  std::vector<Event> events;
  for (auto& source : sources_) {
    if (source.probe->waiting()) take_answer(source, now);
    if (may_judge && !source.is_judged) judge(source, unix_s, events);
    end_late_probe(source, now, unix_s, events);
    if (source.is_judged) ask_when_due(source, now, unix_s, events);
  }
  if (!events.empty() || now >= next_remember_) remember(now);
  return events;
}

void GpuWatch::rest(Clock::time_point now) {
  for (auto& source : sources_) {
    source.probe->stop();
    source.next_sample = now + std::chrono::seconds(1);
  }
}

void GpuWatch::take_answer(Source& source, Clock::time_point now) {
  const auto answer = source.probe->take_answer();
  if (!answer) return tell_problem(source, answer.error().sentence);
  if (!*answer) return;
  source.hangs.answered();
  source.times.note(std::chrono::duration<double>(now - source.asked).count());
  auto parsed = parse_samples(**answer, source.samples, source.name == "nvml" ? &driver_ : nullptr);
  if (!parsed) return tell_problem(source, parsed.error().sentence);
  source.last_problem.clear();
  source.samples = std::move(*parsed);
  source.is_judged = false;
  source.was_heard = true;
  const auto& samples = source.samples;
  if (samples.size() != source.gpus) spdlog::info("{}: {} GPUs", source.name, samples.size());
  source.gpus = samples.size();
  gpus_.update(samples);
}

void GpuWatch::judge(Source& source, std::int64_t unix_s, std::vector<Event>& events) {
  source.is_judged = true;
  for (const auto& finding : rules_.look(source.name, source.samples, unix_s))
    events.push_back(event_of(source, finding, unix_s));
  const auto& looks = rules_.looks(source.name);
  looks_.insert(looks_.end(), looks.begin(), looks.end());
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
  source.asked = now;
  const auto asked =
      source.probe->request(now + std::chrono::seconds(config_.probe_timeout_s),
                            source.samples.empty() ? kWholeRequest : kChangesRequest);
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
  source.samples.clear();
  source.is_judged = true;
  source.was_heard = true;
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

bool GpuWatch::has_heard_all() const {
  return std::all_of(sources_.begin(), sources_.end(),
                     [](const Source& source) { return source.was_heard; });
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

std::vector<const GpuSample*> GpuWatch::samples() const {
  std::vector<const GpuSample*> all;
  for (const auto& source : sources_)
    for (const auto& sample : source.samples)
      if (source.name != kDcgm) all.push_back(&sample);
  return all;
}

std::optional<PciAddress> GpuWatch::far_end(const PciAddress& gpu, std::uint64_t link) const {
  for (const auto* sample : samples())
    for (const auto& item : sample->links)
      if (sample->address == gpu && item.link == link && item.remote != PciAddress{})
        return item.remote;
  return std::nullopt;
}

const GpuSample* GpuWatch::dcgm_sample(const std::string& uuid) const {
  for (const auto& source : sources_)
    for (const auto& sample : source.samples)
      if (source.name == kDcgm && sample.uuid == uuid) return &sample;
  return nullptr;
}

std::vector<std::pair<std::string, AnswerTimes>> GpuWatch::answer_times() const {
  std::vector<std::pair<std::string, AnswerTimes>> all;
  for (const auto& source : sources_) all.emplace_back(source.name, source.times);
  return all;
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
