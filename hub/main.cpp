// SPDX-License-Identifier: GPL-2.0-or-later
// acrf-hub: what all nodes report and what slurmctld knows, at one place.
#include <poll.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/signalfd.h>

#include <CLI/CLI.hpp>

#include "acrf_config.h"
#include "common/config_file.h"
#include "common/log.h"
#include "common/slurm_client.h"
#include "common/slurm_conf_file.h"
#include "common/unique_fd.h"
#include "hub/adviser.h"
#include "hub/http/server.h"
#include "hub/poller.h"
#include "hub/token_command.h"

#ifdef HAVE_LIBSYSTEMD
#include <systemd/sd-daemon.h>
#endif

namespace acrf::hub {
namespace {

struct Options {
  std::string config_path;
  std::string listen;
  std::string sim_socket;
  std::string log_level = "info";
  bool test_cluster = false;
};

constexpr int kChangesEvery_ms = 100;
constexpr std::int64_t kStatsEvery_ms = 2000;

std::int64_t unix_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

UniqueFd open_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT}) sigaddset(&signals, signal);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  return UniqueFd(::signalfd(-1, &signals, SFD_CLOEXEC));
}

// Every node may hold a connection at the same time.
void allow_many_connections() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

Store::Options store_options(const Config& config) {
  return {history_path(config.hub_dir),
          {config.hub_raw_hours, config.hub_minute_days, config.hub_hour_days,
           config.hub_incident_days}};
}

// Publishes what changes until a signal says stop.
void publish(Model& model, Store& store, int signal_fd) {
  std::int64_t next_stats_ms = 0;
  pollfd stop{signal_fd, POLLIN, 0};
  while (::poll(&stop, 1, kChangesEvery_ms) <= 0) {
    const auto now_ms = unix_ms();
    model.set_spooled(store.waiting());
    model.publish_changes(now_ms);
    if (now_ms < next_stats_ms) continue;
    next_stats_ms = now_ms + kStatsEvery_ms;
    model.publish_stats(now_ms);
  }
}

Status serve(const Config& config, const Options& options) {
  allow_many_connections();
  const UniqueFd signals = open_signals();
  SlurmClient slurm;
  Model model{std::string(mode_name(config.mode))};
  Store store(store_options(config));
  for (const auto& incident : store.recent_incidents()) model.take_incident(incident, false);
  History history(history_path(config.hub_dir),
                  [&store](const std::string& node) { return store.open_block(node); });
  const auto directory = slurm_directory();
  const auto socket = munge_socket_in(slurm_conf_value(directory, "AuthInfo"));
  const auto slurm_user = slurm_user_id(directory);
  Ingest ingest(model, store, munge_seals(socket), slurm_user);
  Server server({config, model, history, store, ingest, slurm, socket, slurm_user,
                 options.listen.empty() ? config.hub_listen : options.listen, options.sim_socket,
                 options.test_cluster});
  if (const auto started = server.start(); !started) return started;
  const Poller poller(model, config, {directory});
  const Adviser adviser(model, history, config);
  spdlog::info("acrf-hub {} listens at {}, history in {}", ACRF_VERSION,
               options.listen.empty() ? config.hub_listen : options.listen, config.hub_dir);
#ifdef HAVE_LIBSYSTEMD
  ::sd_notify(0, "READY=1");
#endif
  publish(model, store, signals.get());
  server.stop();
  spdlog::info("acrf-hub stops");
  return Done{};
}

int run(const Options& options) {
  if (const auto log = init_log(options.log_level); !log) {
    std::fprintf(stderr, "acrf-hub: %s\n", log.error().sentence.c_str());
    return EXIT_FAILURE;
  }
  const auto config = load_named_config(options.config_path);
  const auto served = config ? serve(*config, options) : Status(config.error());
  if (!served) spdlog::critical("{}", served.error().sentence);
  return served ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace acrf::hub

int main(int argc, char** argv) {
  acrf::hub::Options options;
  CLI::App app("Collects what all nodes report, and shows the cluster.", "acrf-hub");
  app.add_option("-f,--config", options.config_path,
                 "acrf.conf to use (default: beside slurm.conf)");
  app.add_option("--listen", options.listen, "ADDRESS:PORT, in place of HubListen");
  app.add_option("--sim-socket", options.sim_socket, "where acrf-sim answers");
  app.add_option("--log-level", options.log_level, "trace, debug, info, warning or error");
  app.add_flag("--test-cluster", options.test_cluster,
               "faults may be injected, and loopback connections may act");
  app.set_version_flag("-V,--version", std::string("acrf-hub ") + ACRF_VERSION);
  int status = EXIT_SUCCESS;
  auto* tokens = acrf::hub::add_token_command(app, options.config_path, status);
  CLI11_PARSE(app, argc, argv);
  return tokens->parsed() ? status : acrf::hub::run(options);
}
