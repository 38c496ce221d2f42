// SPDX-License-Identifier: GPL-2.0-or-later
#include "live.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "common/file.h"
#include "common/unique_fd.h"
#include "core/text.h"
#include "minicluster/session.h"
#include "report.h"
#include "stop_signal.h"

namespace acrf::sim {
namespace {

using std::chrono::milliseconds;

constexpr int kTick_ms = 100;
constexpr std::int64_t kLook_ms = 1000;
constexpr std::chrono::seconds kPatience{20};

bool is_free(int port) {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

bool takes_no_jobs(std::string_view state) {
  return state.find("drain") != std::string_view::npos ||
         state.find("down") != std::string_view::npos ||
         state.find("fail") != std::string_view::npos || state.find('*') != std::string_view::npos;
}

}  // namespace

Live::Live(Options options) : options_(std::move(options)) {}

std::int64_t Live::now_ms() const {
  if (began_ == Clock::time_point{}) return 0;
  return std::chrono::duration_cast<milliseconds>(Clock::now() - began_).count();
}

int Live::run() {
  catch_stop_signals();
  if (const auto started = start(); !started) return finish(started);
  began_ = Clock::now();
  began_unix_ms_ =
      std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  while (!stop_was_asked() && !is_time_up()) go_on();
  settle();
  return finish(write_report());
}

Status Live::read_recording() {
  const auto text = read_file(options_.replay);
  if (!text) return text.error();
  auto recording = parse_recording(*text, options_.replay);
  if (!recording) return recording.error();
  options_.nodes = recording->cluster.nodes;
  options_.gpus = recording->cluster.gpus;
  options_.seed = recording->cluster.seed;
  auto replay = std::make_unique<Replay>(std::move(recording->events));
  replay_ = replay.get();
  script_ = std::move(replay);
  return Done{};
}

Status Live::start() {
  if (!options_.replay.empty())
    if (const auto read = read_recording(); !read) return read;
  if (!script_) {
    auto planner =
        std::make_unique<Planner>(options_.seed, options_.nodes, options_.gpus, options_.plan);
    planner_ = planner.get();
    script_ = std::move(planner);
  }
  if (const auto started = start_cluster(); !started) return started;
  desk_.emplace(*cluster_, options_);
  workshop_.emplace(*cluster_);
  books_.emplace(options_.nodes * options_.gpus);
  if (const auto ready = workshop_->prepare(); !ready) return ready;
  if (const auto ready = desk_->prepare(); !ready) return ready;
  if (options_.record.empty()) return Done{};
  return replace_file(options_.record, to_line({options_.nodes, options_.gpus, options_.seed}),
                      0644);
}

// A build without a hub has no dashboard, and that is all.
Status Live::add_hub(minicluster::ClusterOptions& wanted) {
  if (::access((wanted.stage + "/usr/sbin/acrf-hub").c_str(), X_OK) != 0) {
    screen_.say("This build has no acrf-hub: there will be no dashboard.");
    return Done{};
  }
  if (options_.port > 0 && !is_free(options_.port))
    return Error{ErrorCode::kInvalid,
                 fmt::format("--port {}: another program listens there", options_.port)};
  wanted.hubs = 1;
  wanted.first_hub_port = options_.port;
  wanted.hub_arguments = {"--test-cluster", "--sim-socket", options_.root + "/run/sim.socket"};
  return Done{};
}

Status Live::start_cluster() {
  minicluster::ClusterOptions wanted;
  wanted.root = options_.root;
  wanted.nodes = options_.nodes;
  wanted.gpus_per_node = options_.gpus;
  wanted.acrf_conf = Workshop::acrf_conf(options_.root);
  if (const auto added = add_hub(wanted); !added) return added;
  wanted.slurm_conf =
      "SchedulerParameters=batch_sched_delay=0,bf_interval=2\nMinJobAge=3600\nMaxJobCount=100000\n";
  auto cluster = minicluster::start_session(wanted, [&](const auto& text) { screen_.say(text); });
  if (!cluster) return cluster.error();
  cluster_ = std::move(*cluster);
  if (wanted.hubs > 0) screen_.say("Dashboard: " + cluster_->hub_url());
  if (options_.log.empty()) options_.log = cluster_->path("log/sim.log");
  screen_.log_to(options_.log);
  auto control = Control::open(cluster_->path("run/sim.socket"));
  if (!control) return control.error();
  control_.emplace(std::move(*control));
  return Done{};
}

// A busy machine may be behind a recording: that is over when its last event has been done.
bool Live::is_time_up() const {
  if (options_.seconds > 0) return now_ms() >= std::int64_t{1000} * options_.seconds;
  return replay_ && replay_->is_done();
}

// One round: what is due, a look every second, and a moment for the control socket.
void Live::go_on() {
  for (const auto& event : script_->until(now_ms())) {
    if (stop_was_asked()) return;
    act(event);
  }
  if (now_ms() - looked_ms_ >= kLook_ms) look();
  serve_control(kTick_ms);
}

// The jobs and repairs that are left may end, unless somebody wants the run to stop.
void Live::settle() {
  if (stop_was_asked()) note("stopping, as asked");
  const auto until_ms = now_ms() + std::int64_t{1000} * options_.settle_s;
  if (!stop_was_asked())
    note(fmt::format("no more jobs and faults; {} jobs are open", books_->open_jobs().size()));
  const auto is_open = [&] {
    return !books_->open_jobs().empty() || books_->figures().under_repair > 0;
  };
  while (!stop_was_asked() && now_ms() < until_ms && is_open()) {
    if (now_ms() - looked_ms_ >= kLook_ms) look();
    serve_control(kTick_ms);
  }
  look();
}

void Live::act(const PlannedEvent& event) {
  if (const auto* job = std::get_if<PlannedJob>(&event)) return submit(*job, 0);
  inject(std::get<PlannedFault>(event));
}

void Live::submit(const PlannedJob& job, int retry) {
  if (!options_.record.empty() && retry == 0) {
    auto recorded = job;
    recorded.at_ms = now_ms();
    (void)append_file(options_.record, to_line(PlannedEvent(recorded)));
  }
  const auto at_ms = now_ms();
  const auto id = desk_->submit(job, options_.plan.types);
  if (!id) return note(fmt::format("{} was not accepted: {}", job.name, id.error().sentence));
  books_->submit(*id, job, retry, at_ms);
  note(fmt::format("job {} submitted: {}, {} node{}, {} GPU{} each, {:.0f} s, priority {}{}", *id,
                   job.name, job.nodes, job.nodes > 1 ? "s" : "", job.gpus, job.gpus > 1 ? "s" : "",
                   job.seconds, name_of(job.priority),
                   retry > 0 ? fmt::format(", retry {}", retry) : ""));
}

// A node that is out of service already is not broken once more.
void Live::inject(const PlannedFault& fault) {
  const auto node = cluster_->nodes().at(static_cast<std::size_t>(fault.node));
  const auto* kind = find_fault_kind(fault.kind);
  if (!kind) return;
  if (out_.contains(node)) return books_->skip_fault();
  if (!options_.record.empty()) {
    auto recorded = fault;
    recorded.at_ms = now_ms();
    (void)append_file(options_.record, to_line(PlannedEvent(recorded)));
  }
  if (const auto set = workshop_->set_repair_time(node, fault.repair_s); !set)
    note(set.error().sentence);
  std::vector<std::string> command = {"acrf", "inject", "--node",
                                      node,   "--gpu",  std::to_string(fault.gpu)};
  command.insert(command.end(), kind->injection.begin(), kind->injection.end());
  const auto at_ms = now_ms();
  const auto injected = cluster_->run(command, kPatience);
  if (!injected.ok()) return note("acrf inject: " + std::string(trim(injected.errors)));
  books_->inject(fault, node, kind->harmful, at_ms);
  note(fmt::format("fault: {} on GPU {} of {}", fault.kind, fault.gpu, node));
}

std::optional<int> Live::nodes_out() {
  const auto shown = cluster_->run({"sinfo", "--noheader", "-N", "-o", "%N|%T"}, kPatience);
  if (!shown.ok()) return std::nullopt;
  std::set<std::string> out;
  for (const auto line : split(trim(shown.output), '\n')) {
    const auto bar = line.find('|');
    if (bar != std::string_view::npos && takes_no_jobs(line.substr(bar)))
      out.emplace(line.substr(0, bar));
  }
  for (const auto& node : out)
    if (!out_.contains(node)) note(node + " is out of service");
  for (const auto& node : out_)
    if (!out.contains(node)) note(node + " is back in service");
  out_ = std::move(out);
  return static_cast<int>(out_.size());
}

void Live::look() {
  looked_ms_ = now_ms();
  // The queue first: a job that it shows as ended has written its last line before.
  const auto rows = desk_->queue();
  for (const auto& id : books_->open_jobs())
    for (const auto& line : desk_->news_of(id, began_unix_ms_)) books_->add_line(id, line);
  const auto out = nodes_out();
  if (rows && out)
    for (const auto& id : books_->look(*rows, *out, now_ms())) retry(id);
  for (const auto& done : workshop_->serve(*books_, now_ms(), began_unix_ms_)) note(done);
  screen_.show(now_ms(), books_->figures(), options_);
}

void Live::retry(const std::string& id) {
  const auto job = books_->jobs().at(id);
  const bool failed = job.state == "FAILED" || job.state == "TIMEOUT";
  note(fmt::format("job {} ended: {}", id, job.state));
  if (failed && job.retry < options_.retries && !stop_was_asked()) submit(job.plan, job.retry + 1);
}

Status Live::write_report() {
  if (options_.report.empty()) return Done{};
  const auto facts =
      ReportFacts{options_.nodes,         options_.gpus, options_.seed, options_.plan.rate_per_min,
                  options_.plan.failures, now_ms()};
  if (const auto written = replace_file(options_.report, html_report(*books_, facts), 0644);
      !written)
    return written;
  const auto beside = json_path_beside(options_.report);
  if (const auto written = replace_file(beside, json_report(*books_, facts), 0644); !written)
    return written;
  screen_.say(fmt::format("Report: {} and {}", options_.report, beside));
  return Done{};
}

int Live::finish(const Status& outcome) {
  if (!outcome) {
    screen_.complain(outcome.error().sentence);
    return 1;
  }
  const auto figures = books_->figures();
  screen_.end_with(figures);
  if (options_.keep) {
    if (const auto kept = minicluster::keep_session(*cluster_, "contrib/sim --stop",
                                                    [&](const auto& text) { screen_.say(text); });
        !kept)
      screen_.complain(kept.error().sentence);
  } else {
    desk_->cancel_all();
    cluster_.reset();
    screen_.say("The cluster is stopped. Log: " + options_.log);
  }
  return figures.wrongs.empty() ? 0 : 2;
}

}  // namespace acrf::sim
