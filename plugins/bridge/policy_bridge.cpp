// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/bridge/policy_bridge.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "common/checkpoint_dir.h"
#include "common/config_file.h"
#include "common/topology_file.h"
#include "core/hostlist.h"
#include "core/policy.h"

namespace {

void copy_sentence(const std::string& sentence, char* to, std::size_t size) {
  if (to && size) std::snprintf(to, size, "%s", sentence.c_str());
}

// The one guard: what a library throws (no memory) ends here as -1 with a sentence.
template <typename Body>
int guarded(char* problem, std::size_t size, Body body) noexcept {
  try {
    return body();
  } catch (const std::exception& thrown) {
    if (problem && size) std::snprintf(problem, size, "ACRF: %s", thrown.what());
  } catch (...) {
    if (problem && size) std::snprintf(problem, size, "ACRF: unknown error");
  }
  return -1;
}

acrf::Result<acrf::JobPolicy> resolve(const acrf_policy_request_t& request) {
  acrf::JobPolicy policy;
  policy.max_requeues = request.site_max_requeues;
  for (int i = 0; i < ACRF_OPTION_CNT; ++i) {
    if (!request.values[i]) continue;
    const auto set = acrf::set_option(policy, acrf_option_names[i], request.values[i]);
    if (!set) return set.error();
  }
  const acrf::SubmittedJob job = {request.is_batch != 0, request.is_het != 0,
                                  request.refuses_requeue != 0, request.site_max_requeues};
  if (const auto checked = acrf::check_policy(policy, job); !checked) return checked.error();
  return policy;
}

}  // namespace

const char* const acrf_option_names[ACRF_OPTION_CNT] = {"policy", "checkpoint-dir", "max-requeues",
                                                        "topology", "exclude-risk"};

int acrf_check_option(const char* name, const char* value, char* refusal, std::size_t size) {
  return guarded(refusal, size, [&] {
    acrf::JobPolicy scratch;
    const auto set = acrf::set_option(scratch, name, value ? value : "");
    if (!set) copy_sentence(set.error().sentence, refusal, size);
    return set ? 0 : -1;
  });
}

int acrf_policy_resolve(const acrf_policy_request_t* request, acrf_policy_t* policy) {
  *policy = {};
  char problem[256] = "";
  const int code = guarded(problem, sizeof problem, [&] {
    const auto resolved = resolve(*request);
    if (!resolved) {
      policy->refusal = ::strdup(resolved.error().sentence.c_str());
      return -1;
    }
    policy->requeue = resolved->recovery == acrf::RecoveryPolicy::kRequeue;
    policy->policy = ::strdup(std::string(name_of(resolved->recovery)).c_str());
    if (!resolved->checkpoint_dir.empty())
      policy->checkpoint_dir = ::strdup(resolved->checkpoint_dir.c_str());
    policy->token = ::strdup(to_token(*resolved).c_str());
    return 0;
  });
  if (code != 0 && !policy->refusal) policy->refusal = ::strdup(problem);
  return code;
}

void acrf_policy_free(acrf_policy_t* policy) {
  for (char* text : {policy->policy, policy->checkpoint_dir, policy->token, policy->refusal})
    std::free(text);
  *policy = {};
}

int acrf_site_load(const char* slurm_conf_path, acrf_site_t* site, char* problem,
                   std::size_t size) {
  const acrf::Config defaults;
  *site = {defaults.requeue_kill_wait_s, defaults.max_requeues};
  return guarded(problem, size, [&] {
    std::string path = slurm_conf_path ? slurm_conf_path : "";
    const auto slash = path.rfind('/');
    path = slash == std::string::npos ? acrf::default_config_path()
                                      : path.substr(0, slash) + "/acrf.conf";
    const auto config = acrf::load_config(path, false);
    if (!config) {
      copy_sentence(config.error().sentence, problem, size);
      return -1;
    }
    *site = {config->requeue_kill_wait_s, config->max_requeues};
    return 0;
  });
}

int acrf_newest_checkpoint(const char* dir, char* path, std::size_t size) {
  return guarded(nullptr, 0, [&] {
    const auto newest = acrf::newest_checkpoint(dir);
    if (!newest || newest->size() >= size) return -1;
    copy_sentence(*newest, path, size);
    return 0;
  });
}

int acrf_rank_order(const char* nodes, char* order, std::size_t size) {
  return guarded(nullptr, 0, [&] {
    const auto config = acrf::default_config_path();
    const auto names = acrf::expand_hostlist(nodes);
    if (!names || names->size() < 2) return -1;
    const auto ordered = acrf::order_for_ring(config.substr(0, config.rfind('/')), *names);
    if (!ordered) return -1;
    const auto text = acrf::compress_hostlist(*ordered);
    if (text.size() >= size) return -1;
    copy_sentence(text, order, size);
    return 0;
  });
}
