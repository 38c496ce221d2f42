// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/bridge/policy_bridge.h"

#include <pwd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "common/checkpoint_resume.h"
#include "common/config_file.h"
#include "common/signal_name.h"
#include "common/topology_file.h"
#include "core/hostlist.h"
#include "core/job_array.h"
#include "core/requeue_budget.h"
#include "core/run_history.h"
#include "core/site_policy.h"
#include "core/text.h"

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

acrf::JobFacts facts_of(const acrf_job_t& job) {
  const auto text = [](const char* value) { return std::string_view(value ? value : ""); };
  acrf::JobFacts facts;
  facts.partition = text(job.partition);
  facts.account = text(job.account);
  facts.qos = text(job.qos);
  facts.uid = job.uid;
  facts.nodes = static_cast<int>(std::max<std::uint32_t>(job.nodes, 1));
  facts.gpus = static_cast<int>(std::min<std::int64_t>(acrf_job_gpus(&job), 10'000'000));
  facts.array_tasks = acrf::tasks_in_array(text(job.array));
  facts.time_limit_s = job.time_limit_s;
  facts.is_batch = job.is_batch != 0;
  facts.is_heterogeneous = job.is_het != 0;
  facts.refuses_requeue = job.refuses_requeue != 0;
  return facts;
}

std::optional<acrf::Workload> workload_in(const char* token) {
  const auto policy = acrf::find_policy(token ? token : "");
  return policy ? std::optional(policy->workload) : std::nullopt;
}

int answer(const acrf::Status& status, char* refusal, std::size_t size) {
  if (!status) copy_sentence(status.error().sentence, refusal, size);
  return status ? 0 : -1;
}

acrf::GivenOptions given_options(const char* const values[ACRF_OPTION_CNT]) {
  acrf::GivenOptions given;
  for (int i = 0; i < ACRF_OPTION_CNT; ++i)
    if (values[i]) given.emplace_back(acrf_option(i).name, values[i]);
  return given;
}

char* copy_text(std::string_view text) { return ::strndup(text.data(), text.size()); }

double cost_of(const acrf::JobPolicy& policy) {
  return policy.checkpoint_cost_s > 0 ? policy.checkpoint_cost_s : acrf::kAssumedCheckpointCost_s;
}

void fill_in(const acrf::Config& config, const acrf::JobFacts& job,
             const acrf::ResolvedPolicy& resolved, const acrf::FailureHistory& history,
             acrf_policy_t* to) {
  const auto& policy = resolved.policy;
  to->applies = resolved.applies;
  to->requeue = policy.comes_back();
  to->append_output = resolved.append_output;
  if (resolved.signal_before_end && config.checkpoint_signal_time_s > 0) {
    to->signal = acrf::signal_number(policy.checkpoint_signal.empty() ? config.checkpoint_signal
                                                                      : policy.checkpoint_signal);
    to->signal_time_s = config.checkpoint_signal_time_s;
  }
  if (const auto& interval = policy.checkpoint_interval)
    to->interval_s = interval->automatic
                         ? acrf::auto_interval_s(job.nodes, history, cost_of(policy))
                         : interval->seconds;
  to->counts_gpus = resolved.has_quota;
  to->policy = copy_text(name_of(policy.recovery));
  to->workload = copy_text(name_of(policy.workload));
  if (!policy.checkpoint_dir.empty()) to->checkpoint_dir = copy_text(policy.checkpoint_dir);
  if (policy.checkpoint_format != acrf::CheckpointFormat::kAuto)
    to->checkpoint_format = copy_text(name_of(policy.checkpoint_format));
  to->token = copy_text(to_token(policy));
}

std::optional<std::uint32_t> uid_of(const std::string& name) {
  std::vector<char> buffer(16384);
  passwd entry{}, *found = nullptr;
  if (::getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 || !found)
    return std::nullopt;
  return found->pw_uid;
}

// Users by name or number; one that nobody knows matches no job.
void look_up_users(acrf::PolicyRule& rule, std::string& problem) {
  for (const auto& name : rule.users) {
    if (const auto number = acrf::parse_unsigned(name)) {
      rule.uids.push_back(static_cast<std::uint32_t>(*number));
    } else if (const auto uid = uid_of(name)) {
      rule.uids.push_back(*uid);
    } else {
      problem += (problem.empty() ? "" : "; ") + ("Policy " + rule.name) + ": no user " + name;
    }
  }
}

acrf::RequeueBudget budget_of(const acrf::Config& config, const acrf::JobPolicy& policy) {
  return {{policy.max_requeues, config.max_node_requeues, config.max_preemptions,
           config.max_application_requeues},
          config.requeue_backoff_s};
}

// What fails for lack of memory is no reason to refuse anything.
template <typename Check>
int check(char* refusal, std::size_t size, Check body) {
  int code = 0;
  guarded(nullptr, 0, [&] {
    code = answer(body(), refusal, size);
    return 0;
  });
  return code;
}

}  // namespace

struct acrf_site {
  acrf::Config config;
  acrf::SitePolicy policy;
};

acrf_option_t acrf_option(int index) {
  static_assert(ACRF_OPTION_CNT == acrf::kPolicyOptionCount);
  const auto& option = acrf::policy_options()[static_cast<std::size_t>(index)];
  return {option.name.data(), option.argument.data(), option.help.data()};
}

int acrf_check_option(const char* name, const char* value, char* refusal, std::size_t size) {
  return guarded(refusal, size, [&] {
    acrf::JobPolicy scratch;
    const auto set = acrf::set_option(scratch, name, value ? value : "");
    if (!set) copy_sentence(set.error().sentence, refusal, size);
    return set ? 0 : -1;
  });
}

int acrf_policy_resolve(const acrf_site_t* site, const acrf_job_t* job,
                        const char* const values[ACRF_OPTION_CNT], acrf_policy_t* policy) {
  *policy = {};
  bool refused = false;
  guarded(nullptr, 0, [&] {
    const auto facts = facts_of(*job);
    const auto resolved = acrf::resolve_policy(site->policy, facts, given_options(values));
    if (!resolved) {
      refused = true;
      policy->refusal = copy_text(resolved.error().sentence);
      return -1;
    }
    fill_in(site->config, facts, *resolved, {job->failures, job->node_days}, policy);
    return 0;
  });
  // Without memory the job goes on as in plain Slurm.
  if (!refused && !policy->token) policy->applies = 0;
  return refused ? -1 : 0;
}

void acrf_policy_free(acrf_policy_t* policy) {
  for (char* text : {policy->policy, policy->workload, policy->checkpoint_dir,
                     policy->checkpoint_format, policy->token, policy->refusal})
    std::free(text);
  *policy = {};
}

std::int64_t acrf_job_gpus(const acrf_job_t* job) {
  const auto in = [](const char* tres) {
    return static_cast<std::int64_t>(tres ? acrf::gpus_in_request(tres) : 0);
  };
  std::int64_t gpus = 0;
  guarded(nullptr, 0, [&] {
    const auto nodes = std::max<std::int64_t>(job->nodes, 1);
    const auto tasks = std::max<std::int64_t>(job->tasks, nodes);
    gpus = std::max(
        {in(job->tres_per_job), in(job->tres_per_node) * nodes, in(job->tres_per_task) * tasks});
    return 0;
  });
  return gpus;
}

int acrf_check_quota(const acrf_site_t* site, const acrf_job_t* job, const char* token,
                     std::int64_t gpus_of_user, std::int64_t gpus_of_account, char* refusal,
                     std::size_t size) {
  return check(refusal, size, [&] {
    return acrf::check_quota(site->policy, facts_of(*job), workload_in(token), gpus_of_user,
                             gpus_of_account);
  });
}

int acrf_check_change(const acrf_site_t* site, const acrf_job_t* before, const acrf_job_t* after,
                      const char* token, int keeps_requeue, char* refusal, std::size_t size) {
  return check(refusal, size, [&] {
    return acrf::check_change(site->policy, facts_of(*before), facts_of(*after), workload_in(token),
                              keeps_requeue != 0);
  });
}

int acrf_requeue_count(const acrf_site_t* site, const char* comment, std::uint32_t restart,
                       acrf_cause_t cause, int status, const acrf_run_t* run,
                       acrf_requeue_t* requeue) {
  *requeue = {};
  return guarded(nullptr, 0, [&] {
    const std::string text = comment ? comment : "";
    auto count = acrf::find_requeue_count(text);
    if (static_cast<std::uint32_t>(count.seen) >= restart) return 0;
    std::optional<acrf::ProgramFailure> failure;
    if (cause == ACRF_APPLICATION && run->node) failure = acrf::ProgramFailure{status, run->node};
    const auto policy = acrf::find_policy(text).value_or(acrf::JobPolicy{});
    const auto verdict = acrf::count_requeue(count, static_cast<int>(restart),
                                             static_cast<acrf::RequeueCause>(cause),
                                             budget_of(site->config, policy), failure);
    // In observe mode requeues are counted and nothing is done about it.
    if (site->config.mode == acrf::Mode::kEnforce) {
      requeue->hold = verdict.step == acrf::RequeueStep::kHold;
      requeue->wait_s = verdict.wait_s;
    }
    requeue->reason = copy_text(verdict.reason);
    const acrf::PastRun past{run->started, run->ended, static_cast<acrf::RequeueCause>(cause),
                             run->node ? run->node : ""};
    requeue->comment =
        copy_text(acrf::with_run(acrf::with_requeue_count(text, count), run->submitted, past));
    return 1;
  });
}

void acrf_requeue_free(acrf_requeue_t* requeue) {
  std::free(requeue->reason);
  std::free(requeue->comment);
  *requeue = {};
}

int acrf_may_retry(const acrf_site_t* site, const char* comment, int status) {
  return guarded(nullptr, 0, [&] {
           const auto policy = acrf::find_policy(comment ? comment : "");
           if (!policy || !policy->comes_back()) return 0;
           const auto count = acrf::find_requeue_count(comment);
           return acrf::may_retry(count, budget_of(site->config, *policy), status) ? 1 : 0;
         }) > 0;
}

acrf_site_t* acrf_site_load(const char* slurm_conf_path, const char* kept_path, char* problem,
                            std::size_t size) {
  acrf_site_t* loaded = nullptr;
  guarded(problem, size, [&] {
    std::string path = slurm_conf_path ? slurm_conf_path : "";
    const auto slash = path.rfind('/');
    path = slash == std::string::npos ? acrf::default_config_path()
                                      : path.substr(0, slash) + "/acrf.conf";
    const auto read = acrf::load_config_or_kept(path, kept_path ? kept_path : "", true);
    if (!read) {
      copy_sentence(read.error().sentence, problem, size);
      return -1;
    }
    const auto& config = read->config;
    auto site = std::make_unique<acrf_site>();
    site->config = config;
    site->policy = {config.policies, config.max_requeues};
    std::string unknown;
    for (auto& rule : site->policy.rules) look_up_users(rule, unknown);
    copy_sentence(read->problem.empty()
                      ? unknown
                      : read->problem + "; going on with the settings as they were",
                  problem, size);
    loaded = site.release();
    return 0;
  });
  return loaded;
}

acrf_site_t* acrf_site_default(void) {
  acrf_site_t* site = nullptr;
  guarded(nullptr, 0, [&] {
    site = new acrf_site{};
    return 0;
  });
  return site;
}

void acrf_site_free(acrf_site_t* site) { delete site; }
int acrf_site_kill_wait_s(const acrf_site_t* site) { return site->config.requeue_kill_wait_s; }
int acrf_site_requeues_per_minute(const acrf_site_t* site) {
  return site->config.requeues_per_minute;
}
int acrf_site_suspect_time_s(const acrf_site_t* site) { return site->config.suspect_time_s; }
int acrf_site_suspects_per_user(const acrf_site_t* site) { return site->config.suspects_per_user; }
int acrf_site_enforces(const acrf_site_t* site) {
  return site->config.mode == acrf::Mode::kEnforce;
}
int acrf_site_retries(const acrf_site_t* site) {
  return acrf_site_enforces(site) && site->config.max_application_requeues > 0;
}

int acrf_newest_checkpoint(const char* dir, const char* format, std::uint32_t job_id,
                           std::uint32_t restart, char* path, std::size_t size) {
  return guarded(nullptr, 0, [&] {
    const auto known = acrf::parse_checkpoint_format(format ? format : "auto");
    const auto newest = acrf::resume_checkpoint(dir, known ? *known : acrf::CheckpointFormat::kAuto,
                                                job_id, restart);
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
