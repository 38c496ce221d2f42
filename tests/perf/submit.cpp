// SPDX-License-Identifier: GPL-2.0-or-later
// acrf-submit: what job_submit/acrf's engine takes for one submission, and whether it keeps memory;
// the measurement behind `contrib/bench submit`.
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "plugins/bridge/policy_bridge.h"

namespace {

constexpr int kSubmissions = 10'000;

// A site with so many Policy lines, the last of which fits.
acrf_site_t* make_site(int rules) {
  const auto directory = std::filesystem::temp_directory_path() / "acrf-bench-submit";
  std::filesystem::create_directories(directory);
  std::ofstream conf(directory / "acrf.conf");
  for (int i = 1; i < rules; ++i)
    conf << fmt::format("Policy=p{} Partition=x{} Account=a{} MaxGpus=8\n", i, i, i);
  if (rules > 0)
    conf << "Policy=last Partition=main DefaultWorkload=training CheckpointRoots=/ckpt "
            "CheckpointOverGpus=8 MaxTime=7-0 ExcludeRisk=medium\n";
  conf.close();
  char problem[512] = "";
  auto* site = acrf_site_load((directory / "slurm.conf").c_str(), (directory / "kept").c_str(),
                              problem, sizeof problem);
  std::filesystem::remove_all(directory);
  if (!site) fmt::print(stderr, "submit: {}\n", problem);
  return site;
}

double submit_us(const acrf_site_t* site, const char* const values[ACRF_OPTION_CNT]) {
  acrf_job_t job = {};
  job.partition = "main";
  job.account = "ml";
  job.tres_per_node = "gres:gpu:8";
  job.nodes = 16;
  job.time_limit_s = 86400;
  job.is_batch = 1;
  acrf_policy_t policy;
  const auto start = std::chrono::steady_clock::now();
  const int refused = acrf_policy_resolve(site, &job, values, &policy);
  acrf_policy_free(&policy);
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  if (refused) std::abort();
  return took.count();
}

struct Row {
  int rules;
  double p50, p99;
  long grown;  // bytes that are still in use
};

Row measure(int rules) {
  auto* site = make_site(rules);
  if (!site) std::exit(EXIT_FAILURE);
  const char* values[ACRF_OPTION_CNT] = {};
  for (int i = 0; i < ACRF_OPTION_CNT; ++i)
    if (std::string_view(acrf_option(i).name) == "checkpoint-dir") values[i] = "/ckpt/run 1";
  std::vector<double> times(kSubmissions);
  submit_us(site, values);
  const auto before = static_cast<long>(::mallinfo2().uordblks);
  for (auto& time : times) time = submit_us(site, values);
  const auto after = static_cast<long>(::mallinfo2().uordblks);
  acrf_site_free(site);
  std::sort(times.begin(), times.end());
  return {rules, times[times.size() / 2], times[times.size() * 99 / 100], after - before};
}

}  // namespace

int main() {
  fmt::print("{} submissions a row, microseconds\n{:>6} {:>8} {:>8} {:>12}\n", kSubmissions,
             "rules", "p50", "p99", "bytes grown");
  std::string json;
  for (const int rules : {0, 1, 10, 100}) {
    const auto row = measure(rules);
    fmt::print("{:>6} {:>8.2f} {:>8.2f} {:>12}\n", row.rules, row.p50, row.p99, row.grown);
    json +=
        fmt::format("{}{{\"rules\":{},\"us_p50\":{:.3f},\"us_p99\":{:.3f},\"n\":{},\"grown\":{}}}",
                    json.empty() ? "" : ",", row.rules, row.p50, row.p99, kSubmissions, row.grown);
  }
  fmt::print("[{}]\n", json);
}
