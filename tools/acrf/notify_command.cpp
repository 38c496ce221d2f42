// SPDX-License-Identifier: GPL-2.0-or-later
// acrf notify test NAME: sends a test message to the receiver of a Notify line.
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "commands.h"
#include "common/arguments.h"
#include "common/courier_path.h"
#include "common/file.h"
#include "common/host_name.h"

namespace acrf {
namespace {

// acrf-courier says how it went, and its status is ours.
void send_test(CommandLine& line, const std::string& receiver) {
  if (::geteuid() != 0)
    return fail(line, {ErrorCode::kDenied,
                       "only root may send notifications: their keys are "
                       "root's"});
  std::vector<std::string> words = {courier_path(), "--test", "--to",
                                    receiver,       "--node", short_host_name()};
  if (!line.config_path.empty()) words.insert(words.end(), {"--config", line.config_path});
  std::fflush(nullptr);
  const auto arguments = pointers_to(words);
  ::execv(arguments[0], arguments.data());
  fail(line, system_error("start " + words[0]));
}

}  // namespace

void add_notify_command(CommandLine& line) {
  auto* notify = line.app.add_subcommand("notify", "who is told of incidents");
  notify->require_subcommand(1);
  notify->fallthrough();
  auto* test = notify->add_subcommand("test", "send a test message and say how it went");
  const auto receiver = std::make_shared<std::string>();
  test->add_option("NAME", *receiver, "of the Notify line")->required();
  test->callback([&line, receiver] { send_test(line, *receiver); });
}

}  // namespace acrf
