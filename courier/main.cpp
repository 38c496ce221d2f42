// SPDX-License-Identifier: GPL-2.0-or-later
// acrf-courier: makes HTTP requests and sends mail for acrf-healthd and acrf, which start it. It is
// a program of its own so that nobody else waits for an endpoint or loads libcurl.
#include <signal.h>
#include <sys/prctl.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "acrf_config.h"
#include "advice.h"
#include "common/config_file.h"
#include "delivery.h"
#include "fetch.h"
#include "report.h"

namespace acrf {
namespace {

constexpr std::chrono::seconds kTimeout{15};
// A pass over a long queue ends some time; the daemon starts another.
constexpr unsigned kLongestPass_s = 300;

struct Options {
  std::string config_path;
  std::string receiver;
  std::string spool;
  std::string node;
  bool test = false;
  bool advice_worker = false;
  bool fetch = false;
  AdviceSettings advice;
  ReportSettings report;
};

std::int64_t unix_ms_now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Result<NotifyRule> find_rule(const Options& options) {
  const auto config = load_named_config(options.config_path);
  if (!config) return config.error();
  for (const auto& rule : config->notifies)
    if (rule.name == options.receiver) return rule;
  return Error{ErrorCode::kNotFound, "acrf.conf has no Notify=" + options.receiver};
}

int send_test(const NotifyRule& rule, const std::string& node) {
  Notice notice;
  notice.node = node;
  notice.state = "test";
  notice.fault_class = "test";
  notice.severity = rule.severity;
  notice.action = "watch";
  notice.result = "this is a test, nothing has happened";
  notice.unix_ms = notice.opened_unix_ms = unix_ms_now();
  // An alert that would stay open is closed with it.
  notice.resolved = keeps_alerts(*rule.type) && rule.type == NotifyType::kAlertmanager;
  const auto sent = deliver(rule, notice, kTimeout);
  if (sent) {
    std::cout << "Notify=" << rule.name << ": sent, id " << id_of(notice) << std::endl;
    return 0;
  }
  std::cerr << "acrf: Notify=" << rule.name << ": " << sent.error().sentence << std::endl;
  return 1;
}

// One JSON object a line for the daemon: what became of each message, then why the rest waits.
int send_waiting(const NotifyRule& rule, const std::string& spool) {
  ::alarm(kLongestPass_s);
  const auto say = [](const nlohmann::json& object) {
    std::cout << object.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) << std::endl;
  };
  const auto done = deliver_waiting(spool, rule, kTimeout, unix_ms_now(), [&](const Delivery& one) {
    say({{"id", id_of(one.notice)},
         {"incident", one.notice.incident},
         {"sent", one.sent},
         {"sentence", one.sentence}});
  });
  if (!done) say({{"waiting", done.error().sentence}});
  return done ? 0 : 1;
}

int run(const Options& options) {
  if (options.fetch) return run_fetch();
  if (options.advice_worker) return run_advice_worker(options.advice);
  if (!options.report.url.empty()) {
    auto report = options.report;
    report.node = options.node;
    return run_report_worker(report);
  }
  const auto rule = find_rule(options);
  if (!rule) {
    std::cerr << "acrf: " << rule.error().sentence << std::endl;
    return 1;
  }
  return options.test ? send_test(*rule, options.node) : send_waiting(*rule, options.spool);
}

}  // namespace
}  // namespace acrf

int main(int argc, char** argv) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGCHLD, SIG_DFL);  // the daemon's children inherit that it ignores theirs
  acrf::Options options;
  CLI::App app("Sends acrf-healthd's messages; not for people to call.", "acrf-courier");
  app.add_option("-f,--config", options.config_path, "acrf.conf to use");
  app.add_option("--to", options.receiver, "the Notify line's name");
  app.add_option("--spool", options.spool, "send what waits in this spool");
  app.add_option("--node", options.node, "this node's name");
  app.add_flag("--test", options.test, "send a test message");
  app.add_flag("--fetch", options.fetch)->group("");
  app.add_flag("--advice-worker", options.advice_worker)->group("");
  app.add_option("--advice-url", options.advice.url)->group("");
  app.add_option("--advice-api", options.advice.api)->group("");
  app.add_option("--advice-model", options.advice.model)->group("");
  app.add_option("--advice-key-file", options.advice.key_file)->group("");
  app.add_option("--report", options.report.url)->group("");
  app.add_option("--munge-socket", options.report.munge_socket)->group("");
  app.set_version_flag("-V,--version", std::string("acrf-courier ") + ACRF_VERSION);
  CLI11_PARSE(app, argc, argv);
  return acrf::run(options);
}
