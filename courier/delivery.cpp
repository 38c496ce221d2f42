// SPDX-License-Identifier: GPL-2.0-or-later
#include "delivery.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <filesystem>

#include "common/arguments.h"
#include "common/directory_lock.h"
#include "common/file.h"
#include "common/notify_message.h"
#include "common/notify_spool.h"
#include "common/secret_file.h"
#include "common/unique_fd.h"
#include "core/node_verdict.h"

namespace acrf {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kLongestAnswer = 200;

std::int64_t unix_s_now() { return ::time(nullptr); }

// Answers that mean "not this message": it is malformed or too large. A wrong key or path may be
// mended while the message waits.
bool refuses_message(int status) { return status == 400 || status == 413 || status == 422; }

Status deliver_by_http(const NotifyRule& rule, const Notice& notice, milliseconds timeout) {
  std::string key;
  if (!rule.key_file.empty()) {
    const auto secret = read_secret(rule.key_file);
    if (!secret) return Error{ErrorCode::kUnavailable, secret.error().sentence};
    key = *secret;
  }
  const auto request = to_request(rule, notice, key, unix_s_now());
  if (!request) return Error{ErrorCode::kUnavailable, request.error().sentence};
  const auto reply = ask_http(*request, timeout);
  if (!reply) return Error{ErrorCode::kUnavailable, reply.error().sentence};
  if (reply->status >= 200 && reply->status < 300) return Done{};
  const auto said = printable_line(reply->body, kLongestAnswer);
  return Error{refuses_message(reply->status) ? ErrorCode::kInvalid : ErrorCode::kUnavailable,
               "HTTP " + std::to_string(reply->status) + (said.empty() ? "" : ": " + said)};
}

// The mail as a file that is already gone: sendmail reads it at its own pace.
Result<UniqueFd> mail_file(const std::string& mail) {
  UniqueFd fd(::open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!fd) fd.reset(static_cast<int>(::syscall(SYS_memfd_create, "mail", 1u /* MFD_CLOEXEC */)));
  if (!fd) return system_error("make a file for mail");
  if (::write(fd.get(), mail.data(), mail.size()) != static_cast<ssize_t>(mail.size()) ||
      ::lseek(fd.get(), 0, SEEK_SET) != 0)
    return system_error("write mail");
  return fd;
}

// No shell: the program, its options, and addresses after "--".
Result<pid_t> start_sendmail(const NotifyRule& rule, int mail) {
  std::vector<std::string> words = {rule.program, "-i", "--"};
  words.insert(words.end(), rule.to.begin(), rule.to.end());
  const auto arguments = pointers_to(words);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, mail, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  pid_t pid = -1;
  errno = ::posix_spawn(&pid, rule.program.c_str(), &actions, nullptr, arguments.data(), environ);
  const int code = errno;
  posix_spawn_file_actions_destroy(&actions);
  errno = code;
  if (code != 0) return system_error("start " + rule.program);
  return pid;
}

Status wait_for(pid_t pid, const std::string& program, milliseconds timeout) {
  const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  pollfd ended{process.get(), POLLIN, 0};
  const bool in_time = ::poll(&ended, 1, static_cast<int>(timeout.count())) == 1;
  if (!in_time) ::kill(pid, SIGKILL);
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (!in_time) return Error{ErrorCode::kUnavailable, program + " did not end in time"};
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return Error{ErrorCode::kUnavailable,
                 program + " failed with status " + std::to_string(WEXITSTATUS(status))};
  return Done{};
}

Status deliver_by_mail(const NotifyRule& rule, const Notice& notice, milliseconds timeout) {
  const auto mail = mail_file(to_mail(rule, notice, unix_s_now()));
  if (!mail) return mail.error();
  const auto pid = start_sendmail(rule, mail->get());
  if (!pid) return pid.error();
  return wait_for(*pid, rule.program, timeout);
}

}  // namespace

Status deliver(const NotifyRule& rule, const Notice& notice, milliseconds timeout) {
  return rule.type == NotifyType::kEmail ? deliver_by_mail(rule, notice, timeout)
                                         : deliver_by_http(rule, notice, timeout);
}

Status deliver_waiting(const std::string& spool, const NotifyRule& rule, milliseconds timeout,
                       std::int64_t now_unix_ms,
                       const std::function<void(const Delivery&)>& report) {
  // A courier of a daemon that was killed may still be at it.
  const auto lock = DirectoryLock::take(spool + "/" + rule.name, milliseconds(0));
  if (!lock) return lock.error();
  for (const auto& [path, notice] : waiting_notices(spool, rule.name)) {
    const bool old = now_unix_ms - notice.unix_ms > kLongestWait_ms;
    const Status done = old ? Status(Error{ErrorCode::kInvalid, "it waited for a day"})
                            : deliver(rule, notice, timeout);
    if (!done && done.error().code != ErrorCode::kInvalid) return done;
    std::error_code error;
    std::filesystem::remove(path, error);
    report({notice, done.ok(), done ? "" : done.error().sentence});
  }
  return Done{};
}

}  // namespace acrf
