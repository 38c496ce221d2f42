// SPDX-License-Identifier: GPL-2.0-or-later
// What ranks write about their progress, and what comes of it. A rank's file has the last steps it
// did, "STEP MILLISECONDS" a line, after a first line with its node; times are the nodes' own,
// which a cluster keeps together. A job that hangs or is held up says so by a word in its comment,
// "acrf-progress:hang,step=120,nodes=n3".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/fence.h"
#include "core/hostlist.h"
#include "core/progress.h"

namespace acrf {

struct Heartbeat {
  std::int64_t step = 0;
  std::int64_t unix_ms = 0;
  bool operator==(const Heartbeat&) const = default;
};

struct RankReport {
  int rank = 0;
  std::string node;
  std::vector<Heartbeat> beats;  // oldest first; only the last ones are kept
};

// Of all ranks of one step.
struct StepReports {
  Fence fence;
  std::vector<RankReport> ranks;
};

// Lines that make no sense are left out: the file may be half written.
RankReport parse_rank_report(int rank, std::string_view text);
std::string format_rank_report(const RankReport& report);
// A step that is not beyond the last one begins anew: the job went back to a checkpoint.
void add_beat(RankReport& report, const Heartbeat& beat);

// All steps of all ranks into the watch, in the order of their times.
void note_reports(ProgressWatch& watch, const std::vector<RankReport>& reports);

// The watch over a job that may fail over. The step that begins then goes back to a checkpoint, on
// other nodes, and may be quicker or slower: what was known of the one before says nothing of it.
class FailoverWatch {
 public:
  explicit FailoverWatch(const ProgressRules& rules) : rules_(rules), watch_(rules) {}

  ProgressVerdict judge(const StepReports& step, double now_s);

 private:
  ProgressRules rules_;
  Fence fence_;
  ProgressWatch watch_;
};

struct ProgressWord {
  bool hangs = false;  // else it is held up by stragglers
  std::int64_t step = 0;
  std::vector<std::string> nodes;  // suspects, sorted
  bool operator==(const ProgressWord&) const = default;
};

// Nothing while the job goes on as it should, or when no rank stands out.
std::optional<ProgressWord> word_for(const ProgressVerdict& verdict,
                                     const std::vector<RankReport>& reports);

// The comment with the word in it, in place of an older one; without one the word goes.
std::string with_progress(std::string_view comment, const std::optional<ProgressWord>& word);
// Nothing, too, when it names more nodes than `most`.
std::optional<ProgressWord> find_progress(std::string_view comment, std::size_t most = kMostHosts);

}  // namespace acrf
