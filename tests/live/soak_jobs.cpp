// SPDX-License-Identifier: GPL-2.0-or-later
#include "soak_jobs.h"

#include <fmt/format.h>

namespace acrf::minicluster {
namespace {

using Options = std::vector<std::string>;

bool chance(Random& random, int percent) { return random.below(100) < percent; }

void add(Options& options, const Options& more) {
  options.insert(options.end(), more.begin(), more.end());
}

std::string with(const char* option, int value) { return option + std::to_string(value); }

// Most jobs are small, so that many of them run at a time.
int small_or_large(Random& random, int small, int large) {
  return 1 + random.below(chance(random, 80) ? small : large);
}

Options tasks_with_gpus(Random& random) {
  const int tasks = small_or_large(random, 4, 12);
  Options options = {with("-n", tasks), with("--gpus-per-task=", 1 + random.below(2))};
  if (chance(random, 40)) options.push_back(with("--ntasks-per-node=", 1 + random.below(4)));
  if (chance(random, 30)) options.push_back("--cpus-per-task=2");
  return options;
}

Options range_of_nodes(Random& random) {
  const int least = 1 + random.below(3);
  return {fmt::format("--nodes={}-{}", least, least + random.below(3)),
          with("--gpus-per-node=", 1 + random.below(8))};
}

// No GPUs asked for; with --exclusive the job gets those of its nodes all the same.
Options only_cpus(Random& random) {
  Options options = {with("-n", 1 + random.below(20))};
  if (chance(random, 30)) options.push_back("--cpus-per-task=2");
  return options;
}

Options gpus_and_cpus(Random& random) {
  switch (random.below(8)) {
    case 0:
    case 1: return {with("--gpus=", small_or_large(random, 8, 32))};
    case 2:
      return {with("-N", small_or_large(random, 2, 5)),
              with("--gpus-per-node=", 1 + random.below(8))};
    case 3: return tasks_with_gpus(random);
    case 4: return range_of_nodes(random);
    case 5: return {with("-N", 1 + random.below(2)), with("--gres=gpu:h100:", 1 + random.below(8))};
    case 6: return {"-N1", "--sockets-per-node=1", with("--gpus-per-socket=", 1 + random.below(4))};
    default: return only_cpus(random);
  }
}

std::string some_nodes(Random& random, int nodes, int most) {
  std::string names;
  for (int count = 1 + random.below(most); count > 0; --count)
    names += (names.empty() ? "n" : ",n") + std::to_string(1 + random.below(nodes));
  return names;
}

void add_places(Random& random, int nodes, const Options& reservations, Options& options) {
  if (chance(random, 8)) options.push_back("--nodelist=" + some_nodes(random, nodes, 2));
  if (chance(random, 8)) options.push_back("--exclude=" + some_nodes(random, nodes, 4));
  if (chance(random, 8)) options.push_back("--switches=1@0:05");
  if (chance(random, 6)) options.push_back("--exclusive");
  if (chance(random, 3)) options.push_back("--exclusive=user");
  if (chance(random, 3)) options.push_back("--contiguous");
  if (chance(random, 3)) options.push_back("--spread-job");
  if (chance(random, 3)) options.push_back("--use-min-nodes");
  if (chance(random, 3)) options.push_back("--gres-flags=enforce-binding");
  if (chance(random, 6)) options.push_back("--partition=high");
  if (chance(random, 4)) options.push_back("--partition=whole");
  if (!reservations.empty() && chance(random, 10))
    options.push_back("--reservation=" + reservations[static_cast<std::size_t>(
                                             random.below(static_cast<int>(reservations.size())))]);
}

void add_amounts(Random& random, Options& options) {
  if (chance(random, 10)) options.push_back("--cpus-per-gpu=2");
  if (chance(random, 10)) {
    options.push_back(with("--mem=", 50 + 50 * random.below(12)));
  } else if (chance(random, 8)) {
    options.push_back("--mem-per-gpu=60");
  }
}

void add_policy(Random& random, Options& options) {
  static const char* const shapes[] = {"pack", "spread", "block", "any"};
  static const char* const risks[] = {"low", "medium", "high"};
  if (chance(random, 40))
    options.push_back(std::string("--acrf-topology=") + shapes[random.below(4)]);
  if (chance(random, 15))
    options.push_back(std::string("--acrf-exclude-risk=") + risks[random.below(3)]);
  if (chance(random, 20)) {
    options.push_back("--acrf-policy=requeue");
  } else {
    options.push_back(chance(random, 60) ? "--requeue" : "--no-requeue");
  }
  if (chance(random, 50)) options.push_back("--time=1");  // can be backfilled
  if (chance(random, 4)) options.push_back("--hold");
  if (chance(random, 4)) options.push_back("--begin=now+2");
}

std::string random_script(Random& random) {
  const double seconds = random.below(20) / 10.0;
  const char* step = chance(random, 10) ? "srun --quiet " : "";
  return fmt::format("--wrap={}sleep {}", step, seconds);
}

}  // namespace

RandomJob random_job(Random& random, int nodes, const std::vector<std::string>& reservations) {
  RandomJob job;
  job.options = gpus_and_cpus(random);
  if (chance(random, 4)) {  // a heterogeneous job: its components each with a place of their own
    add(job.options, {":"});
    add(job.options, gpus_and_cpus(random));
    job.jobs = 2;
  } else if (chance(random, 8)) {
    job.jobs = 2 + random.below(4);
    job.options.push_back(with("--array=1-", job.jobs));
  }
  add_places(random, nodes, reservations, job.options);
  add_amounts(random, job.options);
  add_policy(random, job.options);
  add(job.options, {"--output=/dev/null", random_script(random)});
  return job;
}

}  // namespace acrf::minicluster
