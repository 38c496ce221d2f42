// SPDX-License-Identifier: GPL-2.0-or-later
// acrf-healthd: watches this node's GPUs and acts on this node through slurmctld.
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>

#include "acrf_config.h"
#include "actions/newest_checkpoint.h"
#include "check_cache.h"
#include "common/config_file.h"
#include "common/host_name.h"
#include "common/log.h"
#include "selftest.h"
#include "sources/job_probe.h"
#include "sources/node_workers.h"
#include "sources/probe_service.h"
#include "sources/slurmd_watch.h"
#include "watcher.h"

#ifdef HAVE_LIBSYSTEMD
#include <systemd/sd-daemon.h>
#endif

namespace acrf {
namespace {

struct Options {
  std::string config_path;
  std::string node;
  std::string log_level = "info";
  std::vector<std::string> probe;  // in a probe process: which, its library, and where sysfs is
  bool check_once = false;
  bool selftest = false;
  bool json = false;
  // Set in worker processes.
  bool node_probe = false;
  bool job_probe = false;
  bool slurmd_probe = false;
  NodePaths node_paths;
  std::string memory;
  std::string file_system_probe;
  std::vector<std::string> newest_checkpoint;  // user, format, directory
  int check_timeout_s = 0;
  std::vector<std::string> check_program;
};

UniqueFd open_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGCHLD, SIG_IGN);
  return UniqueFd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

// Beside acrf.conf, as Slurm has it.
std::string gres_conf_path(const Options& options) {
  const std::filesystem::path config =
      options.config_path.empty() ? default_config_path() : options.config_path;
  return config.parent_path() / "gres.conf";
}

void expand_paths(Config& config, const std::string& node) {
  for (auto* path : {&config.kernel_log, &config.state_dir, &config.fake_gpu_state,
                     &config.node_root, &config.file_systems})
    *path = expand_node(*path, node);
}

Status watch(Config config, const std::string& node, const Options& options) {
  expand_paths(config, node);
  const auto boot_id = read_boot_id(config.node_root);
  if (!boot_id) return boot_id.error();
  auto store = IncidentStore::open(config.state_dir + "/incidents");
  if (!store) return store.error();
  auto cases = CaseStore::open(config.state_dir + "/cases");
  if (!cases) return cases.error();
  auto kernel_log =
      KernelLogSource::open(config.kernel_log, config.state_dir + "/kernel-log.place", *boot_id);
  if (!kernel_log) return kernel_log.error();
  const UniqueFd signals = open_signals();
  Watcher watcher(config, options.config_path, node, gres_conf_path(options), std::move(*store),
                  std::move(*cases), std::move(*kernel_log), *boot_id,
                  [path = options.config_path, node]() -> Result<Config> {
                    auto fresh = load_named_config(path);
                    if (fresh) expand_paths(*fresh, node);
                    return fresh;
                  });
  spdlog::info("acrf-healthd {} watches node {}: Mode={}, kernel log {}, catalog {}", ACRF_VERSION,
               node, mode_name(config.mode), config.kernel_log, Catalog::builtin().version());
#ifdef HAVE_LIBSYSTEMD
  ::sd_notify(0, "READY=1");
#endif
  watcher.run(signals.get());
  spdlog::info("acrf-healthd stops watching node {}", node);
  return Done{};
}

// A configuration that cannot be read leaves the verdict unknown.
int check_once(const Options& options, const std::string& node) {
  const auto config = load_named_config(options.config_path);
  if (config) return run_check_once(expand_node(config->state_dir, node));
  std::printf("ACRF UNKNOWN - UNKNOWN: %s\n", config.error().sentence.c_str());
  return static_cast<int>(CheckStatus::kUnknown);
}

int selftest(const Options& options, const std::string& node) {
  auto config = load_named_config(options.config_path);
  if (!config) {
    std::printf("%s\n", config.error().sentence.c_str());
    return static_cast<int>(CheckStatus::kUnknown);
  }
  expand_paths(*config, node);
  const auto tests = test_sources(*config, "/proc/self/exe", node, gres_conf_path(options));
  return print_tests(tests, options.json);
}

// The exit code of a worker process; nothing in the daemon itself.
std::optional<int> run_worker(const Options& options) {
  if (options.probe.size() == 3)
    return run_probe(options.probe[0], options.probe[1], options.probe[2]);
  const NodePaths paths{options.node_paths.root, options.node, options.node_paths.gres_conf};
  if (options.node_probe) return run_node_probe(paths, options.memory);
  if (options.slurmd_probe) return run_slurmd_probe();
  if (options.job_probe) return run_job_probe(paths);
  if (!options.file_system_probe.empty()) return run_file_system_probe(options.file_system_probe);
  if (options.newest_checkpoint.size() == 3)
    return run_newest_checkpoint(options.newest_checkpoint);
  if (options.check_timeout_s > 0)
    return run_check_worker(options.check_program, options.check_timeout_s, options.node);
  return std::nullopt;
}

int run(const Options& options) {
  if (const auto code = run_worker(options)) return *code;
  const std::string node = options.node.empty() ? short_host_name() : options.node;
  if (options.check_once) return check_once(options, node);
  if (options.selftest) return selftest(options, node);
  if (const auto log = init_log(options.log_level); !log) {
    std::fprintf(stderr, "acrf-healthd: %s\n", log.error().sentence.c_str());
    return EXIT_FAILURE;
  }
  const auto config = load_named_config(options.config_path);
  if (!config) {
    spdlog::critical("{}", config.error().sentence);
    return EXIT_FAILURE;
  }
  const auto watched = watch(*config, node, options);
  if (!watched) spdlog::critical("{}", watched.error().sentence);
  return watched ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace acrf

int main(int argc, char** argv) {
  acrf::Options options;
  CLI::App app("Watches this node's GPUs, drains the node when one fails and brings its jobs back.",
               "acrf-healthd");
  app.add_option("-f,--config", options.config_path,
                 "acrf.conf to use (default: beside slurm.conf)");
  app.add_option("-N,--node", options.node, "this node's name in slurm.conf (default: host name)");
  app.add_option("--log-level", options.log_level, "trace, debug, info, warning or error");
  app.add_option("--probe", options.probe)->expected(3)->group("");
  app.add_flag("--check-once", options.check_once,
               "print the running daemon's verdict and exit with 0 ok, 1 warning, 2 critical or 3 "
               "unknown");
  app.add_flag("--selftest", options.selftest,
               "say which sources work on this machine and what the others lack");
  app.add_flag("--json", options.json, "with --selftest: print JSON");
  app.add_flag("--node-probe", options.node_probe)->group("");
  app.add_flag("--job-probe", options.job_probe)->group("");
  app.add_flag("--slurmd-probe", options.slurmd_probe)->group("");
  app.add_option("--node-root", options.node_paths.root)->group("");
  app.add_option("--memory", options.memory)->group("");
  app.add_option("--gres-conf", options.node_paths.gres_conf)->group("");
  app.add_option("--fs-probe", options.file_system_probe)->group("");
  app.add_option("--newest-checkpoint", options.newest_checkpoint)->expected(3)->group("");
  app.add_option("--run-check", options.check_timeout_s)->group("");
  app.add_option("program", options.check_program)->group("");
  app.set_version_flag("-V,--version", std::string("acrf-healthd ") + ACRF_VERSION);
  CLI11_PARSE(app, argc, argv);
  return acrf::run(options);
}
