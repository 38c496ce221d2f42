// SPDX-License-Identifier: GPL-2.0-or-later
#include "actions/newest_checkpoint.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "common/checkpoint_dir.h"
#include "core/text.h"

namespace acrf {
namespace {

bool become(uid_t user) {
  if (user == ::geteuid()) return true;
  const passwd* entry = ::getpwuid(user);
  if (!entry) return false;
  return ::initgroups(entry->pw_name, entry->pw_gid) == 0 && ::setgid(entry->pw_gid) == 0 &&
         ::setuid(user) == 0;
}

}  // namespace

std::vector<std::string> newest_checkpoint_command(std::uint32_t user, CheckpointFormat format,
                                                   const std::string& directory) {
  return {"/proc/self/exe", "--newest-checkpoint", std::to_string(user),
          std::string(name_of(format)), directory};
}

int run_newest_checkpoint(const std::vector<std::string>& arguments) {
  const auto user = parse_unsigned(arguments[0]);
  const auto format = parse_checkpoint_format(arguments[1]);
  if (!user || !format || !become(static_cast<uid_t>(*user))) return EXIT_FAILURE;
  const auto newest = newest_checkpoint(arguments[2], *format);
  if (newest) std::printf("%s\n", newest->c_str());
  return EXIT_SUCCESS;
}

}  // namespace acrf
