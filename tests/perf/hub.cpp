// SPDX-License-Identifier: GPL-2.0-or-later
// acrf-bench-hub: a real acrf-hub, munged and slurmctld under the reports of 12,500 simulated nodes of
// 8 GPUs every 5 s, with people's queries beside them; the hub is killed in the middle. Reads the
// history afterwards and counts each sample. The measurement behind `contrib/bench hub`.
#include <fmt/format.h>
#include <httplib.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "common/file.h"
#include "core/config.h"
#include "core/text.h"
#include "hub/history.h"
#include "hub/history_file.h"
#include "hub_reporters.h"
#include "minicluster/cluster.h"
#include "quantile.h"

namespace acrf::perf {
namespace {

using std::chrono::seconds;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr int kEvery_s = 5;

struct Options {
  std::string root;
  int nodes = 12'500;
  int gpus = 8;
  double minutes = 10;
};

// What a daemon of the cluster has used; its processes come and go.
class Daemon {
 public:
  explicit Daemon(std::string words) : words_(std::move(words)) {}

  // Processor time of all its lives up to now, as far as they were looked at.
  void look() {
    const int pid = find();
    if (pid != pid_) {
      before_s_ += last_s_;
      last_s_ = 0;
      pid_ = pid;
    }
    if (pid_ <= 0) return;
    double spent = 0;
    std::error_code gone;
    const auto stat = read_file(fmt::format("/proc/{}/stat", pid_));
    if (stat) {
      const auto fields = split(std::string_view(*stat).substr(stat->rfind(')') + 2), ' ');
      if (fields.size() > 13)
        spent = (static_cast<double>(parse_unsigned(fields[11]).value_or(0)) +
                 static_cast<double>(parse_unsigned(fields[12]).value_or(0))) /
                static_cast<double>(::sysconf(_SC_CLK_TCK));
    }
    last_s_ = std::max(last_s_, spent);
    const auto status = read_file(fmt::format("/proc/{}/status", pid_));
    const auto at = status ? status->find("VmRSS:") : std::string::npos;
    if (at != std::string::npos)
      most_mb_ = std::max(most_mb_, std::strtod(status->c_str() + at + 6, nullptr) / 1024);
  }
  double spent_s() const { return before_s_ + last_s_; }
  double most_mb() const { return most_mb_; }

 private:
  int find() const {
    std::error_code gone;
    if (pid_ > 0 && is_it(pid_)) return pid_;
    for (const auto& entry : fs::directory_iterator("/proc", gone))
      if (const auto pid = parse_unsigned(entry.path().filename().string()))
        if (is_it(static_cast<int>(*pid))) return static_cast<int>(*pid);
    return -1;
  }
  bool is_it(int pid) const {
    auto words = read_file(fmt::format("/proc/{}/cmdline", pid));
    if (!words) return false;
    std::replace(words->begin(), words->end(), '\0', ' ');
    return words->find(words_) != std::string::npos && words->find("unshare") == std::string::npos;
  }

  std::string words_;
  int pid_ = -1;
  double before_s_ = 0, last_s_ = 0, most_mb_ = 0;
};

struct Queries {
  std::uint64_t made = 0, failed = 0;
  std::vector<double> ms;
};

// What a dashboard and a few people ask, without pause but for a breath.
void ask(int port, int nodes, const std::atomic<bool>& stop, Queries& queries) {
  const std::string paths[] = {"/v1/stats", "/v1/fleet", "/v1/nodes?limit=100", "/v1/incidents",
                               "/v1/nodes/n1", "/v1/nodes/n7/history?metric=temperature_c&gpu=0"};
  for (std::size_t i = 0; !stop; ++i) {
    httplib::Client client("127.0.0.1", port);
    client.set_read_timeout(10);
    const auto begin = Clock::now();
    auto path = paths[i % std::size(paths)];
    if (const auto at = path.find("n7"); at != std::string::npos)
      path.replace(at, 2, "n" + std::to_string(1 + static_cast<int>(i) * 7919 % nodes));
    const auto reply = client.Get(path.c_str());
    ++queries.made;
    queries.failed += !reply || reply->status >= 500;
    queries.ms.push_back(
        std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    ::usleep(200'000);
  }
}

struct Books {
  std::uint64_t lost = 0, twice = 0, samples = 0;
  std::uint64_t raw_bytes = 0, file_bytes = 0;
};

// What the history takes on disk, indexes and half-filled pages included.
struct Sizes {
  double raw_sample = 0, minute = 0, hour = 0;  // bytes, of one node; 0: not known
};

// Bytes for each of the rows in a table's blocks that are at least half full: their data, and what a
// block costs beside it.
Result<double> bytes_of_one(sqlite::Database& database, const std::string& table,
                            std::size_t in_full_block) {
  auto rows = database.prepare("SELECT data FROM " + table);
  if (!rows) return rows.error();
  double blocks = 0, bytes = 0, full_blocks = 0, full_bytes = 0, full_rows = 0;
  while (true) {
    const auto row = rows->step();
    if (!row) return row.error();
    if (!*row) break;
    const auto data = rows->text(0);
    const auto series = read_series(data);
    const auto size = static_cast<double>(data.size());
    ++blocks;
    bytes += size;
    if (!series || series->size() * 2 < in_full_block) continue;
    ++full_blocks;
    full_bytes += size;
    full_rows += static_cast<double>(series->size());
  }
  const auto pages = database.number(
      "SELECT sum(pgsize) FROM dbstat WHERE name IN (SELECT name FROM sqlite_schema WHERE "
      "tbl_name='" + table + "')");
  if (!pages) return pages.error();
  if (full_rows == 0) return 0.0;
  const double beside = (static_cast<double>(*pages) - bytes) / blocks;
  return (full_bytes + full_blocks * beside) / full_rows;
}

// `every_s`: a node's sample.
Result<Sizes> measure(const std::string& path, int every_s) {
  auto file = hub::HistoryFile::open(path);
  if (!file) return file.error();
  auto database = sqlite::Database::open(path, true, 5000);
  if (!database) return database.error();
  // An hour's row is made of its minutes when it is over; here, of those that are there.
  auto nodes = database->prepare("SELECT node, min(begin_ms) FROM minute GROUP BY node LIMIT 2000");
  if (!nodes) return nodes.error();
  std::vector<std::pair<int, std::int64_t>> hours;
  while (true) {
    const auto row = nodes->step();
    if (!row) return row.error();
    if (!*row) break;
    hours.emplace_back(static_cast<int>(nodes->number(0)),
                       nodes->number(1) - nodes->number(1) % hub::kHour_ms);
  }
  if (const auto begun = file->begin(); !begun) return begun.error();
  for (const auto& [node, begin_ms] : hours)
    if (const auto done = file->roll_up_hour(node, begin_ms); !done) return done.error();
  if (const auto ended = file->end(); !ended) return ended.error();
  const auto block_s = static_cast<std::size_t>(hub::kBlock_ms / 1000);
  const auto raw = bytes_of_one(*database, "raw", block_s / static_cast<std::size_t>(every_s));
  if (!raw) return raw.error();
  const auto minute = bytes_of_one(*database, "minute", block_s / 60);
  if (!minute) return minute.error();
  const auto hour = bytes_of_one(*database, "hour", 1);
  if (!hour) return hour.error();
  return Sizes{*raw, *minute, *hour};
}

// Every sample's count is its last number: each must be there, once.
Result<Books> check(const std::string& path, const std::vector<std::uint32_t>& made) {
  auto file = hub::HistoryFile::open(path);
  if (!file) return file.error();
  auto kept = file->load(0);
  if (!kept) return kept.error();
  std::map<int, std::map<std::uint32_t, int>> seen;
  Books books;
  const auto take = [&](int node, const std::string& bytes) {
    const auto rows = read_series(bytes);
    for (const auto& row : rows ? *rows : std::vector<SeriesRow>{})
      ++seen[node][static_cast<std::uint32_t>(row.numbers.at(7))];
  };
  auto database = sqlite::Database::open(path, false, 5000);
  if (!database) return database.error();
  auto raw = database->prepare("SELECT node, data FROM raw");
  if (!raw) return raw.error();
  while (true) {
    const auto row = raw->step();
    if (!row) return row.error();
    if (!*row) break;
    take(static_cast<int>(raw->number(0)), raw->text(1));
    books.raw_bytes += raw->text(1).size();
  }
  hub::SampleBlocks blocks;
  const auto replayed = file->for_each_journal(
      [&](std::int64_t row, std::string_view bytes) { return blocks.replay(row, bytes); });
  if (!replayed) return replayed.error();
  for (std::size_t i = 0; i < made.size(); ++i) {
    const int node = kept->nodes["n" + std::to_string(i + 1)];
    take(node, blocks.open_block(node).empty() ? std::string(1, '\0') : blocks.open_block(node));
    for (std::uint32_t seq = 1; seq <= made[i]; ++seq) {
      const auto times = seen[node].find(seq);
      books.lost += times == seen[node].end();
      books.twice += times != seen[node].end() && times->second > 1;
    }
    books.samples += made[i];
  }
  books.file_bytes = hub::History(path).size();
  return books;
}

double own_time_s() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

int fail(const std::string& sentence) {
  fmt::print(stderr, "acrf-bench-hub: {}\n", sentence);
  return 1;
}

int run(const Options& options) {
  rlimit limit{};  // a connection for every node, when the hub is away
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  minicluster::ClusterOptions cluster_options;
  cluster_options.root = options.root;
  cluster_options.nodes = options.nodes;
  cluster_options.gpus_per_node = options.gpus;
  cluster_options.cloud_nodes = true;
  cluster_options.cloud_address = "127.0.0.1";
  cluster_options.healthd = false;
  cluster_options.hubs = 1;
  auto cluster = minicluster::Cluster::start(cluster_options);
  if (!cluster) return fail(cluster.error().sentence);
  const auto url = (*cluster)->hub_url();
  const int port = static_cast<int>(*parse_unsigned(url.substr(url.rfind(':') + 1)));
  Daemon hub((*cluster)->path("etc/acrf-hub-1.conf")), munged("--socket=" + (*cluster)->path("munge.socket"));
  HubReporters reporters({options.nodes, options.gpus, kEvery_s * 1000, port, (*cluster)->path("munge.socket")});
  std::atomic<bool> stop{false};
  Queries queries;
  hub.look();
  munged.look();
  const double hub_before_s = hub.spent_s(), munged_before_s = munged.spent_s();
  const double own_before_s = own_time_s();
  const auto begin = Clock::now();
  reporters.start();
  std::thread people([&] { ask(port, options.nodes, stop, queries); });
  const auto total = std::chrono::duration<double>(options.minutes * 60);
  bool killed = false;
  double away_s = 0;
  while (Clock::now() - begin < total) {
    ::usleep(500'000);
    hub.look();
    munged.look();
    if (killed || Clock::now() - begin < total / 2) continue;
    killed = true;
    const auto down = Clock::now();
    if (const auto done = (*cluster)->kill("hub-1"); !done) return fail(done.error().sentence);
    if (const auto done = (*cluster)->start_hub(); !done) return fail(done.error().sentence);
    away_s = std::chrono::duration<double>(Clock::now() - down).count();
  }
  const double took_s = std::chrono::duration<double>(Clock::now() - begin).count();
  const double hub_s = hub.spent_s() - hub_before_s, munged_s = munged.spent_s() - munged_before_s;
  const bool all_durable = reporters.finish(120);
  stop = true;
  people.join();
  if (const auto sent = (*cluster)->signal("hub-1", SIGTERM); !sent) return fail(sent.error().sentence);
  (*cluster)->wait_for_end("hub-1");
  const auto books = check((*cluster)->path("hub-1/history.db"), reporters.made());
  if (!books) return fail(books.error().sentence);
  const auto sizes = measure((*cluster)->path("hub-1/history.db"), kEvery_s);
  if (!sizes) return fail(sizes.error().sentence);
  auto lags = reporters.lags_ms();
  const auto counts = reporters.counts();
  const double lag_p50 = quantile(lags, 0.5), lag_p99 = quantile(lags, 0.99);
  const double query_p50 = quantile(queries.ms, 0.5), query_p99 = quantile(queries.ms, 0.99);
  const double own_s = own_time_s() - own_before_s;
  // Of 1,000 nodes, with the defaults of HubRawHours, HubMinuteDays and HubHourDays.
  const Config config;
  const double raw_gb = sizes->raw_sample * 3600 / kEvery_s * config.hub_raw_hours * 1000 / 1e9;
  const double minute_gb = sizes->minute * 1440 * config.hub_minute_days * 1000 / 1e9;
  const double hour_gb = sizes->hour * 24 * config.hub_hour_days * 1000 / 1e9;
  fmt::print("{} nodes x {} GPUs every 5 s for {:.1f} min, SIGKILL in the middle (away {:.1f} s)\n",
             options.nodes, options.gpus, took_s / 60, away_s);
  fmt::print("hub            {:6.1f} % of a core, {:.0f} MB at most\n", 100 * hub_s / took_s, hub.most_mb());
  fmt::print("reporters      {:6.1f} % of a core\n", 100 * own_s / took_s);
  fmt::print("munged         {:6.1f} % of a core (makes the credentials, too)\n", 100 * munged_s / took_s);
  fmt::print("lag            {:6.0f} ms p50, {:.0f} ms p99 (sample made -> hub has it)\n", lag_p50, lag_p99);
  fmt::print("queries        {} made, {} failed, {:.0f} ms p50, {:.0f} ms p99\n", queries.made, queries.failed, query_p50, query_p99);
  fmt::print("reports        {} answered ({:.0f} a second), {} without an answer{}{}\n", counts.answered,
             static_cast<double>(counts.answered) / took_s, counts.failed,
             counts.last_failure.empty() ? "" : ", last: ", counts.last_failure);
  fmt::print("samples        {} made, {} lost, {} twice{}\n", books->samples, books->lost, books->twice,
             all_durable ? "" : ", not all durable in time");
  fmt::print("history        {:.0f} MB now; on disk {:.0f} bytes a sample, {:.0f} a minute, {:.0f} an hour of a node\n",
             static_cast<double>(books->file_bytes) / 1e6, sizes->raw_sample, sizes->minute, sizes->hour);
  fmt::print("1,000 nodes    {:.1f} GB for {} hours of samples, {:.1f} GB for {} days of minutes, {:.1f} GB for {} days of hours\n",
             raw_gb, config.hub_raw_hours, minute_gb, config.hub_minute_days, hour_gb, config.hub_hour_days);
  nlohmann::ordered_json row = {{"nodes", options.nodes}, {"gpus", options.gpus}, {"minutes", took_s / 60},
    {"hub_core_percent", 100 * hub_s / took_s}, {"munged_core_percent", 100 * munged_s / took_s}, {"hub_rss_mb", hub.most_mb()},
    {"lag_p50_ms", lag_p50}, {"lag_p99_ms", lag_p99}, {"query_p50_ms", query_p50}, {"query_p99_ms", query_p99},
    {"queries", queries.made}, {"queries_failed", queries.failed}, {"away_s", away_s}, {"samples", books->samples}, {"lost", books->lost}, {"twice", books->twice},
    {"reports", counts.answered}, {"reporters_core_percent", 100 * own_s / took_s},
    {"sample_bytes", sizes->raw_sample}, {"minute_bytes", sizes->minute}, {"hour_bytes", sizes->hour}, {"file_bytes", books->file_bytes}};
  fmt::print("{}\n", nlohmann::ordered_json::array({row}).dump());
  return books->lost == 0 && books->twice == 0 && all_durable ? 0 : 1;
}

}  // namespace
}  // namespace acrf::perf

int main(int argc, char** argv) {
  acrf::perf::Options options;
  CLI::App app("Measures acrf-hub under load.", "acrf-bench-hub");
  app.add_option("--root", options.root, "directory of the private cluster")->required();
  app.add_option("--nodes", options.nodes, "simulated nodes");
  app.add_option("--minutes", options.minutes, "how long");
  CLI11_PARSE(app, argc, argv);
  return acrf::perf::run(options);
}
