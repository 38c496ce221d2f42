// SPDX-License-Identifier: GPL-2.0-or-later
#include "minicluster/cluster.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "common/file.h"
#include "core/text.h"
#include "minicluster/node_network.h"

namespace acrf::minicluster {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

// slurmd's sockets are called SPOOL/NODE_JOB.STEP, and the kernel allows 107 characters.
constexpr std::size_t kLongestRoot = 70;
constexpr std::uintmax_t kDiskNeeded = 200ULL << 20;
constexpr char kMarker[] = ".acrf-cluster";

Status check_preconditions(const std::string& root) {
  if (::geteuid() != 0) return Error{ErrorCode::kDenied, "a private Slurm cluster needs root"};
  if (!starts_with(root, "/") || root.size() > kLongestRoot) {
    return Error{
        ErrorCode::kInvalid,
        fmt::format("cluster directory {}: must be absolute and at most {} characters long, "
                    "because it holds Unix sockets",
                    root, kLongestRoot)};
  }
  std::error_code error;
  fs::create_directories(root, error);
  const auto space = fs::space(root, error);
  if (error) return Error{ErrorCode::kSystem, root + ": " + error.message()};
  if (space.available < kDiskNeeded) {
    return Error{ErrorCode::kSystem, fmt::format("{}: {} MB of disk space are free, {} are needed",
                                                 root, space.available >> 20, kDiskNeeded >> 20)};
  }
  return Done{};
}

// The lock lies beside the directory, which comes and goes.
Result<UniqueFd> lock_directory(const std::string& root) {
  std::error_code error;
  fs::create_directories(fs::path(root).parent_path(), error);
  const std::string path = root + ".lock";
  UniqueFd lock(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) return system_error("open " + path);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  return Error{ErrorCode::kUnavailable, root + " is in use by another process"};
}

// Ends what an earlier owner left and removes the directory; the caller holds the lock.
Status remove_cluster(const std::string& root) {
  std::error_code error;
  if (!fs::exists(root, error) || fs::is_empty(root, error)) return Done{};
  if (!fs::exists(root + "/" + kMarker, error))
    return Error{ErrorCode::kInvalid, root + " exists and is not a cluster's directory"};
  if (const auto stopped = stop_recorded(root); !stopped) return stopped.error();
  fs::remove_all(root, error);
  if (error) return Error{ErrorCode::kSystem, "remove " + root + ": " + error.message()};
  return Done{};
}

template <typename Address>
bool accepts(int family, const Address& address) {
  const UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

bool accepts_at(const std::string& socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket.copy(address.sun_path, sizeof address.sun_path - 1);
  return accepts(AF_UNIX, address);
}

bool accepts_at(const std::string& ip, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  ::inet_pton(AF_INET, ip.c_str(), &address.sin_addr);
  return accepts(AF_INET, address);
}

// The same command on a host of its own: a name, what that name means, and where the daemon keeps
// its number. The daemon itself takes the shell's place.
std::vector<std::string> on_controller_host(const ClusterOptions& options, bool backup,
                                            const std::vector<std::string>& command) {
  const auto host = controller_host(options, backup);
  std::vector<std::string> whole = {
      "/usr/bin/unshare",
      "--uts",
      "--mount",
      "/bin/sh",
      "-ec",
      "hostname \"$0\"; mount --bind \"$1\" /etc/hosts; mount --bind \"$2\" \"$3\"; shift 3; "
      "exec \"$@\"",
      host.name,
      options.root + "/etc/hosts",
      host.run_directory,
      options.root + "/run"};
  whole.insert(whole.end(), command.begin(), command.end());
  whole.insert(whole.end(), {"-L", options.root + "/log/" + host.log_file});
  return whole;
}

// Of its own user, who has few: for the kernel log, slurmd's spool and the records for a hub.
constexpr unsigned kWatchesPerNode = 3;

Status check_watches(const ClusterOptions& options) {
  if (!options.healthd || options.cloud_nodes) return Done{};
  const auto text = read_file("/proc/sys/fs/inotify/max_user_instances");
  const auto most = text ? parse_unsigned(trim(*text)).value_or(0) : 0;  // 0: not known
  const auto wanted = kWatchesPerNode * static_cast<unsigned>(options.nodes);
  if (most == 0 || wanted <= most) return Done{};
  return Error{ErrorCode::kUnavailable,
               fmt::format("acrf-healthd on {} nodes takes {} inotify instances and this machine "
                           "allows {}: raise the sysctl fs.inotify.max_user_instances, or take {} "
                           "nodes at most",
                           options.nodes, wanted, most, most / kWatchesPerNode)};
}

}  // namespace

bool wait_until(const std::function<bool()>& condition, milliseconds limit, milliseconds pause) {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(pause);
  }
  return true;
}

Status Cluster::clean(const std::string& root) {
  const auto lock = lock_directory(root);
  if (!lock) return lock.error();
  const auto removed = remove_cluster(root);
  if (removed) ::unlink((root + ".lock").c_str());
  return removed;
}

Result<std::unique_ptr<Cluster>> Cluster::start(ClusterOptions options) {
  const std::string root = options.root;
  auto lock = lock_directory(root);
  if (!lock) return lock.error();
  if (const auto removed = remove_cluster(root); !removed) return removed.error();
  if (const auto checked = check_preconditions(root); !checked) return checked.error();
  if (const auto checked = check_watches(options); !checked) return checked.error();
  if (const auto marked = write_file(root + "/" + kMarker, "", 0644); !marked)
    return marked.error();
  std::unique_ptr<Cluster> cluster(new Cluster(std::move(options), std::move(*lock)));
  if (const auto launched = cluster->launch(); !launched) {
    return Error{launched.error().code,
                 launched.error().sentence + " (logs are in " + root + "/log)"};
  }
  return cluster;
}

Cluster::~Cluster() {
  if (kept_) return;
  if (const auto stopped = stop_recorded(options_.root); !stopped)
    fmt::print(stderr, "{}\n", stopped.error().sentence);
}

Status Cluster::launch() {
  auto ports = claim_ports(port_count(options_));
  if (!ports) return ports.error();
  ports_ = std::move(*ports);
  if (const auto written = write_cluster_files(options_, ports_.numbers); !written) return written;
  auto space = ProcessSpace::create(options_.root, options_.networks);
  if (!space) return space.error();
  space_ = std::make_unique<ProcessSpace>(std::move(*space));
  if (const auto made = make_networks(); !made) return made;
  if (const auto started = start_munged(); !started) return started;
  if (const auto started = start_slurmctld(); !started) return started;
  if (options_.backup)
    if (const auto started = start_backup(); !started) return started;
  for (int hub = 1; hub <= options_.hubs; ++hub)
    if (const auto started = start_hub(hub); !started) return started;
  if (options_.cloud_nodes) return wait_for_nodes();
  for (const auto& node : nodes())
    if (const auto started = start_slurmd(node); !started) return started;
  if (options_.healthd)
    for (const auto& node : nodes())
      if (const auto started = start_healthd(node); !started) return started;
  return wait_for_nodes();
}

std::vector<std::string> Cluster::environment() const {
  const char* search = std::getenv("PATH");
  std::vector<std::string> entries = {"SLURM_CONF=" + slurm_conf(),
                                      "PATH=" + staged(options_, "/usr/bin") + ":" +
                                          (search ? search : "/usr/bin:/bin") + ":/usr/sbin:/sbin"};
  const std::string reports = "log_path=" + path("log/sanitizer");
  entries.push_back("ASAN_OPTIONS=detect_leaks=0:" + reports);
  entries.push_back("UBSAN_OPTIONS=print_stacktrace=1:" + reports);
  entries.push_back("TSAN_OPTIONS=" + reports);
  return environment_with(entries);
}

CommandResult Cluster::run(const std::vector<std::string>& command, milliseconds limit) const {
  if (!options_.networks) return run_command(command, environment(), limit);
  auto words = inside({"--net"});
  words.insert(words.end(), command.begin(), command.end());
  return run_command(words, environment(), limit);
}

std::vector<std::string> Cluster::inside(const std::vector<std::string>& kinds) const {
  std::vector<std::string> words = {"nsenter", "--target", std::to_string(init_pid_)};
  words.insert(words.end(), kinds.begin(), kinds.end());
  return words;
}

Status Cluster::make_networks() {
  const auto record = read_file(path("init.pid"));
  if (!record) return record.error();
  init_pid_ = static_cast<int>(parse_unsigned(record->substr(0, record->find(' '))).value_or(0));
  if (!options_.networks) return Done{};
  const auto started = space_->start("networks", {"/bin/sh", "-c", network_script(options_)},
                                     environment(), path("log/networks.out"));
  if (!started) return started;
  wait_for_end("networks");
  const auto ended = space_->ended("networks");
  if (ended && *ended == 0) return Done{};
  return Error{ErrorCode::kUnavailable, "the nodes' networks could not be made"};
}

Status Cluster::switch_cable(const std::string& node, const char* state) {
  const auto done = run({"ip", "link", "set", cable_of(node), state});
  if (done.ok()) return Done{};
  return Error{ErrorCode::kSystem, node + "'s cable: " + done.errors};
}

Status Cluster::cut_off(const std::string& node) { return switch_cable(node, "down"); }

Status Cluster::join(const std::string& node) { return switch_cable(node, "up"); }

Status Cluster::start_munged() {
  const auto munged = find_command("munged");
  if (munged.empty())
    return Error{ErrorCode::kNotFound, "munged is not installed; on Debian: munge"};
  const std::string socket = path("munge.socket");
  const auto started = space_->start(
      "munged",
      {munged, "--foreground", "--force", "--num-threads=4", "--socket=" + socket,
       "--key-file=" + path("munge.key"), "--pid-file=" + path("run/munged.pid"),
       "--log-file=" + path("log/munged.log"), "--seed-file=" + path("run/munged.seed")},
      environment(), path("log/munged.out"));
  if (!started) return started;
  return wait_for_start("munged", [&] { return accepts_at(socket); });
}

Status Cluster::start_slurmctld() { return start_controller(false); }

Status Cluster::start_backup() { return start_controller(true); }

Status Cluster::start_controller(bool backup) {
  const std::string daemon = backup ? "slurmctld-backup" : "slurmctld";
  auto variables = environment();
  std::vector<std::string> command = {path("sbin/slurmctld"), "-D"};
  std::string preloaded = options_.controller_preload;
  if (!options_.controller_stage.empty()) {
    command.insert(command.end(), {"-f", path("etc/slurmctld.conf")});
    preloaded = options_.sanitizer_runtimes + " " + preloaded;  // sanitizers want to be first
  }
  if (!preloaded.empty()) variables.push_back("LD_PRELOAD=" + preloaded);
  if (options_.backup) command = on_controller_host(options_, backup, command);
  const auto started = space_->start(daemon, command, variables, path("log/" + daemon + ".out"));
  if (!started) return started;
  return wait_for_start(daemon, [&] {
    if (!options_.networks)
      return accepts_at(controller_address(options_, backup), ports_.numbers[0]);
    const auto name = options_.backup ? controller_host(options_, backup).name : "";
    return run({"scontrol", "ping"}).output.find(name + " is UP") != std::string::npos;
  });
}

Status Cluster::restart_slurmctld() {
  if (const auto sent = signal("slurmctld", SIGTERM); !sent) return sent;
  if (!wait_for_end("slurmctld")) return Error{ErrorCode::kUnavailable, "slurmctld did not end"};
  return start_slurmctld();
}

Status Cluster::change_select(SelectInstall select) {
  const bool new_type =
      (select == SelectInstall::kNamed) != (options_.select == SelectInstall::kNamed);
  options_.named_stays |= options_.select == SelectInstall::kNamed;
  options_.select = select;
  if (const auto written = write_slurm_conf(options_, ports_.numbers); !written) return written;
  for (const auto& node : new_type ? nodes() : std::vector<std::string>{}) {
    if (const auto sent = signal("slurmd-" + node, SIGTERM); !sent) return sent;
    if (!wait_for_end("slurmd-" + node))
      return Error{ErrorCode::kUnavailable, "slurmd on " + node + " did not end"};
    if (const auto started = start_slurmd(node); !started) return started;
  }
  return restart_slurmctld();
}

Status Cluster::wait_for_start(const std::string& daemon, const std::function<bool()>& accepts) {
  bool accepted = false;
  wait_until([&] {
    accepted = accepts();
    const auto ended = space_->ended(daemon);
    return accepted || !ended || ended->has_value();
  });
  if (accepted) return Done{};
  return Error{ErrorCode::kUnavailable, daemon + " did not start"};
}

Status Cluster::start_slurmd(const std::string& node) {
  auto command = enter_node_network(options_, node);
  command.insert(command.end(),
                 {path("sbin/slurmd"), "-D", "-N", node, "-d", path("sbin/slurmstepd")});
  return space_->start("slurmd-" + node, command, environment(),
                       path("log/slurmd-" + node + ".out"));
}

Status Cluster::start_healthd(const std::string& node) {
  auto variables = environment();
  if (!options_.healthd_preload.empty()) {
    variables.push_back("LD_PRELOAD=" + options_.sanitizer_runtimes + " " +
                        options_.healthd_preload);
    variables.push_back("ACRF_HOLD_DIR=" + path("run"));
    variables.push_back("ACRF_HOLD_NODE=" + node);
  }
  const auto program = options_.healthd_program.empty() ? staged(options_, "/usr/sbin/acrf-healthd")
                                                        : options_.healthd_program;
  auto command = enter_node_network(options_, node);
  command.insert(command.end(), {program, "-N", node});
  const auto log = path("log/healthd-" + node + ".log");
  const auto before = read_file(log);
  lives_[node] = before ? before->size() : 0;
  return space_->start("healthd-" + node, command, variables, log);
}

std::string Cluster::healthd_life(const std::string& node) const {
  const auto log = read_file(path("log/healthd-" + node + ".log"));
  const auto begin = lives_.find(node);
  if (!log || begin == lives_.end() || begin->second > log->size()) return {};
  return log->substr(begin->second);
}

Status Cluster::start_hub(int hub) {
  const auto daemon = "hub-" + std::to_string(hub);
  std::vector<std::string> command = {staged(options_, "/usr/sbin/acrf-hub"), "-f",
                                      path("etc/acrf-" + daemon + ".conf")};
  command.insert(command.end(), options_.hub_arguments.begin(), options_.hub_arguments.end());
  const auto started =
      space_->start(daemon, command, environment(), path("log/" + daemon + ".log"));
  if (!started) return started;
  const int port = hub_port(options_, ports_.numbers, hub);
  return wait_for_start(daemon, [&] {
    if (!options_.networks) return accepts_at("127.0.0.1", port);
    const auto place = fmt::format("/dev/tcp/{}/{}", hub_address(options_), port);
    return run({"bash", "-c", "exec 3<>" + place}).ok();
  });
}

std::string Cluster::hub_url(int hub) const {
  return minicluster::hub_url(options_, ports_.numbers, hub);
}

// A job that is there when the power saving thread looks would have its nodes started.
Status Cluster::wait_for_power_saving() {
  const auto has_looked = [&] {
    const auto log = read_file(path("log/slurmctld.log"));
    return log && log->find("Power save mode: ") != std::string::npos;
  };
  if (wait_until(has_looked)) return Done{};
  return Error{ErrorCode::kUnavailable, "slurmctld did not look at its powered down nodes"};
}

Status Cluster::wait_for_nodes() {
  const std::string ready = options_.cloud_nodes ? "idle~" : "idle";
  const auto all_idle = [&] {
    const auto states = run({"sinfo", "-h", "-N", "-p", "main", "-o", "%T"});
    int idle = 0;
    for (const auto state : split(trim(states.output), '\n')) idle += state == ready;
    return idle == options_.nodes;
  };
  const std::chrono::seconds patience(60 + options_.nodes);
  if (!wait_until(all_idle, patience, milliseconds(50)))
    return Error{ErrorCode::kUnavailable,
                 fmt::format("not all nodes became idle within {} s", patience.count())};
  if (options_.cloud_nodes) return wait_for_power_saving();
  if (!options_.healthd) return Done{};
  // healthd takes up the kernel log where it finds it, so nothing may be injected before.
  std::string late, said;  // a node without one, and the last that it has said
  const auto all_watched = [&] {
    for (const auto& node : nodes()) {
      const auto log = read_file(path("log/healthd-" + node + ".log"));
      if (log && log->find("watches node " + node) != std::string::npos) continue;
      late = node;
      said = log ? split(trim(*log), '\n').back() : "";
      return false;
    }
    return true;
  };
  if (wait_until(all_watched, patience / 2)) return Done{};
  return Error{ErrorCode::kUnavailable,
               "acrf-healthd of " + late + " did not start" + (said.empty() ? "" : ": " + said)};
}

Status Cluster::signal(const std::string& daemon, int signal) {
  return space_->signal(daemon, signal);
}

Status Cluster::kill(const std::string& daemon) {
  if (const auto sent = space_->signal(daemon, SIGKILL); !sent) return sent;
  if (!wait_for_end(daemon)) return Error{ErrorCode::kSystem, daemon + " does not end"};
  return Done{};
}

bool Cluster::wait_for_end(const std::string& daemon) {
  return wait_until([&] {
    const auto ended = space_->ended(daemon);
    return !ended || ended->has_value();
  });
}

Status Cluster::keep() {
  if (const auto told = space_->keep(); !told) return told;
  kept_ = true;
  return Done{};
}

}  // namespace acrf::minicluster
