// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/file_system_rule.h"

#include <algorithm>

#include "core/text.h"

namespace acrf {
namespace {

constexpr int kFullPercent = 98;

}  // namespace

bool is_shared_file_system(std::string_view type) {
  constexpr std::string_view kShared[] = {"nfs",  "lustre",    "gpfs", "beegfs", "ceph",
                                          "cifs", "glusterfs", "smb",  "wekafs", "panfs",
                                          "afs",  "fuse",      "9p",   "pvfs2",  "orangefs"};
  return std::any_of(std::begin(kShared), std::end(kShared),
                     [&](std::string_view shared) { return starts_with(type, shared); });
}

// An unknown kind may be shared: not acted on. Nor is what was never otherwise: the site has it so.
Verdict FileSystemRule::judge(const char* fault_class, bool has_changed) const {
  if (!has_changed || type_.empty() || is_shared_file_system(type_))
    return {fault_class, Severity::kWarning, Scope::kFabric, Action::kWatch};
  return {fault_class, Severity::kCritical, Scope::kNode, Action::kDrain, true};
}

std::vector<Finding> FileSystemRule::observe(const FileSystemReading& reading) {
  if (!reading.type.empty()) type_ = reading.type;
  hung_.observe(reading.hung);
  if (reading.mounted) unmounted_.observe(!*reading.mounted);
  was_writable_ = was_writable_ || reading.writable.value_or(false);
  if (reading.writable) read_only_.observe(!*reading.writable);
  const int used =
      std::max(reading.used_percent.value_or(-1), reading.used_inodes_percent.value_or(-1));
  if (used >= 0) full_.observe(used >= kFullPercent);

  std::vector<Finding> findings;
  if (hung_.holds()) findings.push_back({judge("fs_hung"), path_, "stat does not return"});
  if (unmounted_.holds()) findings.push_back({judge("fs_not_mounted"), path_, "not mounted"});
  if (read_only_.holds())
    findings.push_back({judge("fs_read_only", was_writable_), path_, "not writable"});
  if (full_.holds())  // users fill it and users can empty it
    findings.push_back({{"fs_full", Severity::kWarning, Scope::kNode, Action::kWatch},
                        path_,
                        "at least " + std::to_string(kFullPercent) + " % used"});
  return findings;
}

}  // namespace acrf
