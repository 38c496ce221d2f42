// SPDX-License-Identifier: GPL-2.0-or-later
// One frame of acrf top as lines of text: the status, then a page of nodes or jobs, the worst
// first.
#pragma once

#include <string>
#include <vector>

#include "cluster_status.h"
#include "cluster_view.h"

namespace acrf {

enum class TopPage { kNodes, kJobs };

struct TopData {
  StatusFacts facts;
  StatusJudgement judgement;
  std::vector<NodeShown> nodes;  // of the page that is shown
  std::vector<JobShown> jobs;
  std::string problem;  // why this is not new; empty: it is
  std::string time;     // when it was new
};

struct TopFrame {
  TopPage page = TopPage::kNodes;
  std::size_t first = 0;                 // row at the top
  std::size_t lines = 24, columns = 80;  // no more are used
  bool colours = false;
  bool keys = false;  // somebody can press them
};

// The worst first, otherwise as they came; running jobs before those that wait.
void sort_for_top(TopData& data);

// Lines without their ends, cut to the width. `frame.first` is brought into what there is.
std::vector<std::string> top_lines(const TopData& data, TopFrame& frame);

// How many rows of the page fit below the status.
std::size_t rows_that_fit(const TopData& data, const TopFrame& frame);

}  // namespace acrf
