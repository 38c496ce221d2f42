// SPDX-License-Identifier: GPL-2.0-or-later
// acrf-exporter: GET /metrics of this node's acrf-healthd, for Prometheus. A process of its own, so
// that no web server runs in the daemon that acts, and none at all where nobody asks.
#include <prometheus/exposer.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "acrf_config.h"
#include "common/config_file.h"
#include "common/host_name.h"
#include "core/listen_address.h"
#include "node_metrics.h"

namespace acrf {
namespace {

struct Options {
  std::string config_path;
  std::string node;
  std::string listen = "127.0.0.1:6823";
};

int fail(const std::string& sentence) {
  std::fprintf(stderr, "acrf-exporter: %s\n", sentence.c_str());
  return EXIT_FAILURE;
}

// Until SIGTERM or SIGINT.
void wait_for_end() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT}) sigaddset(&signals, signal);
  int signal = 0;
  while (::sigwait(&signals, &signal) != 0) continue;
}

// Before there are threads, which inherit it.
void block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT}) sigaddset(&signals, signal);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

int run(const Options& options) {
  if (!parse_listen_address(options.listen))
    return fail("--listen: \"" + options.listen + "\" must be ADDRESS:PORT");
  const auto config = load_named_config(options.config_path);
  if (!config) return fail(config.error().sentence);
  const auto node = options.node.empty() ? short_host_name() : options.node;
  const auto metrics = std::make_shared<NodeMetrics>(expand_node(config->state_dir, node));
  block_signals();
  try {
    prometheus::Exposer exposer(std::vector<std::string>{"listening_ports", options.listen,
                                                         "num_threads", "2", "request_timeout_ms",
                                                         "5000", "enable_keep_alive", "no"});
    exposer.RegisterCollectable(metrics);
    std::printf("acrf-exporter %s serves node %s at http://%s/metrics\n", ACRF_VERSION,
                node.c_str(), options.listen.c_str());
    std::fflush(stdout);
    wait_for_end();
  } catch (const std::exception& problem) {
    return fail("cannot listen at " + options.listen + "; is the port taken? (" + problem.what() +
                ")");
  }
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace acrf

int main(int argc, char** argv) {
  acrf::Options options;
  CLI::App app("Serves the metrics of this node's acrf-healthd to Prometheus.", "acrf-exporter");
  app.add_option("-f,--config", options.config_path,
                 "acrf.conf to use (default: beside slurm.conf)");
  app.add_option("-N,--node", options.node, "this node's name in slurm.conf (default: host name)");
  app.add_option("--listen", options.listen, "ADDRESS:PORT")->capture_default_str();
  app.set_version_flag("-V,--version", std::string("acrf-exporter ") + ACRF_VERSION);
  CLI11_PARSE(app, argc, argv);
  return acrf::run(options);
}
