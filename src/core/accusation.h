// SPDX-License-Identifier: GPL-2.0-or-later
// What a running job says of its own nodes by the word of core/progress_report.h, and how far it is
// believed. The word is a user's, and any user can write it. So it is heard only from a job with
// nodes enough to compare, about few of them, once for each node in a time; all that comes of it is
// that other jobs take the node last, for that time; and a user has few such nodes at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/node_health.h"
#include "core/progress_report.h"

namespace acrf {

// One that was heard, as the job's admin comment keeps it:
// "acrf-verdicts:1763364000-slow-n3,1763364100-hang-n5".
struct PastAccusation {
  std::int64_t unix_s = 0;
  bool hangs = false;  // else it was slower than its peers
  std::string node;
  bool operator==(const PastAccusation&) const = default;
};

struct AccusingJob {
  int nodes = 0;
  std::string_view comment;        // its user's
  std::string_view admin_comment;  // ours
};

// What is new in the job's comment: nodes it has not accused of the same within `again_s`.
std::optional<ProgressWord> new_accusation(const AccusingJob& job, std::int64_t now_unix_s,
                                           int again_s);

// The admin comment with them in it, of which the last ones are kept.
std::string with_accusation(std::string_view admin_comment, const ProgressWord& accusation,
                            std::int64_t now_unix_s);
std::vector<PastAccusation> find_accusations(std::string_view admin_comment);

// The mark of an accused node.
HealthMark accused_mark(std::int64_t until_unix_s, bool hangs, std::uint32_t user);
bool is_accused_by(const NodeToken& token, std::uint32_t user);

}  // namespace acrf
