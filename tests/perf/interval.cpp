// SPDX-License-Identifier: GPL-2.0-or-later
// Checkpoint intervals: the overhead of `auto` and of fixed ones by formula, and jobs simulated
// failure by failure to see whether the formula holds, and what is left of it when failures come
// in bursts. The same seed in every run.
#include <cmath>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "tools/acrf/interval_table.h"
#include "unit/random.h"

namespace acrf {
namespace {

using nlohmann::json;
using Gap = std::function<double(Random&)>;  // seconds from one failure to the next

constexpr int kRuns = 400, kFailuresPerRun = 1000;

double exponential(Random& random, double mean) {
  return -mean * std::log((static_cast<double>(random.next() >> 11) + 0.5) / 9007199254740992.0);
}

// Half of the failures follow another one after a twentieth of the MTBF on average.
double in_bursts(Random& random, double mtbf_s) {
  return exponential(random, mtbf_s * (random.one_in(2) ? 0.05 : 1.95));
}

// One job, second by second in leaps: work and checkpoint are tried until no failure hits them.
class Job {
 public:
  Job(const Gap& gap, Random& random) : gap_(gap), random_(random), next_failure_(gap(random)) {}

  double overhead(double interval_s, double cost_s, double restart_s, double mtbf_s) {
    const double work = kFailuresPerRun * mtbf_s;
    double done = 0;
    for (; done < work; done += interval_s)
      while (!survive(interval_s + cost_s))
        while (!survive(restart_s)) {
        }
    return now_ / done - 1;
  }

 private:
  bool survive(double length_s) {
    if (now_ + length_s <= next_failure_) {
      now_ += length_s;
      return true;
    }
    now_ = next_failure_;
    next_failure_ += gap_(random_);
    return false;
  }

  const Gap& gap_;
  Random& random_;
  double now_ = 0;
  double next_failure_;
};

struct Estimate {
  double mean = 0, standard_error = 0;
};

Estimate simulate(const Gap& gap, double interval_s, double cost_s, double restart_s,
                  double mtbf_s) {
  Random random(42);
  double sum = 0, squares = 0;
  for (int run = 0; run < kRuns; ++run) {
    const double value = Job(gap, random).overhead(interval_s, cost_s, restart_s, mtbf_s);
    sum += value;
    squares += value * value;
  }
  const double mean = sum / kRuns;
  return {mean, std::sqrt((squares / kRuns - mean * mean) / (kRuns - 1))};
}

// Prints one interval of one cell; false when the simulation contradicts the formula.
bool compare(const IntervalCell& cell, double restart_s, double interval_s, const char* name,
             json& rows) {
  const double mtbf_s = cell.mtbf_s;
  const double formula = overhead(interval_s, cell.cost_s, mtbf_s, restart_s);
  const auto independent =
      simulate([mtbf_s](Random& random) { return exponential(random, mtbf_s); }, interval_s,
               cell.cost_s, restart_s, mtbf_s);
  const auto bursts = simulate([mtbf_s](Random& random) { return in_bursts(random, mtbf_s); },
                               interval_s, cell.cost_s, restart_s, mtbf_s);
  std::printf("%7d %7d %9s %9.0f %10.3f%% %10.3f%% %9.3f%% %10.3f%%\n", cell.gpus, cell.cost_s,
              name, interval_s, 100 * formula, 100 * independent.mean,
              100 * independent.standard_error, 100 * bursts.mean);
  rows.push_back({{"gpus", cell.gpus},
                  {"cost_s", cell.cost_s},
                  {"restart_s", restart_s},
                  {"interval", name},
                  {"interval_s", interval_s},
                  {"formula", formula},
                  {"simulated", independent.mean},
                  {"standard_error", independent.standard_error},
                  {"simulated_bursts", bursts.mean},
                  {"runs", kRuns}});
  return std::abs(independent.mean - formula) < 4 * independent.standard_error;
}

bool compare_all(const IntervalTable& table, json& rows) {
  std::printf("\nSimulated, restarts of %g s included: %d runs of %d failures' worth of work.\n",
              table.restart_s, kRuns, kFailuresPerRun);
  std::printf("%7s %7s %9s %9s %11s %11s %10s %11s\n", "GPUs", "cost s", "interval", "s", "formula",
              "simulated", "std error", "in bursts");
  bool agree = true;
  for (const auto& cell : table.cells) {
    const std::pair size{cell.gpus, cell.cost_s};
    if (size != std::pair{1024, 60} && size != std::pair{4096, 120} &&
        size != std::pair{16384, 5} && size != std::pair{16384, 300})
      continue;
    const auto check = [&](auto interval_s, const char* name) {
      agree &= compare(cell, table.restart_s, static_cast<double>(interval_s), name, rows);
    };
    check(cell.interval_s, "auto");
    for (const int fixed : kFixedIntervals_s) check(fixed, "fixed");
  }
  return agree;
}

}  // namespace
}  // namespace acrf

int main() {
  const auto table = acrf::make_interval_table({}, acrf::kAssumedRestart_s);
  std::printf("%s", acrf::interval_table_text(table).c_str());
  auto rows = acrf::interval_table_json(table);
  const bool agree = acrf::compare_all(table, rows);
  if (!agree) std::fprintf(stderr, "simulation and formula differ by over 4 standard errors\n");
  std::printf("%s\n", rows.dump().c_str());
  return agree ? 0 : 1;
}
